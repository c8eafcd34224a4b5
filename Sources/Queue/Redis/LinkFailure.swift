import NIOCore
import NIOPosix
import NIOSSL

/// The reason why a connection, or an attempt at one, ended.
struct LinkFailure: Error, Equatable {
    enum Consequence: Equatable {
        /// The failure may be transient: commands that are not yet written wait for the next attempt.
        case passing
        /// A person must act: waiting calls fail at once, while the attempts continue.
        case refusal
        /// Another server is responsible.
        case redirection(RedisURL.Address)
    }

    let consequence: Consequence
    /// The error code of commands that ``consequence`` fails, or that were written.
    let code: RedisError.Code
    /// A clause without the address and without a full stop, for use inside a sentence.
    var reason: String
    var serverError: RedisServerError?

    /// Whether the failure is only a redirection.
    var isRedirection: Bool { if case .redirection = consequence { true } else { false } }

    /// Creates the failure that results from an error of this client.
    init(_ error: RedisError, consequence: Consequence) {
        let reason = error.message.hasSuffix(".") ? error.message.dropLast() : error.message[...]
        self.init(consequence: consequence, code: error.code, reason: String(reason))
    }

    init(
        consequence: Consequence, code: RedisError.Code, reason: String,
        serverError: RedisServerError? = nil
    ) {
        self.consequence = consequence
        self.code = code
        self.reason = reason
        self.serverError = serverError
    }

    static func passing(_ reason: String) -> LinkFailure {
        LinkFailure(consequence: .passing, code: .connectionLost, reason: reason)
    }

    static func refusal(
        _ code: RedisError.Code, _ reason: String, serverError: RedisServerError? = nil
    ) -> LinkFailure {
        LinkFailure(consequence: .refusal, code: code, reason: reason, serverError: serverError)
    }

    static func redirection(to address: RedisURL.Address, _ reason: String) -> LinkFailure {
        LinkFailure(consequence: .redirection(address), code: .connectionLost, reason: reason)
    }

    static func violation(_ reason: String) -> LinkFailure {
        LinkFailure(consequence: .passing, code: .protocolViolation, reason: reason)
    }
}

extension LinkFailure {
    /// Classifies an error of the transport (name look-up, TCP, TLS).
    init(transport error: any Error) {
        switch error {
        case let failure as LinkFailure:
            self = failure
        case let error as NIOConnectionError:
            self = .passing(Self.reason(error))
        case ChannelError.connectTimeout(let limit):
            self = .passing("no connection within \(Duration(limit))")
        case let error as IOError:
            self = .passing(Self.reason(error))
        case NIOSSLError.handshakeFailed(let cause):
            self = Self.tls(cause)
        case let cause as BoringSSLError:
            self = Self.tls(cause)
        case is NIOSSLExtraError:
            self = .refusal(
                .tls, "the server's certificate is not for this host (\(error)); check both")
        case NIOSSLError.uncleanShutdown:
            self = .passing("the server closed the connection")
        default:
            self = .passing("\(error)")
        }
    }

    private static func tls(_ cause: BoringSSLError) -> LinkFailure {
        switch cause {
        case .sslError:
            .refusal(
                .tls,
                "the TLS handshake failed (\(cause)); check that the server speaks TLS on this "
                    + "port, the CA file and the client certificate")
        default:
            // For example an end of file, if the server stops at this moment.
            .passing("the TLS handshake was cut off (\(cause))")
        }
    }

    private static func reason(_ error: NIOConnectionError) -> String {
        let lookup = error.dnsAError ?? error.dnsAAAAError
        if error.connectionErrors.isEmpty, let lookup {
            return "the host name could not be resolved (\(lookup))"
        }
        let reasons = error.connectionErrors.map { attempt in
            (attempt.error as? IOError).map(reason) ?? "\(attempt.error)"
        }
        return Set(reasons).sorted().joined(separator: "; ")
    }

    private static func reason(_ error: IOError) -> String {
        "\(error)"
    }
}
