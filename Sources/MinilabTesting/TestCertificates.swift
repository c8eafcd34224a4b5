import Foundation

/// Certificates for TLS tests, made with the `openssl` command and valid for two days.
public final class TestCertificates: Sendable {
    /// A certificate and its key, as paths of PEM files.
    public struct Pair: Sendable {
        /// The certificate's file.
        public let certificate: String
        /// The private key's file.
        public let key: String
    }

    private static let commandTimeout = Duration.seconds(20)

    private let folder: TemporaryFolder
    /// The PEM file of the authority that signed the others.
    public let authority: String
    /// The PEM file of an authority that signed none of them.
    public let otherAuthority: String
    /// For the names localhost and 127.0.0.1, or those that were asked for.
    public let server: Pair
    /// For a client.
    public let client: Pair

    /// Makes two authorities, a server's certificate for `serverNames` and a client's.
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
