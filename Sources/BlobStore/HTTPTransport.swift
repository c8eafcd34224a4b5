import AsyncHTTPClient
import Dispatch
import NIOCore
import NIOPosix

/// Sends one HTTP request and returns its answer: all that is known here of AsyncHTTPClient's life.
final class HTTPTransport: Sendable {
    /// The longest time of an exchange: a part of 5 GiB at ``RateFloor`` would take a day, ours minutes.
    static let exchangeMax = TimeAmount.hours(1)

    private let client: HTTPClient

    init(_ configuration: HTTPClient.Configuration) {
        client = HTTPClient(
            eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    }

    deinit {
        // A client that was not shut down traps in its own deinit.
        client.shutdown(queue: .global()) { _ in
            // Fails only for one that was shut down before.
        }
    }

    /// Sends a request and returns once the answer's head is here; its body is read by the caller.
    func send(_ request: HTTPClientRequest) async throws(TransportFailure) -> HTTPClientResponse {
        do {
            return try await client.execute(request, deadline: .now() + Self.exchangeMax)
        } catch {
            throw TransportFailure(error)
        }
    }

    /// Ends all connections; requests to come fail.
    func close() async {
        // Fails only for one that was closed before, which is what is wanted.
        try? await client.shutdown()
    }
}
