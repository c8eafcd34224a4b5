import AsyncHTTPClient
import Dispatch
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

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

extension HTTPClientResponse {
    /// Passes on the pieces of the body as they arrive, and fails if they arrive more slowly than
    /// ``RateFloor``.
    func drain(
        _ receive: (ByteBuffer) async throws(AttemptFailure) -> Void
    ) async throws(AttemptFailure) {
        var floor = RateFloor()
        var pieces = body.makeAsyncIterator()
        while true {
            let asked = ContinuousClock.now
            let piece: ByteBuffer?
            do { piece = try await pieces.next() } catch {
                throw .transport(TransportFailure(error))
            }
            guard let piece else { return }
            if floor.isBroken(byPieceOf: piece.readableBytes, after: ContinuousClock.now - asked) {
                throw .transport(TransportFailure(.silent, "less than 64 KiB a second"))
            }
            try await receive(piece)
        }
    }

    func bytes(atMost limit: Int) async throws(TransportFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        do throws(AttemptFailure) {
            try await drain { piece throws(AttemptFailure) in
                guard bytes.count + piece.readableBytes <= limit else {
                    throw .transport(TransportFailure(.malformed, "more than \(limit) bytes"))
                }
                bytes.append(contentsOf: piece.readableBytesView)
            }
        } catch {
            // The calls above throw nothing else.
            guard case .transport(let failure) = error else { preconditionFailure("\(error)") }
            throw failure
        }
        return bytes
    }
}

/// The slowest acceptable transfer rate. A slower body counts as lost.
struct RateFloor: Sendable {
    /// The time over which bytes are counted.
    static let window = Duration.seconds(10)
    /// The fewest bytes in that time: 64 KiB a second.
    static let windowBytesMin = 640 << 10

    private var waited = Duration.zero
    private var bytes = 0

    /// Counts a piece and returns whether the transfer is too slow.
    ///
    /// - Parameter time: The time spent waiting for the piece, without the time that the reader
    ///   needed for the previous piece.
    mutating func isBroken(byPieceOf count: Int, after time: Duration) -> Bool {
        waited += time
        bytes += count
        guard waited >= Self.window else { return false }
        defer { (waited, bytes) = (.zero, 0) }
        return bytes < Self.windowBytesMin
    }
}

/// The clock, the waits and the random numbers of a client. Tests replace them.
struct ClientRuntime: Sendable {
    var now: @Sendable () -> BlobTime
    /// Waits. Throws if the task is cancelled.
    var sleep: @Sendable (Duration) async throws -> Void
    /// A number from 0 up to 1, evenly distributed.
    var random: @Sendable () -> Double

    static let real = ClientRuntime(
        now: { BlobTime(seconds: Int(Date().timeIntervalSince1970)) },
        sleep: { try await Task.sleep(for: $0) },
        random: { .random(in: 0..<1) })
}
