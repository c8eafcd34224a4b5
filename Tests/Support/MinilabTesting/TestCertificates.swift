import Foundation

/// Certificates for TLS tests, made with the `openssl` command and valid for two days.
public final class TestCertificates: Sendable {
    /// A certificate and its key, as paths of PEM files.
    public struct Pair: Sendable {
        /// The path of the certificate.
        public let certificate: String
        /// The path of the private key.
        public let key: String
    }

    private static let commandTimeout = Duration.seconds(120)

    private let folder: TemporaryFolder
    /// The PEM file of the authority that signed the certificates.
    public let authority: String
    /// The PEM file of an authority that signed none of the certificates.
    public let otherAuthority: String
    /// A server certificate for localhost and 127.0.0.1, or for the names passed to the initializer.
    public let server: Pair
    /// A client certificate.
    public let client: Pair

    /// Creates two authorities, a server certificate for `serverNames` and a client certificate.
    public init(
        serverNames: String = "DNS:localhost,IP:127.0.0.1,IP:::1"
    ) async throws {
        folder = try TemporaryFolder()
        let ca = try await Self.make("ca", in: folder, extra: [])
        let other = try await Self.make("other-ca", in: folder, extra: [])
        let signed = [
            "-CA", ca.certificate, "-CAkey", ca.key,
            "-addext", "basicConstraints=critical,CA:FALSE",
        ]
        authority = ca.certificate
        otherAuthority = other.certificate
        server = try await Self.make(
            "server", in: folder, extra: signed + ["-addext", "subjectAltName=\(serverNames)"])
        client = try await Self.make("client", in: folder, extra: signed)
    }

    private static func make(
        _ name: String, in folder: TemporaryFolder, extra: [String]
    ) async throws -> Pair {
        let pair = Pair(
            certificate: folder.file(name + ".pem"), key: folder.file(name + ".key"))
        let process = try ChildProcess(
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=\(name)",
                "-out", pair.certificate, "-keyout", pair.key,
            ] + extra, log: folder.file("openssl.log"))
        let status = try await process.wait(atMost: commandTimeout)
        guard status == 0 else {
            throw TestingFailure("openssl made no \(name): \(folder.text(of: "openssl.log"))")
        }
        return pair
    }
}
