import Edits
import Glibc
import JobQueue
import MinilabTesting
import Redis
import Testing

@testable import AccessKeys

@Suite("Keys as gateways hold them") struct KeyRingTests {
    /// Runs rings while a body looks at them.
    private func running<Result: Sendable>(
        _ rings: [KeyRing], _ body: () async throws -> Result
    ) async throws -> Result {
        let tasks = rings.map { ring in Task { await ring.run() } }
        defer { for task in tasks { task.cancel() } }
        try await eventually("the rings are ready") { rings.allSatisfy(\.isReady) ? () : nil }
        return try await body()
    }

    @Test func `a key is taken at once on every gateway, and refused when its end is told`()
        async throws
    {
        let fixture = try await KeyFixture()
        let store = fixture.store()
        let old = try await store.create(KeyFixture.terms())
        // Their clocks stand, so nothing is read again by itself.
        let rings = [try fixture.ring(TestTime()), try fixture.ring(TestTime())]
        try await running(rings) { () async throws in
            let new = try await store.create(KeyFixture.terms())
            for ring in rings {
                #expect(try await ring.authenticate(old.text.revealed) == old.key)
                #expect(try await ring.authenticate(new.text.revealed) == new.key)
            }
            try await store.revoke(old.key.id)
            for ring in rings {
                try await eventually("the key is refused") {
                    await code { try await ring.authenticate(old.text.revealed) } == .revokedKey
                        ? () : nil
                }
                #expect(try await ring.authenticate(new.text.revealed) == new.key)
            }
        }
    }

    @Test func `keys are known before the ring runs, and a change before that is heard of`()
        async throws
    {
        let fixture = try await KeyFixture()
        let store = fixture.store()
        let old = try await store.create(KeyFixture.terms())
        // Its clock stands, so nothing is read again by itself.
        let ring = try fixture.ring(TestTime())
        await ring.begin()
        #expect(try await ring.authenticate(old.text.revealed) == old.key)
        try await store.revoke(old.key.id)
        try await running([ring]) { () async throws in
            try await eventually("the key is refused") {
                await code { try await ring.authenticate(old.text.revealed) } == .revokedKey
                    ? () : nil
            }
        }
    }

    @Test func `each reason to refuse a key has its code`() async throws {
        let fixture = try await KeyFixture()
        let store = fixture.store()
        let end = fixture.time.milliseconds + 1000
        let (key, text) = try await store.create(KeyFixture.terms(expiresAt: end))
        let uptime = TestTime()
        let ring = try fixture.ring(uptime)
        #expect(await code { try await ring.authenticate(text.revealed) } == .keysUnavailable)
        try await running([ring]) { () async throws in
            #expect(await code { try await ring.authenticate("mlk_") } == .malformedKey)
            #expect(
                await code { try await ring.authenticate(KeyText().revealed) } == .unknownKey)
            // The right id with another secret tells nothing of the key.
            var other = KeyText().revealed.split(separator: "_").map(String.init)
            other[1] = key.id
            let body = other.prefix(3).joined(separator: "_")
            let crc = String(crc32(body.utf8), radix: 16)
            let forged = body + "_" + String(repeating: "0", count: 8 - crc.count) + crc
            #expect(await code { try await ring.authenticate(forged) } == .unknownKey)
            #expect(ring.knownID(of: forged) == nil && ring.knownID(of: "mlk_") == nil)
            #expect(try await ring.authenticate(text.revealed) == key)
            #expect(ring.knownID(of: text.revealed) == key.id)
            // The time of Redis was measured once; since then, the ring's own clock tells what has passed.
            uptime.pass(1000)
            #expect(await code { try await ring.authenticate(text.revealed) } == .expiredKey)
            #expect(ring.knownID(of: text.revealed) == nil)
        }
    }

    @Test func `a key ends by the clock of Redis, and by no other, also when that is set`()
        async throws
    {
        let fixture = try await KeyFixture()
        // Redis is a year behind this machine, on which a key that ends after an hour would have ended long ago.
        fixture.time.pass(-365 * 86_400_000)
        let (key, text) = try await fixture.store().create(
            KeyFixture.terms(), endingAfter: .seconds(3600))
        #expect(key.createdAt == fixture.time.milliseconds)
        #expect(key.expiresAt == fixture.time.milliseconds + 3_600_000)
        let uptime = TestTime()
        let ring = try fixture.ring(uptime)
        try await running([ring]) { () async throws in
            #expect(try await ring.authenticate(text.revealed) == key)
            // Its clock is set right: the ring hears of it when it reads all keys again.
            fixture.time.pass(365 * 86_400_000)
            uptime.pass(30_000)
            try await eventually("the key has ended") {
                await code { try await ring.authenticate(text.revealed) } == .expiredKey ? () : nil
            }
        }
    }

    @Test func `a flood of unknown keys asks Redis a bounded number of times`() async throws {
        let server = try await RedisServer.start()
        // Its clock stands, so no more look-ups become due.
        let ring = try await KeyFixture(on: server).ring(TestTime())
        try await running([ring]) { () async throws in
            for _ in 0..<2000 {
                #expect(
                    await code { try await ring.authenticate(KeyText().revealed) } == .unknownKey)
            }
        }
        let stats = try await server.command("info", "commandstats")
        let asked = stats.firstMatch(of: /cmdstat_hget:calls=([0-9]+)/).flatMap { Int($0.1) }
        #expect(asked == KeyRing.lookupsPerSecond)
    }

    @Test func `without Redis known keys are taken for a minute, then no key is`() async throws {
        let server = try await RedisServer.start(syncsEachWrite: true)
        let fixture = try await KeyFixture(on: server)
        let (key, text) = try await fixture.store().create(KeyFixture.terms())
        let uptime = TestTime()
        let ring = try fixture.ring(uptime)
        try await running([ring]) { () async throws in
            server.kill(SIGKILL)
            try await server.waitForEnd()
            #expect(try await ring.authenticate(text.revealed) == key)
            uptime.pass(59_000)
            #expect(try await ring.authenticate(text.revealed) == key)
            uptime.pass(2_000)
            #expect(await code { try await ring.authenticate(text.revealed) } == .keysUnavailable)
            #expect(!ring.isReady)
            try await server.launch()
            try await eventually("keys are taken again") {
                await code { try await ring.authenticate(text.revealed) } == nil ? () : nil
            }
        }
    }

    @Test func `what was revoked while a gateway could not hear is refused when it hears again`()
        async throws
    {
        let server = try await RedisServer.start(syncsEachWrite: true)
        let fixture = try await KeyFixture(on: server)
        let (key, text) = try await fixture.store().create(KeyFixture.terms())
        let ring = try fixture.ring()
        try await running([ring]) { () async throws in
            server.kill(SIGKILL)
            try await server.waitForEnd()
            try await server.launch()
            try await fixture.reconnected().store().revoke(key.id)
            try await eventually("the key is refused") {
                await code { try await ring.authenticate(text.revealed) } == .revokedKey ? () : nil
            }
        }
    }

    /// jobs/HTTP.md promises three seconds.
    @Test func `after an outage of any length a gateway hears of revocations within three seconds`()
        throws
    {
        let links = RedisConfiguration(url: try RedisURL("redis://127.0.0.1")).ofGateway
        let waits = Backoff(base: links.backoffBase, max: links.backoffMax)
        let longest = (0..<100).map { waits.delay(failures: $0, random: 1) }.max()
        #expect(longest == KeyRing.reconnectMax)
        #expect(KeyRing.deafMax <= .seconds(3))
    }

    @Test func `a revocation whose word was lost is found when all keys are read anew`()
        async throws
    {
        let fixture = try await KeyFixture()
        let (key, text) = try await fixture.store().create(KeyFixture.terms())
        let uptime = TestTime()
        let ring = try fixture.ring(uptime)
        try await running([ring]) { () async throws in
            let hash = RedisArgument(fixture.queue.name.gatewayKeys.accessKeys)
            let record = try #require(
                try await fixture.redis.send(["HGET", hash, RedisArgument(key.id)]).string)
            _ = try await fixture.redis.send([
                "HSET", hash, RedisArgument(key.id),
                RedisArgument(record.replacing("\"id\":", with: "\"revokedAt\":1,\"id\":")),
            ])
            #expect(try await ring.authenticate(text.revealed) == key)
            uptime.pass(30_000)
            try await eventually("the key is refused") {
                await code { try await ring.authenticate(text.revealed) } == .revokedKey ? () : nil
            }
        }
    }
}
