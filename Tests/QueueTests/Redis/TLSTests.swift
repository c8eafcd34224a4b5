import MinilabTesting
import Testing

@testable import Redis

@Suite("TLS", .timeLimit(.minutes(10))) struct TLSTests {
    private static func call(
        _ url: String, _ configure: (inout RedisConfiguration) -> Void
    ) async throws -> RedisError? {
        try await withClient(url, configure: configure) { client async throws in
            await failure { () throws(RedisError) in try await client.send(["ECHO", "x"]) }
        }
    }

    @Test func `a certificate of the given authority is accepted for its names`() async throws {
        let certificates = try await TestCertificates()
        let server = try await RedisServer.start(certificates: certificates)
        for host in ["localhost", "127.0.0.1"] {
            let url = "rediss://\(RedisUser.admin.login)\(host):\(server.port)"
            let error = try await Self.call(url) {
                $0.caCertificateFile = certificates.authority
            }
            #expect(error == nil, "\(host)")
        }
    }

    @Test func `a certificate of another authority is refused`() async throws {
        let certificates = try await TestCertificates()
        let server = try await RedisServer.start(certificates: certificates)
        for authority in [certificates.otherAuthority, nil] {
            let error = try await Self.call(server.url) { $0.caCertificateFile = authority }
            #expect(error?.code == .tls)
            #expect(error?.mayHaveExecuted == false)
            #expect(error?.message.contains("CERTIFICATE_VERIFY_FAILED") == true)
        }
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func `a certificate for another host is refused`(host: String) async throws {
        let certificates = try await TestCertificates(
            serverNames: "DNS:redis.example,IP:127.0.0.9")
        let server = try await RedisServer.start(certificates: certificates)
        let error = try await Self.call("rediss://\(host):\(server.port)") {
            $0.caCertificateFile = certificates.authority
        }
        #expect(error?.code == .tls, "\(error?.message ?? "accepted")")
    }

    @Test func `a server can ask for a client certificate`() async throws {
        let certificates = try await TestCertificates()
        let server = try await RedisServer.start(
            certificates: certificates, clientsNeedCertificates: true)
        let without = try await Self.call(server.url) {
            $0.caCertificateFile = certificates.authority
        }
        #expect(without?.code == .tls, "\(without?.message ?? "accepted")")
        let with = try await Self.call(server.url) {
            $0.caCertificateFile = certificates.authority
            $0.clientCertificateFile = certificates.client.certificate
            $0.clientKeyFile = certificates.client.key
        }
        #expect(with == nil)
    }

    @Test func `TLS to a port without it says what to check`() async throws {
        let server = try await RedisServer.start()
        // Redis waits for the end of what it takes for a long line.
        let error = try await Self.call("rediss://localhost:\(server.port)") {
            $0.connectTimeout = .milliseconds(200)
            $0.commandTimeout = .seconds(1)
        }
        #expect(error?.code == .unreachable)
        #expect(error?.message.contains("speak TLS") == true, "\(error?.message ?? "accepted")")
    }

    @Test func `certificate files that cannot be used are named`() async throws {
        let certificates = try await TestCertificates()
        let url = "rediss://localhost"
        let missing = try await Self.call(url) { $0.caCertificateFile = "/no/such/ca.pem" }
        #expect(missing?.code == .invalidConfiguration)
        #expect(missing?.message.contains("/no/such/ca.pem") == true)

        let half = try await Self.call(url) {
            $0.clientCertificateFile = certificates.client.certificate
        }
        #expect(half?.code == .invalidConfiguration)

        let mismatched = try await Self.call(url) {
            $0.clientCertificateFile = certificates.client.certificate
            $0.clientKeyFile = certificates.server.key
        }
        #expect(mismatched?.code == .invalidConfiguration, "\(mismatched?.message ?? "accepted")")
    }
}
