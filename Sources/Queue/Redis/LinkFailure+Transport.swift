import NIOCore
import NIOPosix
import NIOSSL

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
