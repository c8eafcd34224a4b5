import AccessKeys
import Foundation
import MinilabTesting
import Testing

@testable import Gateway

@Suite("Bodies that are read whole") struct WholeBodyTests {
    private static func begin(
        _ rig: GatewayRig, _ key: String, _ length: String
    ) throws -> TCPConnection {
        let connection = try TCPConnection(port: rig.port)
        connection.send(
            "POST /v1/webhooks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\n"
                + "Content-Type: application/json\r\n\(length)\r\n\r\n")
        return connection
    }

    @Test(arguments: ["Content-Length: 1000000", "Transfer-Encoding: chunked"])
    func `large ones have a number for each key, and what is refused is not read`(
        length: String
    ) async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key(
            "acme", scopes: [.enqueue, .read], quotas: KeyQuotas(requestsPerSecond: 1_000_000))
        let most = rig.parts.permits.wholeBodies.ofKeyMax
        let held = try (0..<most).map { _ in try Self.begin(rig, key, length) }
        try await eventually("they have begun") {
            rig.parts.permits.wholeBodies.count == most ? true : nil
        }
        let refused = try await BorderBehaviourTests.readToEnd(Self.begin(rig, key, length))
        #expect(refused.hasPrefix("HTTP/1.1 429") && refused.contains("tooManyRequests"))
        // Small ones of the same key are read, and large ones of others.
        let small = try await rig.send(
            "POST", "/v1/jobs", key: key,
            json: #"{"id":"a","asset":"acme/a.jpg","edit":{"filters":[{"name":"CISepiaTone"}]}}"#)
        #expect((200..<300).contains(small.status), "\(small.text)")
        let other = try Self.begin(rig, try await rig.key("globex", scopes: [.enqueue]), length)
        try await eventually("another tenant's has begun") {
            rig.parts.permits.wholeBodies.count == most + 1 ? true : nil
        }
        _ = (held, other)
    }

    /// A key with a thousand requests, and none for a long time after them.
    private static func slowKey(_ rig: GatewayRig) async throws -> String {
        try await rig.key(
            "acme", scopes: [.enqueue, .read],
            quotas: KeyQuotas(requestsPerSecond: 1, requestBurst: 1_000))
    }

    @Test func `count as requests, one for each 4 KB`() async throws {
        let rig = try await GatewayRig()
        let key = try await Self.slowKey(rig)
        let body = #"{"url":""# + String(repeating: "a", count: 999_991) + #""}"#
        // 1,000,001 bytes are 245 requests.
        for left in [755, 510, 265, 20] {
            let answer = try await rig.send("POST", "/v1/webhooks", key: key, json: body)
            #expect(answer.status == 422 || answer.status == 400, "\(answer.text.prefix(300))")
            let told = try #require(answer.header("RateLimit"))
            let rest =
                told.split(separator: ";").first { $0.hasPrefix("r=") }
                .flatMap { Int($0.dropFirst(2)) } ?? 0
            #expect((left..<left + 200).contains(rest), "\(told)")
        }
        let refused = try await rig.send("POST", "/v1/webhooks", key: key, json: body)
        #expect(refused.status == 429 && refused.code == "tooManyRequests")
        #expect(refused.text.contains("counts as 245"), "\(refused.text)")
        // What is left is enough for small ones.
        let small = try await rig.send("POST", "/v1/webhooks", key: key, json: "{}")
        #expect(small.status != 429)
        // A key that may send fewer at once sends one after a pause.
        let slower = try await rig.key(
            "acme", scopes: [.enqueue], quotas: KeyQuotas(requestsPerSecond: 1, requestBurst: 20))
        let one = try await rig.send("POST", "/v1/webhooks", key: slower, json: body)
        #expect(one.status != 429, "\(one.text)")
    }

    @Test func `without a length count before they are parsed`() async throws {
        let rig = try await GatewayRig()
        let key = try await Self.slowKey(rig)
        let body = #"{"url":""# + String(repeating: "a", count: 999_991) + #""}"#
        var statuses: [Bool] = []
        for _ in 0..<5 {
            let connection = try Self.begin(
                rig, key, "Transfer-Encoding: chunked\r\nConnection: close")
            connection.send("\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n")
            let answer = try await BorderBehaviourTests.readToEnd(connection)
            statuses.append(answer.hasPrefix("HTTP/1.1 429"))
            if statuses.last == true { #expect(answer.contains("counts as 244"), "\(answer)") }
        }
        #expect(statuses == [false, false, false, false, true])
    }

    @Test(arguments: [(0, 1), (1, 1), (4_096, 1), (4_097, 2), (131_072, 32), (Int.max, 1 << 51)])
    func `count at least once`(bytes: Int, requests: Int) {
        #expect(RequestRate.requests(ofBytes: bytes) == requests)
    }

    @Test func `give their place back when their client leaves`() async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key("acme", scopes: [.enqueue])
        do {
            let connection = try Self.begin(rig, key, "Content-Length: 1000000")
            try await eventually("it has begun") {
                rig.parts.permits.wholeBodies.count == 1 ? true : nil
            }
            connection.finish()
        }
        try await eventually("its place is free") {
            rig.parts.permits.wholeBodies.count == 0 ? true : nil
        }
    }
}
