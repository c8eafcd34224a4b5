import AccessKeys
import JobQueue
import MinilabTesting
import Redis
import Testing

@testable import Gateway

@Suite("events of one moment") struct EventGatheringTests {
    private static let events = 150

    @Test func `call whoever waits once, and not each for itself`() async throws {
        let rig = try await GatewayRig { $0.requestsPerSecond = 1_000_000 }
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        let hub = rig.parts.events.hub
        let begin = try #require(hub.newest)
        let start = ContinuousClock.now
        let following = Task {
            var (position, seen, calls) = (begin, 0, 0)
            while seen < Self.events {
                await hub.wait(after: position)
                guard case .entries(let entries) = hub.entries(after: position),
                    let last = entries.last
                else { continue }
                (position, seen, calls) = (last.position, seen + entries.count, calls + 1)
            }
            return calls
        }
        for number in 0..<Self.events {
            try await rig.post("j\(number)", "acme/\(number).jpg", key: key)
            _ = try await rig.send("POST", "/v1/jobs/j\(number)/cancel", key: key)
        }
        let calls = await following.value
        let most = Int((ContinuousClock.now - start) / EventHub.gatherTime) + 2
        #expect(calls <= most)
    }

    /// Adds events that have so many bytes of text.
    ///
    /// - Returns: the position of the last one.
    private static func addEvents(
        _ count: Int, of bytes: Int, to rig: GatewayRig
    ) async throws -> String {
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        try await rig.post("a", "acme/a.jpg", key: key)
        _ = try await rig.send("POST", "/v1/jobs/a/cancel", key: key)
        let stream = RedisArgument(rig.queue.name.keys.events)
        let rows = try await rig.redis.send(["XRANGE", stream, "-", "+"]).array
        let fields = try #require(rows?.first?.array?.last?.array?.compactMap { $0.string })
        let json = fields[1].replacing(
            "cancelled by its producer", with: String(repeating: "x", count: bytes))
        try #require(json.utf8.count > bytes)
        var last: String?
        for _ in 0..<count {
            last = try await rig.redis.send([
                "XADD", stream, "*", RedisArgument(fields[0]), RedisArgument(json),
            ]).string
        }
        return try #require(last)
    }

    @Test func `that are large are fewer in what a gateway keeps`() async throws {
        let rig = try await GatewayRig()
        let hub = rig.parts.events.hub
        let begin = try #require(hub.newest)
        let bytes = 20_000
        let last = try await Self.addEvents(
            EventHub.keptBytesMax / bytes + 1, of: bytes, to: rig)
        try await eventually("all of them are read") {
            hub.newest?.description == last ? true : nil
        }
        guard case .tooOld = hub.entries(after: begin) else {
            Issue.record("the first one is still kept")
            return
        }
    }

    @Test func `that are large are read without an end of the connection that calls share`()
        async throws
    {
        let rig = try await GatewayRig()
        // 500 of them would be more than a reply may have.
        _ = try await Self.addEvents(500, of: 40_000, to: rig)
        let key = try await rig.key("globex", scopes: [.read])
        let answer = try await rig.send("GET", "/v1/events?after=0", key: key)
        #expect(answer.status == 200 && answer.text.isEmpty, "\(answer.text.prefix(300))")
    }
}
