import AsyncHTTPClient
import Glibc
import NIOCore
import NIOPosix
import NIOSSL

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

/// The error of the caller's own source or sink.
struct LocalFailure: Error {
    let underlying: any Error
}
