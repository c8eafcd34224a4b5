import AccessKeys
import Edits
import Foundation
import ServiceTesting
import JobQueue
import MinilabTesting
import Redis
import Synchronization
import Testing

@testable import Webhooks

@Suite("Deliveries") struct DeliveryTests {
    @Test func `events come in order, once each, signed, and none of another kind`() async throws {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start()
        try await fixture.cancelled("before")
        let (endpoint, secret) = try await fixture.endpoint(stub)
        let quiet = try await StubServer.start()
        _ = try await fixture.endpoint(quiet, ["job.failed"])
        let service = try fixture.service()
        try await fixture.running([service]) { () async throws in
            try await fixture.cancelled("a", "b", "c")
            try await stub.waitFor(3)
            try await fixture.cancelled("d")
            try await stub.waitFor(4)
            #expect(stub.jobs == ["a", "b", "c", "d"] && quiet.requests.isEmpty)
            let metrics = try await eventually("all is written") {
                let metrics = service.metrics()
                return metrics.delivered == 4 && metrics.lagEvents == 0 ? metrics : nil
            }
            #expect(metrics.active == 2 && metrics.failed == 0 && metrics.parked == 0)
        }
        let first = try #require(stub.requests.first)
        #expect(first.header("content-type").hasPrefix("application/cloudevents+json"))
        #expect(first.text.contains(#""type":"org.minilab.job.cancelled""#))
        let signed = Data(
            "\(first.id).\(first.header("webhook-timestamp")).\(first.text)".utf8)
        #expect(first.header("webhook-signature") == "v1," + secret.signature(of: signed))
        let deliveries = try await fixture.store.deliveries(endpoint.id)
        #expect(deliveries.count == 4 && deliveries.allSatisfy(\.isAccepted))
        #expect(deliveries.last?.message == first.id && deliveries.last?.status == 204)
    }

    @Test func `events are read in the turn of the endpoint's tenant`() async throws {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start()
        _ = try await fixture.endpoint(stub)
        let service = try fixture.service()
        try await service.readings.enter(.tenant("another"))
        try await fixture.running([service]) { () async throws in
            try await fixture.cancelled("a")
            try await eventually("it waits for its turn") {
                service.readings.waitingCount == 1 ? true : nil
            }
            #expect(stub.requests.isEmpty)
            service.readings.leave(.tenant("another"))
            try await stub.waitFor(1)
        }
    }

    @Test func `a message has the place in a trace of its event, and none of its own`()
        async throws
    {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start()
        _ = try await fixture.endpoint(stub)
        let place = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        try await fixture.running([try fixture.service()]) { () async throws in
            try await fixture.cancelled("a", traceparent: place)
            try await fixture.cancelled("b")
            try await stub.waitFor(2)
        }
        #expect(stub.requests.map { $0.header("traceparent") } == [place, ""])
        #expect(stub.requests[0].text.contains(#""traceparent":"\#(place)""#))
    }

    @Test func `what fails is sent again under the same id, and the next ones go on`() async throws
    {
        let fixture = try await WebhookFixture()
        let seen = Mutex<Set<String>>([])
        let stub = try await StubServer.start { message in
            let isNew = seen.withLock { $0.insert(message.id).inserted }
            return isNew && !message.text.contains(#""job":"c""#) ? .reply(500) : .reply(200)
        }
        let (endpoint, _) = try await fixture.endpoint(stub)
        let service = try fixture.service()
        try await fixture.running([service]) { () async throws in
            try await fixture.cancelled("a", "b", "c")
            try await eventually("all are taken") {
                service.metrics().delivered == 3 ? () : nil
            }
        }
        #expect(Set(stub.jobs) == ["a", "b", "c"] && stub.requests.count == 5)
        let ids = Dictionary(grouping: zip(stub.jobs, stub.requests.map(\.id))) { $0.0 }
        for (_, pairs) in ids { #expect(Set(pairs.map(\.1)).count == 1) }
        #expect(try await fixture.parked(endpoint.id) == 0)
        let deliveries = try await fixture.store.deliveries(endpoint.id)
        #expect(deliveries.filter { !$0.isAccepted }.allSatisfy { $0.status == 500 })
        #expect(deliveries.map(\.attempt).max() == 2)
    }

    @Test func `a delivery that failed says when it is tried again, as late as its receiver asks`()
        async throws
    {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start { message in
            message.text.contains(#""job":"a""#)
                ? .reply(503, [("retry-after", "3600")]) : .reply(204)
        }
        let (endpoint, _) = try await fixture.endpoint(stub)
        var settings = WebhookFixture.quick
        settings.retries.cap = .seconds(7200)
        try await fixture.running([try fixture.service(settings)]) { () async throws in
            try await fixture.cancelled("a", "b")
            try await stub.waitFor(2)
            let deliveries = try await eventually("both are written") {
                let deliveries = try await fixture.store.deliveries(endpoint.id)
                return deliveries.count == 2 ? deliveries : nil
            }
            #expect(deliveries[0].isAccepted && deliveries[0].retryAt == nil)
            #expect(deliveries[1].status == 503)
            let wait = try #require(deliveries[1].retryAt) - deliveries[1].at
            #expect((3_600_000..<3_660_000).contains(wait))
        }
    }

    @Test func `an endpoint that is away costs some tries, and gets all when it is back`()
        async throws
    {
        let fixture = try await WebhookFixture()
        let isBack = TestFlag()
        let stub = try await StubServer.start { _ in isBack.isSet ? .reply(200) : .hangUp }
        let (endpoint, _) = try await fixture.endpoint(stub)
        let jobs = (0..<40).map { "job-\($0)" }
        var settings = WebhookFixture.quick
        settings.retries.attemptsMax = 1000
        try await fixture.running([try fixture.service(settings)]) { () async throws in
            for job in jobs { try await fixture.cancelled(job) }
            try await eventually("it holds") { stub.requests.count >= 20 ? () : nil }
            // Those that are parked are tried; all others wait in the stream.
            #expect(try await fixture.parked(endpoint.id) <= settings.failuresBeforePause)
            isBack.set()
            try await eventually("all came") { Set(stub.jobs) == Set(jobs) ? () : nil }
            try await eventually("none is parked") {
                try await fixture.parked(endpoint.id) == 0 ? () : nil
            }
        }
        #expect(try await fixture.store.get(endpoint.id)?.isActive == true)
    }

    @Test
    func `the first event that waits is tried now and then, however late what is parked is due`()
        async throws
    {
        let fixture = try await WebhookFixture()
        let isBack = TestFlag()
        let stub = try await StubServer.start { _ in isBack.isSet ? .reply(200) : .reply(503) }
        let (endpoint, _) = try await fixture.endpoint(stub)
        var settings = WebhookFixture.quick
        settings.retries.base = .seconds(3600)
        settings.retries.cap = .seconds(3600)
        settings.probeInterval = .milliseconds(1)
        let jobs = (0..<20).map { "job-\($0)" }
        for job in jobs { try await fixture.cancelled(job) }
        let service = try fixture.service(settings)
        try await fixture.running([service]) { () async throws in
            try await eventually("it is tried") { stub.requests.count >= 10 ? () : nil }
            #expect(try await fixture.parked(endpoint.id) == settings.failuresBeforePause)
            isBack.set()
            try await eventually("what waited came") {
                service.metrics().delivered == 15 ? () : nil
            }
        }
        #expect(Set(stub.jobs) == Set(jobs))
        #expect(try await fixture.parked(endpoint.id) == settings.failuresBeforePause)
    }

    @Test func `a message that is never taken is given up in the end`() async throws {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start { message in
            message.text.contains(#""job":"bad""#) ? .reply(422) : .reply(200)
        }
        let (endpoint, _) = try await fixture.endpoint(stub)
        let service = try fixture.service()
        try await fixture.running([service]) { () async throws in
            try await fixture.cancelled("bad", "good")
            try await eventually("it is given up") { service.metrics().givenUp == 1 ? () : nil }
            // On a busy machine, so many tries come one after another that the other message waits for their end.
            try await eventually("the other came") { service.metrics().delivered == 1 ? () : nil }
        }
        #expect(stub.jobs.count { $0 == "bad" } == RetrySchedule().attemptsMax)
        #expect(try await fixture.parked(endpoint.id) == 0)
    }

    @Test func `410 disables an endpoint at once`() async throws {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start { _ in .reply(410) }
        let (endpoint, _) = try await fixture.endpoint(stub)
        let service = try fixture.service()
        try await fixture.running([service]) { () async throws in
            try await fixture.cancelled("a", "b")
            try await eventually("it is disabled") { service.metrics().disabled == 1 ? () : nil }
        }
        #expect(stub.requests.count == 1)
        #expect(
            try await fixture.store.get(endpoint.id)?.state
                == .disabled(.gone, since: fixture.time.milliseconds))
    }

    @Test func `five bad days disable an endpoint, and it goes on where it was when it is let`()
        async throws
    {
        let fixture = try await WebhookFixture()
        let isBack = TestFlag()
        let stub = try await StubServer.start { _ in isBack.isSet ? .reply(200) : .reply(503) }
        let (endpoint, _) = try await fixture.endpoint(stub)
        // The first failure was six days ago.
        let since = try await fixture.redis.send(["TIME"]).array?[0].int ?? 0
        _ = try await fixture.redis.send([
            "HSET", RedisArgument(fixture.store.state(endpoint.id)), "failingSince",
            RedisArgument((Int(since) - 6 * 86_400) * 1000),
        ])
        let service = try fixture.service()
        try await fixture.running([service]) { () async throws in
            try await fixture.cancelled("a", "b")
            try await eventually("it is disabled") { service.metrics().disabled == 1 ? () : nil }
            #expect(stub.requests.count == 1)
            guard
                case .disabled(.failing, _)? = try await fixture.store.get(endpoint.id)?.state
            else {
                Issue.record("it is not disabled for failing")
                return
            }
            isBack.set()
            _ = try await fixture.store.update(endpoint.id, isActive: true)
            try await eventually("both came") {
                service.metrics().delivered == 2 ? () : nil
            }
        }
        #expect(Set(stub.jobs) == ["a", "b"])
    }

    @Test func `days without a try, or a clock that leaps, disable no endpoint`() async throws {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start { _ in .reply(503) }
        let (endpoint, _) = try await fixture.endpoint(stub)
        let seconds = try await fixture.redis.send(["TIME"]).array?.first?.int ?? 0
        let before = RedisArgument((Int(seconds) - 6 * 86_400) * 1000)
        _ = try await fixture.redis.send([
            "HSET", RedisArgument(fixture.store.state(endpoint.id)), "failingSince", before,
            "failedAt", before,
        ])
        let service = try fixture.service()
        try await fixture.running([service]) { () async throws in
            try await fixture.cancelled("a")
            try await eventually("it was tried twice") {
                service.metrics().failed > 1 ? () : nil
            }
        }
        #expect(try await fixture.store.get(endpoint.id)?.isActive == true)
    }

    @Test func `a message is sent again whatever the clocks of gateway and Redis say`() async throws
    {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start()
        let (endpoint, _) = try await fixture.endpoint(stub)
        let seconds = try await fixture.redis.send(["TIME"]).array?.first?.int ?? 0
        fixture.time.pass((Int(seconds) - 3600) * 1000 - fixture.time.milliseconds)
        try await fixture.running([try fixture.service()]) { () async throws in
            try await fixture.cancelled("a")
            let delivery = try await eventually("the delivery is listed") {
                try await fixture.store.deliveries(endpoint.id).first
            }
            let again = try await fixture.trials.redeliver(
                endpoint.id, message: delivery.message
            ) { _, json, _ in json }
            #expect(again.isAccepted && again.attempt == 2 && again.message == delivery.message)
            try await fixture.store.replay(endpoint.id, since: (Int(seconds) - 10) * 1000)
        }
    }

    @Test func `too many parked messages disable an endpoint`() async throws {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start { _ in .reply(500) }
        let (endpoint, _) = try await fixture.endpoint(stub)
        let due = RedisArgument(4_000_000_000_000)
        _ = try await fixture.redis.send(
            ["ZADD", RedisArgument(fixture.queue.gatewayKeys.webhook(endpoint.id, "parked"))]
                + (0..<DeliveryTurn.parkedMax).flatMap { [due, RedisArgument("1 \($0)-0")] })
        let service = try fixture.service()
        try await fixture.running([service]) { () async throws in
            try await fixture.cancelled("a")
            try await eventually("it is disabled") { service.metrics().disabled == 1 ? () : nil }
        }
        guard case .disabled(.parked, _)? = try await fixture.store.get(endpoint.id)?.state else {
            Issue.record("it is not disabled for parked messages")
            return
        }
        // The event is not lost: the cursor stands before it.
        #expect(try await fixture.cursor(endpoint.id) == EventReader.beginning)
    }

    @Test func `slow, huge, silent and redirecting answers end within bounds`() async throws {
        let body = Array("{}".utf8)
        func ask(
            _ timeout: Duration, _ answer: StubServer.Answer
        ) async throws -> (WebhookSender.Answer, StubServer) {
            let stub = try await StubServer.start { _ in answer }
            let message = SignedMessage(
                id: "msg_1", body: body, seconds: 0, secrets: [WebhookSecret()])
            return (
                try await WebhookFixture.sender(timeout).send(
                    message, to: stub.url, of: .operator), stub
            )
        }
        for answer in [StubServer.Answer.trickle, .silence] {
            let (result, _) = try await ask(.milliseconds(300), answer)
            #expect(result.status == nil && result.error != nil, "\(result)")
        }
        let (huge, stub) = try await ask(.seconds(30), .huge(chunks: 16_384))
        #expect(huge == .init(status: 200, error: nil))
        // A gibibyte was offered; sockets buffer some megabytes.
        #expect(stub.chunksSent < 1000, "\(stub.chunksSent) chunks of 64 KiB")
        let other = try await StubServer.start()
        let (moved, _) = try await ask(
            .seconds(10), .reply(307, [("location", other.url)]))
        #expect(moved.status == 307 && moved.error != nil && other.requests.isEmpty)
        let (dead, _) = try await ask(.seconds(10), .hangUp)
        #expect(dead.status == nil && dead.error != nil)
    }

    @Test func `receivers that hang keep no others of their host from being asked`() async throws {
        let stub = try await StubServer.start { request in
            request.text == "hang" ? .silence : .reply(204)
        }
        let sender = try WebhookFixture.sender(.seconds(60))
        func message(_ body: String) -> SignedMessage {
            SignedMessage(
                id: "msg_1", body: Array(body.utf8), seconds: 0, secrets: [WebhookSecret()])
        }
        let others = WebhookSettings().concurrencyMax - 1
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<others {
                group.addTask {
                    _ = await sender.send(message("hang"), to: stub.url, of: .operator)
                }
            }
            try await eventually("all that hang are asked") {
                stub.requests.count == others ? () : nil
            }
            #expect(await sender.send(message("ok"), to: stub.url, of: .operator).status == 204)
            group.cancelAll()
        }
    }

    @Test func `messages to one address share a client, and few clients are kept`() async throws {
        let stub = try await StubServer.start()
        let clients = DeliveryClients(timeout: .seconds(10), authorities: nil, idleMax: 2)
        func ask(_ address: String) async throws -> ObjectIdentifier {
            let target = DeliveryClients.Target(
                host: "127.0.0.1", address: try #require(IPAddress(address)))
            return await clients.with(target) { ObjectIdentifier($0) }
        }
        let first = try await ask("127.0.0.1")
        #expect(try await ask("127.0.0.1") == first)
        // Another address has a client of its own, so its answers never come over a connection to this one.
        #expect(try await ask("127.0.0.2") != first)
        _ = try await ask("127.0.0.3")
        #expect(clients.count == 2)
        let sender = try WebhookFixture.sender()
        let message = SignedMessage(id: "msg_1", body: [], seconds: 0, secrets: [WebhookSecret()])
        for _ in 0..<3 {
            #expect(await sender.send(message, to: stub.url, of: .operator).status == 204)
        }
        #expect(stub.requests.count == 3)
    }

    @Test func `a server's certificate has to be of a trusted authority and for the URL's name`()
        async throws
    {
        let certificates = try await TestCertificates(serverNames: "DNS:hooks.example")
        // Any server that speaks TLS: what matters is how far the handshake comes.
        let server = try await RedisServer.start(certificates: certificates)
        struct Here: AddressResolver {
            func addresses(of host: String, for owner: FairShare.Owner) -> [IPAddress] {
                [IPAddress("127.0.0.1")!]
            }
        }
        func ask(_ host: String, _ authorities: String?) async throws -> String {
            let rule = AddressRule(allowed: [try AddressRange("127.0.0.0/8")])
            let sender = WebhookSender(
                target: TargetGuard(rule: rule, resolver: Here()), authorities: authorities)
            let message = SignedMessage(
                id: "msg_1", body: [], seconds: 0, secrets: [WebhookSecret()])
            return await sender.send(message, to: "https://\(host):\(server.port)/", of: .operator)
                .error ?? ""
        }
        let isRefused = /(?i)certificate|handshake|ssl/
        for (host, authorities) in [
            ("hooks.example", nil), ("hooks.example", certificates.otherAuthority),
            ("other.example", certificates.authority), ("127.0.0.1", certificates.authority),
        ] {
            let error = try await ask(host, authorities)
            #expect(error.contains(isRefused), "\(host): \(error)")
        }
        // Redis speaks no HTTP: it was reached.
        let reached = try await ask("hooks.example", certificates.authority)
        #expect(!reached.isEmpty && !reached.contains(isRefused), "\(reached)")
    }

    @Test func `while secrets rotate both sign; an owner's view decides what is sent`() async throws
    {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start()
        let (endpoint, old) = try await fixture.endpoint(stub, tenant: "acme")
        let service = try fixture.service { owner, json, event in
            guard case .cancelled(let job) = event.data, owner.tenant == "acme",
                job.job.hasPrefix("acme.")
            else { return nil }
            return json.replacing("no more", with: "…")
        }
        try await fixture.running([service]) { () async throws in
            try await fixture.cancelled("other.1", "acme.1")
            try await stub.waitFor(1)
            let new = try await fixture.store.rotate(endpoint.id)
            // The word of it takes the way of events: it is heard at some time.
            try await eventually("both sign") { () async throws -> Void? in
                try await fixture.cancelled("acme.\(UInt32.random(in: 0...UInt32.max))")
                guard let last = stub.requests.last else { return nil }
                let signed = Array(
                    "\(last.id).\(last.header("webhook-timestamp")).\(last.text)".utf8)
                let both = [new, old].map { "v1,\($0.signature(of: signed))" }
                return last.header("webhook-signature") == both.joined(separator: " ") ? () : nil
            }
        }
        #expect(stub.jobs.allSatisfy { $0.hasPrefix("acme.") })
        #expect(stub.requests.allSatisfy { $0.text.contains("…") })
    }

    @Test func `a try is sent at once, is signed, and changes nothing`() async throws {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start { _ in .reply(500) }
        let (endpoint, secret) = try await fixture.endpoint(stub)
        _ = try await fixture.store.update(endpoint.id, isActive: false)
        let delivery = try await fixture.trials.test(endpoint.id)
        #expect(delivery.status == 500 && !delivery.isAccepted)
        let message = try #require(stub.requests.first)
        #expect(message.text.contains(#""type":"org.minilab.webhook.test""#))
        let signed = Array(
            "\(message.id).\(message.header("webhook-timestamp")).\(message.text)".utf8)
        #expect(message.header("webhook-signature") == "v1," + secret.signature(of: signed))
        #expect(try await fixture.store.deliveries(endpoint.id) == [delivery])
        #expect(try await fixture.parked(endpoint.id) == 0)
        #expect(
            await webhookCode { try await fixture.trials.test("none") } == .noSuchEndpoint)
    }

    @Test func `the last hundred deliveries are remembered`() async throws {
        let fixture = try await WebhookFixture()
        let stub = try await StubServer.start()
        let (endpoint, _) = try await fixture.endpoint(stub)
        let service = try fixture.service()
        try await fixture.running([service]) { () async throws in
            for number in 0..<120 { try await fixture.cancelled("job-\(number)") }
            try await eventually("all are taken") { service.metrics().delivered == 120 ? () : nil }
        }
        let deliveries = try await fixture.store.deliveries(endpoint.id)
        #expect(deliveries.count == WebhookDelivery.rememberedMax)
        #expect(deliveries.first?.event.contains("job-119") == true)
    }
}
