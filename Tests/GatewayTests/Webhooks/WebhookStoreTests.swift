import Foundation
import JobQueue
import MinilabTesting
import Redis
import ServiceTesting
import Testing

@testable import Webhooks

@Suite("Endpoints in Redis") struct WebhookStoreTests {
    private let owner = WebhookOwner(tenant: "acme", assetPrefix: "acme/")

    @Test func `an endpoint is made, changed, listed and removed with all it left`() async throws {
        let fixture = try await WebhookFixture()
        let store = fixture.store
        let made = try await store.create(owner: owner, url: "https://a.example/h")
        #expect(made.endpoint.eventTypes == WebhookEventTypes.usual && made.endpoint.isActive)
        #expect(try await store.get(made.endpoint.id) == made.endpoint)
        fixture.time.pass(10)
        let other = try await store.create(
            owner: WebhookOwner(tenant: nil, assetPrefix: ""), url: "https://b.example",
            eventTypes: ["job.completed"])
        #expect(try await store.list().map(\.id) == [made.endpoint.id, other.endpoint.id])
        #expect(try await store.list(of: owner).map(\.id) == [made.endpoint.id])

        let changed = try await store.update(
            made.endpoint.id, url: "https://c.example", eventTypes: ["job.failed"], isActive: false)
        #expect(changed.url == "https://c.example")
        #expect(changed.state == .disabled(.owner, since: fixture.time.milliseconds))
        #expect(try await store.update(made.endpoint.id, isActive: true).isActive)
        #expect(try await store.delete(made.endpoint.id))
        #expect(try await !store.delete(made.endpoint.id))
        let left = try await fixture.redis.send([
            "KEYS",
            RedisArgument("minilab-gateway:{\(fixture.queue)}:webhook:\(made.endpoint.id):*"),
        ])
        #expect(left.array == [])
    }

    @Test func `what an owner sees of an endpoint has no secret in it`() async throws {
        let fixture = try await WebhookFixture()
        let made = try await fixture.store.create(owner: owner, url: "https://a.example")
        let second = try await fixture.store.rotate(made.endpoint.id)
        let shown = String(
            decoding: try JSONEncoder().encode(try await fixture.store.list()), as: UTF8.self)
        for secret in [made.secret, second] {
            #expect(!shown.contains(secret.revealed.dropFirst(6)))
        }
        let read = try JSONDecoder().decode([WebhookEndpoint].self, from: Data(shown.utf8))
        #expect(read == [made.endpoint])
    }

    @Test func `what is not allowed has its code`() async throws {
        let fixture = try await WebhookFixture()
        let store = fixture.store
        #expect(
            await webhookCode { try await store.create(owner: owner, url: "ftp://a.example") }
                == .invalidURL)
        #expect(
            await webhookCode {
                try await store.create(
                    owner: owner, url: "https://a.example", eventTypes: ["job.eaten"])
            } == .invalidEventTypes)
        #expect(
            await webhookCode { try await store.update("none", isActive: true) } == .noSuchEndpoint)
        #expect(await webhookCode { try await store.rotate("none") } == .noSuchEndpoint)
        #expect(await webhookCode { try await store.replay("none", since: 0) } == .noSuchEndpoint)
        let made = try await store.create(owner: owner, url: "https://a.example")
        #expect(
            await webhookCode { try await store.update(made.endpoint.id, eventTypes: []) }
                == .invalidEventTypes)
        let seconds = try await fixture.redis.send(["TIME"]).array?.first?.int ?? 0
        for since in [-1, (Int(seconds) + 3600) * 1000] {
            #expect(
                await webhookCode { try await store.replay(made.endpoint.id, since: since) }
                    == .invalidTime)
        }
        for number in 1..<WebhookStore.endpointsOfTenantMax {
            _ = try await store.create(owner: owner, url: "https://a\(number).example")
        }
        #expect(
            await webhookCode { try await store.create(owner: owner, url: "https://z.example") }
                == .tooManyEndpoints)
        _ = try await store.create(
            owner: WebhookOwner(tenant: "other", assetPrefix: ""), url: "https://a.example")
    }

    @Test func `a list takes a turn for each fifty, and has all of them`() async throws {
        let fixture = try await WebhookFixture()
        for number in 0..<60 {
            _ = try await fixture.store.create(
                owner: WebhookOwner(tenant: nil, assetPrefix: ""), url: "https://a\(number).example"
            )
        }
        var turns = 0
        let list = try await fixture.store.list { decode in
            turns += 1
            return decode()
        }
        #expect(try await list == fixture.store.list() && list.count == 60 && turns == 2)
    }

    @Test func `what ends after its endpoint was removed leaves nothing`() async throws {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start()
        let id = try await fixture.endpoint(stub).endpoint.id
        let delivery = try await fixture.trials.test(id)
        #expect(try await fixture.store.deliveries(id) == [delivery])
        #expect(try await fixture.store.delete(id))
        try await fixture.store.remember(delivery, of: id)
        #expect(
            await webhookCode { try await fixture.store.replay(id, since: 0) } == .noSuchEndpoint)
        let left = try await fixture.redis.send([
            "KEYS", RedisArgument("minilab-gateway:{\(fixture.queue)}:webhook:\(id):*"),
        ])
        #expect(left.array == [])
    }

    @Test func `a tenant has no more endpoints than it may, however many it makes at a time`()
        async throws
    {
        let fixture = try await WebhookFixture()
        let (store, owner) = (fixture.store, owner)
        let made = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<80 {
                group.addTask {
                    await webhookCode {
                        try await store.create(owner: owner, url: "https://a\(number).example")
                    } == nil
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(made == WebhookStore.endpointsOfTenantMax)
        #expect(try await store.list().count == made)
        _ = try await store.create(
            owner: WebhookOwner(tenant: nil, assetPrefix: ""), url: "https://a.example")
    }

    @Test func `a record of a later format or a broken one harms no other`() async throws {
        let fixture = try await WebhookFixture()
        let good = try await fixture.store.create(owner: owner, url: "https://a.example").endpoint
        for (id, json) in [("later", #"{"format":2}"#), ("broken", "{")] {
            _ = try await fixture.redis.send([
                "HSET", RedisArgument(fixture.queue.gatewayKeys.webhooks), RedisArgument(id),
                RedisArgument(json),
            ])
        }
        #expect(try await fixture.store.list() == [good])
        #expect(await webhookCode { try await fixture.store.get("later") } == .laterFormat)
        #expect(await webhookCode { try await fixture.store.get("broken") } == .damagedEndpoint)
        #expect(try await fixture.store.delete("broken"))
    }

    @Test func `the kinds of events are those of the contract`() throws {
        let schema = try Contract.text("event.schema.json")
        let types = schema.matches(of: /"const": "(org\.minilab\.[a-z.]+)"/).map { String($0.1) }
        #expect(Set(types) == WebhookEventTypes.all && types.count == 16)
    }

    @Test func `the events of webhooks themselves are as their schema says`() throws {
        let queue = try QueueName("photos")
        let id = WebhookEndpoint.makeID()
        let events = [
            WebhookEvent.gap(
                from: "0", to: "5-1", endpoint: id, queue: queue, at: 1_790_000_000_123),
            WebhookEvent.gap(from: "5-1", to: "5-1", endpoint: id, queue: queue, at: 0),
            WebhookEvent.test(endpoint: id, queue: queue, at: 1_790_000_000_000),
        ]
        let texts = try events.map { String(decoding: try $0.json(), as: UTF8.self) }
        #expect(try Schema.webhook().refusals(of: texts).compactMap(\.self) == [])
        #expect(
            try Schema.webhook().refusals(of: [texts[0].replacing("gap", with: "hole")])
                .compactMap(\.self).count == 1)
    }
}
