import AsyncHTTPClient
import Dispatch
import NIOCore
import NIOPosix

/// Sends one HTTP request and returns its answer. Only this class manages an AsyncHTTPClient.
final class HTTPTransport: Sendable {
    /// The longest time of an exchange. A part of 5 GiB at ``RateFloor`` would take a day;
    /// Minilab's parts take minutes.
    static let exchangeMax = TimeAmount.hours(1)

    private let client: HTTPClient

    init(_ configuration: HTTPClient.Configuration) {
        var configuration = configuration
        // Its spans would have whole URLs, signatures included, and the store would be sent our position in a trace.
        configuration.tracing.tracer = nil
        client = HTTPClient(
            eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    }

    deinit {
        // AsyncHTTPClient traps in its own deinit if it was not shut down.
        client.shutdown(queue: .global()) { _ in
            // Fails only if the client was already shut down.
        }
    }

    /// Sends a request and returns after the head of the answer has arrived. The caller reads the
    /// body.
    func send(_ request: HTTPClientRequest) async throws(TransportFailure) -> HTTPClientResponse {
        do {
            return try await client.execute(request, deadline: .now() + Self.exchangeMax)
        } catch {
            throw TransportFailure(error)
        }
    }

    /// Closes all connections. Later requests fail.
    func close() async {
        // Fails only if the client was already closed, which is the desired state.
        try? await client.shutdown()
    }
}
