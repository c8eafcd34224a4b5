import NIOCore
import NIOSSL

extension RedisConfiguration {
    /// The time for which a dropped TLS connection may wait for the peer's close notification.
    private static let tlsShutdownTimeout = TimeAmount.seconds(1)

    /// Returns the TLS settings of a connection attempt; nil if the URL does not use TLS.
    ///
    /// It reads the files each time, so that renewed certificates apply from the next connection on.
    func tlsContext() throws(RedisError) -> NIOSSLContext? {
        guard url.usesTLS else { return nil }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.shutdownTimeout = Self.tlsShutdownTimeout
        guard (clientCertificateFile == nil) == (clientKeyFile == nil) else {
            throw RedisError(
                .invalidConfiguration,
                "A client certificate needs its key and a key its certificate: set both files.")
        }
        if let caCertificateFile {
            let certificates = try Self.read("CA certificate", caCertificateFile) {
                try NIOSSLCertificate.fromPEMFile($0)
            }
            tls.trustRoots = .certificates(certificates)
        }
        if let clientCertificateFile, let clientKeyFile {
            tls.certificateChain = try Self.read("client certificate", clientCertificateFile) {
                try NIOSSLCertificate.fromPEMFile($0).map { .certificate($0) }
            }
            tls.privateKey = try Self.read("client key", clientKeyFile) {
                .privateKey(try NIOSSLPrivateKey(file: $0, format: .pem))
            }
        }
        do {
            return try NIOSSLContext(configuration: tls)
        } catch {
            throw RedisError(
                .invalidConfiguration,
                "TLS cannot be set up with these certificates (\(error)): check that the client "
                    + "key belongs to the client certificate.")
        }
    }

    private static func read<Content>(
        _ what: String, _ path: String, _ body: (String) throws -> Content
    ) throws(RedisError) -> Content {
        do {
            return try body(path)
        } catch {
            throw RedisError(
                .invalidConfiguration,
                "The \(what) file \(path) cannot be read as PEM (\(error)): check path, "
                    + "permissions and content.")
        }
    }
}

extension RedisURL.Address {
    /// The host name to verify; nil for an IP address, which NIOSSL then takes from the socket.
    var tlsHostname: String? {
        guard case .tcp(let host, _) = self, socketAddress == nil else { return nil }
        return host
    }

    /// The server's socket address if the host is an IP address; nil for a name or a path.
    var socketAddress: SocketAddress? {
        guard case .tcp(let host, let port) = self else { return nil }
        // The initializer throws for any text that is not an IP address, which is the only question here.
        return try? SocketAddress(ipAddress: host, port: port)
    }
}
