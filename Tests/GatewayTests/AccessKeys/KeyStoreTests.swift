import Edits
import JobQueue
import Redis
import Testing

@testable import AccessKeys

@Suite("Keys in Redis") struct KeyStoreTests {
    @Test func `what Redis has of a key does not contain its secret`() async throws {
        let fixture = try await KeyFixture()
        let (key, text) = try await fixture.store().create(KeyFixture.terms())
        let secret = text.revealed.split(separator: "_")[2]
        let record = try #require(
            try await fixture.redis.send([
                "HGET", RedisArgument(fixture.queue.name.gatewayKeys.accessKeys),
                RedisArgument(key.id),
            ]).string)
        #expect(!record.contains(secret) && record.contains(#""format":1"#), "\(record)")
        #expect(try await fixture.store().find(key.id) == key)
    }

    @Test func `keys are listed in the order they were made, and revoked once`() async throws {
        let fixture = try await KeyFixture()
        let store = fixture.store()
        var made: [String] = []
        for tenant in ["a", "b", "c"] {
            made.append(try await store.create(KeyFixture.terms(tenant)).key.id)
            fixture.time.pass(1)
        }
        #expect(try await store.list().map(\.id) == made)
        let revoked = try #require(try await store.revoke(made[1]))
        fixture.time.pass(1000)
        #expect(try await store.revoke(made[1]) == revoked)
        #expect(try await store.list().map { $0.revokedAt == nil } == [true, false, true])
        #expect(try await store.revoke("000000000000") == nil)
    }

    @Test func `quotas change in a live key, for those who hold it and nothing else of it`()
        async throws
    {
        let fixture = try await KeyFixture()
        let store = fixture.store()
        let (key, text) = try await store.create(KeyFixture.terms())
        let changed = try #require(
            try await store.change(key.id) { $0.backlogMax = 5 })
        #expect(changed.quotas == KeyQuotas(backlogMax: 5))
        #expect(
            changed.id == key.id && changed.scopes == key.scopes && changed.tenant == key.tenant)
        let stored = try #require(try await store.records.record(key.id))
        #expect(stored.key == changed && stored.matches(text))
        // Made and changed: gateways hear of both.
        let told = try await fixture.redis.send([
            "XLEN", RedisArgument(fixture.queue.name.gatewayKeys.control),
        ])
        #expect(told.int == 2)
        #expect(
            await code { try await store.change(key.id) { $0.backlogMax = 0 } } == .invalidTerms)
        #expect(try await store.find(key.id)?.quotas == KeyQuotas(backlogMax: 5))
        #expect(try await store.change("000000000000") { $0.backlogMax = 1 } == nil)
        try await store.revoke(key.id)
        #expect(await code { try await store.change(key.id) { $0.backlogMax = 1 } } == .revokedKey)
    }

    @Test func `ended keys make room for new ones; without any the next one is refused`()
        async throws
    {
        let fixture = try await KeyFixture()
        let store = fixture.store(keysMax: 3)
        let first = try await store.create(KeyFixture.terms("a")).key.id
        let end = fixture.time.milliseconds + 10
        _ = try await store.create(KeyFixture.terms("b", expiresAt: end))
        _ = try await store.create(KeyFixture.terms("c"))
        #expect(await code { try await store.create(KeyFixture.terms("d")) } == .tooManyKeys)
        fixture.time.pass(10)
        let last = try await store.create(KeyFixture.terms("d")).key.id
        #expect(Set(try await store.list().map { $0.tenant?.string }) == ["a", "c", "d"])
        #expect(try await store.list().contains { $0.id == first })
        #expect(try await store.find(last) != nil)
        let late = try KeyFixture.terms("e", expiresAt: fixture.time.milliseconds)
        #expect(await code { try await store.create(late) } == .invalidTerms)
    }

    @Test func `a lifetime is counted from now, and a queue's keys have the time of its server`()
        async throws
    {
        let fixture = try await KeyFixture()
        let key = try await fixture.store().create(
            KeyFixture.terms(), endingAfter: .seconds(60)
        ).key
        #expect(key.expiresAt == fixture.time.milliseconds + 60_000)
        #expect(
            await code {
                try await fixture.store().create(KeyFixture.terms(), endingAfter: .zero)
            } == .invalidTerms)
        let store = KeyStore(redis: fixture.redis, queue: fixture.queue.name)
        let before = try await fixture.queue.now()
        let now = try await store.now()
        let after = try await fixture.queue.now()
        #expect((before...after).contains(now))
        #expect(try await store.create(KeyFixture.terms()).key.createdAt >= now)
    }

    @Test func `revocations at the same time end in one, and in Redis that is full too`()
        async throws
    {
        let fixture = try await KeyFixture()
        let store = fixture.store()
        let id = try await store.create(KeyFixture.terms()).key.id
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { _ = try await store.revoke(id) } }
            try await group.waitForAll()
        }
        #expect(try await store.find(id)?.revokedAt != nil)
        let told = try await fixture.redis.send([
            "XLEN", RedisArgument(fixture.queue.name.gatewayKeys.control),
        ])
        #expect(told.int == 2)
    }

    @Test func `a record of a later format or a broken one harms no other, and can be revoked`()
        async throws
    {
        let fixture = try await KeyFixture()
        let store = fixture.store()
        let good = try await store.create(KeyFixture.terms()).key
        for (id, json) in [("later0000000", #"{"format":2}"#), ("broken000000", "{")] {
            _ = try await fixture.redis.send([
                "HSET", RedisArgument(fixture.queue.name.gatewayKeys.accessKeys), RedisArgument(id),
                RedisArgument(json),
            ])
        }
        #expect(try await store.list() == [good])
        #expect(await code { try await store.find("later0000000") } == .laterFormat)
        #expect(await code { try await store.find("broken000000") } == .damagedKey)
        #expect(try await store.revoke("broken000000") == nil)
        #expect(try await store.find("broken000000") == nil)
    }
}
