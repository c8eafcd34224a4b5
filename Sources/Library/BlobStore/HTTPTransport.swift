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

/// The reason why an exchange had no complete answer.
struct TransportFailure: Error, Sendable {
    enum Kind: Sendable, Hashable {
        /// No connection was made, so nothing was sent.
        case notConnected
        /// The server's certificate or its TLS was rejected; nothing was sent.
        case tls
        /// The connection ended after something was sent.
        case lost
        /// The server was silent for too long, or slower than ``RateFloor``.
        case silent
        /// The answer is not HTTP, or longer than its limit.
        case malformed
        case cancelled
    }

    let kind: Kind
    /// The library's own message. The library sees no headers, so the message contains no secret.
    let reason: String
    /// The caller's own error, if its source failed during a request.
    let local: (any Error)?

    /// Whether the store may have executed the request.
    var mayHaveExecuted: Bool {
        switch kind {
        case .notConnected, .tls: false
        case .lost, .silent, .malformed, .cancelled: true
        }
    }

    init(_ kind: Kind, _ reason: String, local: (any Error)? = nil) {
        self.kind = kind
        self.reason = reason
        self.local = local
    }

    /// Classifies an error of AsyncHTTPClient or NIO.
    init(_ error: any Error) {
        let kind: Kind
        var reason = "\(error)"
        switch error {
        case is CancellationError: kind = .cancelled
        case let error as LocalFailure:
            self.init(.lost, "our own side failed", local: error.underlying)
            return
        case let error as HTTPClientError:
            reason = error.shortDescription
            kind =
                switch error {
                case .cancelled where Task.isCancelled: .cancelled
                case .connectTimeout, .getConnectionFromPoolTimeout, .invalidURL, .emptyHost,
                    .alreadyShutdown:
                    .notConnected
                case .tlsHandshakeTimeout: .notConnected
                case .readTimeout, .writeTimeout, .deadlineExceeded: .silent
                default: .lost
                }
        case let error as NIOConnectionError:
            kind = .notConnected
            reason = error.connectionErrors.first.map { "\($0.error)" } ?? reason
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: kind = .tls
        case is NIOTooManyBytesError: kind = .malformed
        case ChannelError.connectTimeout: kind = .notConnected
        case let error as IOError
        where [ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, ENETDOWN].contains(error.errnoCode):
            // Only connecting fails with this error. Source: connect(2).
            kind = .notConnected
        default: kind = .lost
        }
        self.init(kind, reason)
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
