import Foundation
import ServiceTesting
import JobQueue
import MinilabTesting
import Redis
import Testing

@testable import Webhooks

@Suite("Webhooks through trouble") struct GatewaysTests {
    @Test
    func `two gateways deliver each event once, and one takes over from the other at its end`()
        async throws
    {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start()
        let (endpoint, _) = try await fixture.endpoint(stub)
        let (first, second) = (try fixture.service(), try fixture.service())
        let jobs = (0..<60).map { "job-\($0)" }
        try await fixture.running([second]) { () async throws in
            try await fixture.running([first]) { () async throws in
                for job in jobs.prefix(40) { try await fixture.cancelled(job) }
                try await stub.waitFor(40)
                #expect([first, second].map { $0.metrics().held }.reduce(0, +) == 1)
            }
            for job in jobs.dropFirst(40) { try await fixture.cancelled(job) }
            try await stub.waitFor(60)
            try await eventually("the second holds it") {
                second.metrics().held == 1 ? () : nil
            }
        }
        #expect(stub.jobs == jobs)
        #expect(first.metrics().delivered + second.metrics().delivered == 60)
        #expect(try await fixture.parked(endpoint.id) == 0)
    }

    @Test func `when a gateway dies in a delivery another one repeats it after the lease`()
        async throws
    {
        let fixture = try await WebhookFixture()
        let isBack = TestFlag()
        let stub = try await StubServer.start { _ in isBack.isSet ? .reply(200) : .silence }
        _ = try await fixture.endpoint(stub)
        var settings = WebhookFixture.quick
        settings.lease = .seconds(2)
        settings.timeout = .seconds(60)
        let dying = try fixture.service(settings)
        let task = Task { try await dying.run() }
        try await fixture.cancelled("a")
        try await stub.waitFor(1)
        // Cancelled in the middle: it writes nothing and gives nothing back, as a process that is killed.
        task.cancel()
        _ = await task.result
        isBack.set()
        try await fixture.running([try fixture.service(settings)]) { () async throws in
            try await eventually("it came again") { stub.requests.count == 2 ? () : nil }
        }
        #expect(stub.jobs == ["a", "a"] && Set(stub.requests.map(\.id)).count == 1)
    }

    @Test func `a lease and a retry of a clock that was ahead last no longer than they were to`()
        async throws
    {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start()
        let (endpoint, _) = try await fixture.endpoint(stub)
        func ledger(_ owner: String) -> DeliveryLedger {
            DeliveryLedger(
                redis: fixture.redis, queue: fixture.queue, endpoint: endpoint.id, owner: owner,
                lease: .seconds(40))
        }
        guard case .own(let progress) = try await ledger("dead").turn(fence: nil) else {
            Issue.record("the lease is free")
            return
        }
        // All that was while the clock was an hour ahead; now it is right.
        let ahead = progress.now + 3_600_000
        let keys = fixture.queue.gatewayKeys
        _ = try await fixture.redis.send([
            "HSET", RedisArgument(keys.webhook(endpoint.id, "state")), "at", RedisArgument(ahead),
            "until", RedisArgument(ahead + 40_000), "fence", RedisArgument(ahead * 1000),
        ])
        _ = try await fixture.redis.send([
            "ZADD", RedisArgument(keys.webhook(endpoint.id, "parked")),
            RedisArgument(ahead + 5000), "1 5-0",
        ])
        guard case .held(let time) = try await ledger("heir").turn(fence: nil) else {
            Issue.record("the lease is held")
            return
        }
        #expect(time <= .seconds(40))
        _ = try await fixture.redis.send([
            "HSET", RedisArgument(keys.webhook(endpoint.id, "state")), "until",
            RedisArgument(ahead),
        ])
        guard case .own(let taken) = try await ledger("heir").turn(fence: nil) else {
            Issue.record("the lease is over")
            return
        }
        #expect(Int(taken.fence) ?? 0 > ahead * 1000)
        #expect(taken.dueIn ?? .seconds(100) <= .seconds(5))
    }

    @Test func `Redis is killed and comes back: nothing is lost`() async throws {
        let server = try await RedisServer.start(syncsEachWrite: true)
        let fixture = try await WebhookFixture(on: server)
        let stub = try await StubServer.start()
        _ = try await fixture.endpoint(stub)
        let service = try fixture.service()
        try await fixture.running([service]) { () async throws in
            try await fixture.cancelled("a", "b")
            try await stub.waitFor(2)
            server.kill(SIGKILL)
            try await server.waitForEnd()
            try await server.launch()
            try await fixture.reconnected().cancelled("c")
            try await stub.waitFor(3)
        }
        // The last one before the end may have come twice.
        #expect(Set(stub.jobs) == ["a", "b", "c"] && stub.requests.count <= 4)
    }

    @Test func `what was trimmed before it was delivered is told as a gap`() async throws {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start()
        try await fixture.cancelled("first")
        let (endpoint, _) = try await fixture.endpoint(stub)
        let from = try await fixture.cursor(endpoint.id)
        let ids = try await fixture.cancelled("lost", "lost-too", "kept", "kept-too")
        _ = try await fixture.redis.send([
            "XTRIM", RedisArgument(fixture.queue.keys.events), "MAXLEN", "2",
        ])
        let service = try fixture.service()
        try await fixture.running([service]) { () async throws in
            try await stub.waitFor(3)
            #expect(service.metrics().gaps == 1)
        }
        let gap = try #require(stub.requests.first)
        #expect(gap.text.contains(#""type":"org.minilab.webhook.gap""#))
        #expect(gap.text.contains(#""from":"\#(try #require(from))","to":"\#(ids[2])""#))
        #expect(stub.jobs.dropFirst() == ["kept", "kept-too"])
    }

    @Test func `a message that is trimmed while it waits to be sent again is told as a gap`()
        async throws
    {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start()
        let (endpoint, _) = try await fixture.endpoint(stub)
        _ = try await fixture.redis.send([
            "ZADD", RedisArgument(fixture.queue.gatewayKeys.webhook(endpoint.id, "parked")), "1",
            "2 5-0",
        ])
        try await fixture.running([try fixture.service()]) { () async throws in
            try await stub.waitFor(1)
        }
        #expect(stub.requests.first?.text.contains(#""from":"5-0","to":"5-0""#) == true)
        #expect(try await fixture.parked(endpoint.id) == 0)
    }

    @Test func `a replay sends again under the same ids, and an unreadable entry is passed over`()
        async throws
    {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start()
        let (endpoint, _) = try await fixture.endpoint(stub)
        try await fixture.running([try fixture.service()]) { () async throws in
            try await fixture.cancelled("a")
            _ = try await fixture.redis.send([
                "XADD", RedisArgument(fixture.queue.keys.events), "*", "event", "{}",
            ])
            try await fixture.cancelled("b")
            try await stub.waitFor(2)
            try await fixture.store.replay(endpoint.id, since: 0)
            try await eventually("they came again") { stub.requests.count == 4 ? () : nil }
        }
        #expect(stub.jobs == ["a", "b", "a", "b"] && Set(stub.requests.map(\.id)).count == 2)
    }

    @Test func `a deleted endpoint gets nothing more and leaves nothing`() async throws {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start()
        let (endpoint, _) = try await fixture.endpoint(stub)
        let service = try fixture.service()
        try await fixture.running([service]) { () async throws in
            try await fixture.cancelled("a")
            try await stub.waitFor(1)
            #expect(try await fixture.store.delete(endpoint.id))
            try await eventually("nobody delivers for it") {
                service.metrics().active == 0 ? () : nil
            }
            try await fixture.cancelled("b")
        }
        #expect(stub.jobs == ["a"])
        let left = try await fixture.redis.send([
            "KEYS", RedisArgument("minilab-gateway:{\(fixture.queue)}:webhook:*"),
        ])
        #expect(left.array == [])
    }

    @Test func `an operator's rights in Redis are enough`() async throws {
        let server = try await RedisServer.start()
        let fixture = try await WebhookFixture(on: server, login: RedisUser.operator.login)
        let stub = try await StubServer.start { $0.number == 1 ? .reply(500) : .reply(200) }
        let (endpoint, _) = try await fixture.endpoint(stub)
        try await fixture.running([try fixture.service()]) { () async throws in
            try await fixture.cancelled("a", "b")
            try await stub.waitFor(2)
            try await fixture.store.replay(endpoint.id, since: 1)
            _ = try await fixture.store.rotate(endpoint.id)
            _ = try await fixture.trials.test(endpoint.id)
            _ = try await fixture.store.update(endpoint.id, isActive: false)
            _ = try await fixture.store.update(endpoint.id, isActive: true)
            try await eventually("the gap is told") {
                stub.requests.contains { $0.text.contains("webhook.gap") } ? () : nil
            }
        }
        #expect(try await fixture.store.delete(endpoint.id))
        let refused = try await server.command("ACL", "LOG")
        #expect(refused.isEmpty, "\(refused)")
    }

    @Test func `couriers share a read of new events`() async throws {
        let server = try await RedisServer.start()
        let fixture = try await WebhookFixture(on: server)
        let stub = try await StubServer.start()
        for _ in 0..<20 { _ = try await fixture.endpoint(stub) }
        let service = try fixture.service()
        try await fixture.running([service]) { () async throws in
            try await eventually("all are held") { service.metrics().held == 20 ? () : nil }
            // The first event may find some couriers that have not asked the hub yet.
            try await fixture.cancelled("a")
            try await stub.waitFor(20)
            let before = try await xranges(server)
            try await fixture.cancelled("b")
            try await eventually("all have it") { stub.requests.count == 40 ? () : nil }
            #expect(try await xranges(server) - before < 10)
        }
    }

    private func xranges(_ server: RedisServer) async throws -> Int {
        let stats = try await server.command("info", "commandstats")
        return stats.firstMatch(of: /cmdstat_xrange:calls=([0-9]+)/).flatMap { Int($0.1) } ?? 0
    }
}
