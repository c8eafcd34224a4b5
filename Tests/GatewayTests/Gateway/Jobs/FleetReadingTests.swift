import AccessKeys
import MinilabTesting
import Testing

@testable import Gateway

/// What calls of clients read of all workers.
@Suite("the workers behind a job's state") struct FleetReadingTests {
    private static let calls = 60

    /// How often Redis was asked for the workers, of which the question for a leap of its clock is a part.
    private static func readings(_ server: RedisServer) async throws -> Int {
        let lines = try await server.command("INFO", "commandstats").split(
            whereSeparator: \.isNewline)
        let line = lines.first { $0.hasPrefix("cmdstat_hexists:calls=") }
        return line.flatMap { Int($0.split(separator: "=")[1].prefix { $0 != "," }) } ?? 0
    }

    @Test(arguments: ["/v1/jobs/one", "/v1/batches/spring"])
    func `are read once for all calls of a moment, and not for each`(path: String) async throws {
        let rig = try await GatewayRig(on: try await RedisServer.start())
        let key = try await rig.key(
            "acme", scopes: [.enqueue, .read], quotas: KeyQuotas(requestsPerSecond: 1_000_000))
        try await rig.post("one", "acme/a.jpg", key: key)
        let opened = try await rig.send(
            "POST", "/v1/batches", key: key, json: #"{"id":"spring","edit":{"filters":[]}}"#)
        #expect(opened.status == 201, "\(opened.text)")
        let before = try await Self.readings(rig.server)
        for _ in 0..<Self.calls {
            #expect(try await rig.send("GET", path, key: key).status == 200)
        }
        #expect(try await Self.readings(rig.server) - before < Self.calls)
    }
}
