import AccessKeys
import Foundation
import MinilabTesting
import Testing

@testable import Gateway
@testable import Redis

/// Clients that leave while Redis is asked for them.
@Suite("streams that are left") struct LeftStreamTests {
    /// A position ahead of all events, for which the stream itself is read and not what the gateway keeps of it.
    private static let ahead = "99999999999999-0"

    private static func stream(_ key: String, of rig: GatewayRig) throws -> TCPConnection {
        let connection = try TCPConnection(port: rig.port)
        connection.send(
            "GET /v1/events?after=\(ahead) HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n"
                + "Authorization: Bearer \(key)\r\n\r\n")
        return connection
    }

    /// The ids that Redis gave to the gateway's connections.
    private static func connections(_ server: RedisServer) async throws -> Set<String> {
        let list = try await server.command("CLIENT", "LIST")
        let ids = list.split(whereSeparator: \.isNewline)
            .filter { $0.contains(" user=gateway ") }
            .compactMap { $0.split(separator: " ").first.map { String($0) } }
        return Set(ids)
    }

    @Test func `a neighbour's call that waits for the same Redis is answered`() async throws {
        let rig = try await GatewayRig(on: try await RedisServer.start())
        let acme = try await rig.key("acme", scopes: [.read])
        let globex = try await rig.key("globex", scopes: [.enqueue, .read])
        try await rig.post("one", "globex/a.jpg", key: globex)
        let before = try await Self.connections(rig.server)
        rig.server.kill(SIGSTOP)
        let left = try Self.stream(acme, of: rig)
        try await eventually("Redis is asked for the stream") {
            await rig.parts.events.redis.writtenCount > 0 ? true : nil
        }
        async let answer = rig.send("GET", "/v1/jobs/one", key: globex)
        try await eventually("Redis is asked for the neighbour, too") {
            await rig.parts.events.redis.writtenCount > 1 ? true : nil
        }
        left.finish()
        try await eventually("the stream has ended") {
            rig.parts.permits.streams.count == 0 ? true : nil
        }
        rig.server.kill(SIGCONT)
        let status = try await answer.status
        #expect(status == 200)
        #expect(try await Self.connections(rig.server).isSuperset(of: before))
    }

    @Test func `hundreds of them end no connection to Redis`() async throws {
        let rig = try await GatewayRig(on: try await RedisServer.start()) {
            $0.requestsPerSecond = 100_000
        }
        let acme = try await rig.key("acme", scopes: [.read])
        let globex = try await rig.key("globex", scopes: [.enqueue, .read])
        try await rig.post("one", "globex/a.jpg", key: globex)
        let before = try await Self.connections(rig.server)
        let leaving = Task {
            for _ in 0..<400 {
                // Its socket is closed at once, and its first read of Redis goes on.
                _ = try Self.stream(acme, of: rig)
                await Task.yield()
            }
        }
        var statuses: Set<Int> = []
        for _ in 0..<400 {
            statuses.insert(try await rig.send("GET", "/v1/jobs/one", key: globex).status)
        }
        try await leaving.value
        #expect(statuses == [200])
        #expect(try await Self.connections(rig.server).isSuperset(of: before))
    }
}
