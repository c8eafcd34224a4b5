import AccessKeys
import Edits
import Foundation
import JobQueue
import Logging
import MinilabTesting
import Operations
import Redis
import Testing

@testable import Gateway

/// Calls that were begun with a key that is revoked, or ends, while they last.
@Suite("Calls that outlive their key") struct CallRightsTests {
    /// A second, and what a busy machine adds to it.
    private static let soon: Duration = .seconds(8)

    private static let calls: [(name: String, head: String)] = [
        (
            "a body of members",
            "PUT /v1/batches/spring/members HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
        ),
        ("an original", "PUT /v1/originals/acme/b.jpg HTTP/1.1\r\nContent-Length: 1000000\r\n"),
        ("a stream", "GET /v1/events HTTP/1.1\r\nAccept: text/event-stream\r\n"),
        ("a download", "GET /v1/originals/acme/a.jpg HTTP/1.1\r\n"),
        ("a wait", "GET /v1/jobs/a HTTP/1.1\r\nPrefer: wait=30\r\n"),
    ]

    private static func rig() async throws -> GatewayRig {
        let rig = try await GatewayRig()
        let folder = rig.folder.path + "/library/originals/acme"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        // More than sockets buffer.
        try Data(count: 64 << 20).write(to: URL(filePath: folder + "/a.jpg"))
        let open = try await rig.key("acme", scopes: [.enqueue, .read])
        _ = try await rig.send(
            "POST", "/v1/batches", key: open, json: #"{"id":"spring","edit":{"filters":[]}}"#)
        _ = try await rig.send(
            "POST", "/v1/jobs", key: open,
            json: #"{"id":"a","asset":"acme/a.jpg","edit":{"filters":[]}}"#)
        return rig
    }

    @Test(arguments: calls.indices)
    func `end within moments when it is revoked, also silent ones`(_ index: Int) async throws {
        let rig = try await Self.rig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        let call = Self.calls[index]
        let connection = try TCPConnection(port: rig.port)
        connection.send(call.head + "Host: a\r\nAuthorization: Bearer \(key)\r\n\r\n")
        try await eventually("\(call.name) has begun") {
            rig.parts.limits.connections.callCount > 0 ? true : nil
        }
        _ = try await rig.parts.keyStore.revoke(String(key.split(separator: "_")[1]))
        let start = ContinuousClock.now
        try await eventually("\(call.name) is broken off") {
            rig.parts.limits.connections.callCount == 0 ? true : nil
        }
        #expect(.now - start < Self.soon, "\(call.name)")
    }

    @Test(arguments: [true, false])
    func `end when the record of their key is gone`(isAnnounced: Bool) async throws {
        let rig = try await Self.rig()
        let key = try await rig.key("acme", scopes: [.read])
        let id = String(key.split(separator: "_")[1])
        let wait = try #require(Self.calls.last)
        let connection = try TCPConnection(port: rig.port)
        connection.send(wait.head + "Host: a\r\nAuthorization: Bearer \(key)\r\n\r\n")
        try await eventually("\(wait.name) has begun") {
            rig.parts.limits.connections.callCount > 0 ? true : nil
        }
        let places = rig.queue.name.gatewayKeys
        _ = try await rig.redis.send([
            "HDEL", RedisArgument(places.accessKeys), RedisArgument(id),
        ])
        if isAnnounced {
            _ = try await rig.redis.send([
                "XADD", RedisArgument(places.control), "*", "key", RedisArgument(id),
            ])
        } else {
            await rig.parts.keys.begin()
        }
        let start = ContinuousClock.now
        try await eventually("\(wait.name) is broken off") {
            rig.parts.limits.connections.callCount == 0 ? true : nil
        }
        #expect(.now - start < Self.soon)
    }

    @Test func `add no member after it, and say why`() async throws {
        let rig = try await Self.rig()
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        let connection = try TCPConnection(port: rig.port)
        let line = #"{"asset":"acme/a.jpg"}"# + "\n"
        let chunk = String(line.utf8.count, radix: 16) + "\r\n" + line + "\r\n"
        connection.send(
            Self.calls[0].head + "Host: a\r\nAuthorization: Bearer \(key)\r\n\r\n" + chunk)
        try await eventually("it has begun") {
            rig.parts.limits.connections.callCount > 0 ? true : nil
        }
        let id = String(key.split(separator: "_")[1])
        _ = try await rig.parts.keyStore.revoke(id)
        try await eventually("the gateway has heard of it") { rig.parts.keys.refusal(of: id) }
        connection.send(chunk)
        let answer = try await BorderBehaviourTests.readToEnd(connection)
        // The next part is answered with the reason, if the connection is not closed before.
        #expect(answer.isEmpty || answer.contains("revokedKey"), "\(answer)")
        let record = try await rig.queue.record(of: try BatchID("acme.spring"))
        #expect(record?.lane ?? 0 <= 1)
    }

    @Test func `end when it ends`() async throws {
        let rig = try await Self.rig()
        let terms = try KeyTerms(
            tenant: JobID("acme"), assetPrefix: AssetPrefix("acme/"), scopes: [.read],
            expiresAt: Int(Date.now.timeIntervalSince1970 * 1000) + 8_000)
        let key = try await rig.parts.keyStore.create(terms).text.revealed
        let connection = try TCPConnection(port: rig.port)
        connection.send(
            Self.calls[2].head + "Host: a\r\nAuthorization: Bearer \(key)\r\n\r\n")
        _ = try await BorderBehaviourTests.read(connection, until: ":\n\n")
        #expect(rig.parts.limits.connections.callCount == 1)
        try await eventually("the stream is broken off") {
            rig.parts.limits.connections.callCount == 0 ? true : nil
        }
    }

    @Test func `a replay whose requester may not any more fails before its next job`()
        async throws
    {
        let rig = try await GatewayRig()
        let store = ReplayStore(redis: rig.redis, queue: rig.queue.name)
        let order = ReplayOrder(
            id: ReplayOrder.newID(), DeadFilter(Reach(tenant: nil, folder: "")), until: 1,
            rate: nil, by: "a-key", startedAt: 1, expected: 1)
        // The gateway's own runner leaves an order alone that another one holds.
        try await store.add(
            order.leased(by: "r", until: try await rig.queue.now() + 10_000), by: nil)
        let runner = ReplayRunner(
            store: store, queue: rig.queue, name: "r", logger: .init(label: "test"),
            refusal: { $0.by == "a-key" ? "the key was revoked." : nil })
        let after = try await runner.run(order.id)
        #expect(after?.state == .failed && after?.message == "the key was revoked.")
    }
}
