import AccessKeys
import Edits
import ServiceTesting
import JobQueue
import Logging
import MinilabTesting
import Redis
import Synchronization
import Testing

@testable import Webhooks

/// Webhooks of a queue of their own, on a real Redis.
struct WebhookFixture: Sendable {
    let server: RedisServer
    private(set) var redis: RedisClient
    let queue: QueueName
    let store: WebhookStore
    let time = TestTime()

    private let login: String
    private let hubs = Hubs()

    /// The hubs of services, which end with the fixture.
    private final class Hubs: Sendable {
        private let tasks = Mutex<[Task<Void, Never>]>([])

        func follow(_ hub: EventHub) {
            let task = Task { await hub.run() }
            tasks.withLock { $0.append(task) }
        }

        deinit { for task in tasks.withLock({ $0 }) { task.cancel() } }
    }

    /// - Parameters:
    ///   - server: a server of the test's own, when it is going to be harmed.
    ///   - login: `user:password@`.
    ///   - queue: nil: one of its own.
    init(
        on server: RedisServer? = nil, login: String = RedisUser.admin.login,
        queue: QueueName? = nil
    ) async throws {
        if let server { self.server = server } else { self.server = try await SharedRedis.server() }
        self.login = login
        redis = try Self.client(self.server, login)
        self.queue = try queue ?? QueueName("q-\(UInt64.random(in: 0...UInt64.max))")
        store = WebhookStore(redis: redis, queue: self.queue) { [time] in time.milliseconds }
    }

    private static func client(_ server: RedisServer, _ login: String) throws -> RedisClient {
        RedisClient(
            RedisConfiguration(url: try RedisURL("redis://\(login)\(server.address)")),
            logger: Logger(label: "test"))
    }

    /// The same with a new connection: one that was made before the server ended may notice that with the next call.
    func reconnected() throws -> WebhookFixture {
        var copy = self
        copy.redis = try Self.client(server, login)
        return copy
    }

    /// Retries at once, nearly: tests wait for what happens, not for times to pass.
    static var quick: WebhookSettings {
        var settings = WebhookSettings()
        settings.timeout = .seconds(10)
        settings.retries.base = .milliseconds(20)
        settings.retries.cap = .milliseconds(100)
        settings.idle = .milliseconds(200)
        return settings
    }

    /// Sends to this machine alone.
    static func sender(_ timeout: Duration = .seconds(10)) throws -> WebhookSender {
        WebhookSender(
            target: TargetGuard(rule: AddressRule(allowed: [try AddressRange("127.0.0.0/8")])),
            timeout: timeout)
    }

    /// Messages that a client asks for.
    var trials: WebhookTrials {
        get throws { WebhookTrials(store, through: try Self.sender()) }
    }

    /// A gateway's deliveries, with clients of its own.
    func service(
        _ settings: WebhookSettings = quick,
        view: @escaping WebhookView = { _, json, _ in json }
    ) throws -> WebhookService {
        let hub = EventHub(
            queue: queue, eventReads: try Self.client(server, login), logger: Logger(label: "test"))
        hubs.follow(hub)
        let redis = try Self.client(server, login)
        return WebhookService(
            JobQueue(name: queue, redis: redis),
            store: WebhookStore(redis: redis, queue: queue) { [time] in
                time.milliseconds
            },
            reads: try Self.client(server, login), hub: hub,
            sender: try Self.sender(settings.timeout),
            readings: FairTurns(.init(all: 1), waiting: .init(all: 1000)), settings: settings,
            logger: Logger(label: "test"), random: { 0.5 }, view: view)
    }

    /// Runs services while a body looks, and ends them in good order.
    func running<Result: Sendable>(
        _ services: [WebhookService], _ body: () async throws -> Result
    ) async throws -> Result {
        let tasks = services.map { service in Task { try await service.run() } }
        do {
            let result = try await body()
            for service in services { service.stop() }
            for task in tasks { try await task.value }
            return result
        } catch {
            for task in tasks { task.cancel() }
            throw error
        }
    }

    /// Makes an endpoint for events of jobs.
    func endpoint(
        _ stub: StubServer, _ types: [String] = ["job.cancelled"], tenant: String? = nil
    ) async throws -> (endpoint: WebhookEndpoint, secret: WebhookSecret) {
        try await store.create(
            owner: WebhookOwner(tenant: tenant, assetPrefix: ""), url: stub.url, eventTypes: types)
    }

    /// Appends events as the queue does: one job of each name was cancelled.
    @discardableResult
    func cancelled(
        _ jobs: String..., asset: String = "a.jpg", traceparent: String? = nil
    ) async throws -> [String] {
        var ids: [String] = []
        let place = traceparent.map { #""traceparent":"\#($0)","# } ?? ""
        for job in jobs {
            let json =
                #"{"specversion":"1.0","id":"\#(queue)/\#(job)/1/cancelled","source":"minilab/\#(queue)","#
                + #""type":"org.minilab.job.cancelled","subject":"\#(asset)","time":"2026-01-01T00:00:00.000Z",\#(place)"#
                + #""datacontenttype":"application/json","dataschema":"urn:minilab:event:1","data":{"job":"\#(job)","#
                + #""asset":"\#(asset)","generation":1,"reason":"no more"}}"#
            ids.append(
                try #require(
                    try await redis.send([
                        "XADD", RedisArgument(queue.keys.events), "*", "event", RedisArgument(json),
                    ]).string))
        }
        return ids
    }

    /// The endpoint's place in the event stream, as Redis has it.
    func cursor(_ id: String) async throws -> String? {
        try await redis.send(["HGET", RedisArgument(store.state(id)), "cursor"]).string
    }

    func parked(_ id: String) async throws -> Int {
        Int(
            try await redis.send(["ZCARD", RedisArgument(queue.gatewayKeys.webhook(id, "parked"))])
                .int
                ?? 0)
    }
}

extension StubServer.Request {
    /// The id of a message to a webhook.
    var id: String { header("webhook-id") }
}

extension StubServer {
    /// The URL of an endpoint of webhooks at this server.
    var url: String { "http://127.0.0.1:\(port)/hooks" }

    /// The jobs that messages were about, in the order they came.
    var jobs: [String] {
        requests.map { message in
            message.text.firstMatch(of: /"job":"([^"]+)"/).map { String($0.1) } ?? ""
        }
    }

    /// Waits until messages of so many different ids came.
    func waitFor(_ count: Int) async throws {
        try await eventually("\(count) messages come, not \(jobs)") {
            Set(requests.map(\.id)).count >= count ? () : nil
        }
    }
}

/// The code of the error that a call throws; nil when it does not.
func webhookCode(_ body: () async throws -> some Any) async -> WebhookErrorCode? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? WebhookError)?.code
    }
}
