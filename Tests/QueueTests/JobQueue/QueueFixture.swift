import Edits
import FoundationEssentials
import Logging
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

/// A queue of its own on a real Redis that all tests of this process share.
struct QueueFixture: Sendable {
    let redis: RedisClient
    let queue: JobQueue
    let server: RedisServer

    static let recipe = #"{"filters":[{"name":"CISepiaTone","inputIntensity":0.8}]}"#
    static let worker = WorkerInfo(
        name: "a", slots: 2, version: "test", startedAt: "2026-01-01T00:00:00Z")
    /// - Parameter server: a server of the test's own, when it is going to be harmed.
    init(
        on server: RedisServer? = nil, settings: QueueSettings = QueueSettings()
    ) async throws {
        let name = try QueueName("q-\(UInt64.random(in: 0...UInt64.max))")
        if let server {
            self.server = server
        } else {
            self.server = try await SharedRedis.server()
        }
        redis = try Self.client(of: self.server)
        queue = JobQueue(name: name, redis: redis, settings: settings)
    }

    private init(_ queue: JobQueue, _ other: QueueFixture) {
        (self.queue, redis, server) = (queue, other.redis, other.server)
    }

    /// Another queue over the same connection.
    func another() throws -> QueueFixture {
        let name = try QueueName("q-\(UInt64.random(in: 0...UInt64.max))")
        return QueueFixture(JobQueue(name: name, redis: redis), self)
    }

    /// Removes all keys of the queue.
    func remove() async throws {
        let keys = try await redis.send(["KEYS", RedisArgument(queue.name.keys.prefix + "*")])
        for key in keys.array?.compactMap(\.string) ?? [] {
            _ = try await redis.send(["UNLINK", RedisArgument(key)])
        }
    }

    /// Returns in the server's next millisecond.
    ///
    /// The id of an entry tells milliseconds: of two streams' entries within one, nobody knows which came first.
    func passMillisecond() async throws {
        let now = try await queue.now()
        while try await queue.now() == now {}
    }

    /// Another connection, for a call that blocks.
    func client() throws -> RedisClient { try Self.client(of: server) }

    /// Makes the connection new after a restart of the server: a call may still go to the one that the restart ended.
    func reconnect() async throws {
        try await eventually("Redis is back") {
            do {
                _ = try await redis.send(["PING"])
                return true
            } catch { return nil }
        }
    }

    /// A client that a busy machine does not hurry.
    private static func client(of server: RedisServer) throws -> RedisClient {
        var configuration = RedisConfiguration(url: try RedisURL(server.url))
        (configuration.connectTimeout, configuration.commandTimeout) = (.seconds(60), .seconds(60))
        return RedisClient(configuration, logger: Logger(label: "test"))
    }

    /// Settings under which every lease is over at once, so that no test has to wait for one.
    static var expiredAtOnce: QueueSettings {
        var settings = QueueSettings()
        settings.lease = .zero
        return settings
    }

    /// What a producer sends: any fields.
    @discardableResult
    func xadd(_ fields: KeyValuePairs<String, String>) async throws -> String {
        let words = fields.flatMap { [RedisArgument($0.key), RedisArgument($0.value)] }
        let reply = try await redis.send(
            ["XADD", RedisArgument(queue.name.keys.ingress), "*"] + words)
        return try #require(reply.string)
    }

    /// Enqueues and admits jobs of assets of these names, under ids of the same names.
    func admit(_ assets: String...) async throws {
        for asset in assets {
            try await xadd(["id": asset, "asset": asset, "edit": Self.recipe])
        }
        _ = try await queue.admit()
    }

    /// Claims one job, as a fleet does: what is due is promoted by whoever admits.
    func claim(by worker: String = "a") async throws -> Claim {
        _ = try await queue.promote()
        return try #require(try await queue.claim(by: worker, count: 1).jobs.first)
    }

    /// Says by a heartbeat that a worker is alive.
    func hear(_ worker: String, since start: String = QueueFixture.worker.startedAt) async throws {
        _ = try await queue.beat(
            [], by: WorkerInfo(name: worker, slots: 2, version: "1", startedAt: start))
    }

    /// Says by a heartbeat that the claim's reply has arrived, and how far the job is.
    func confirm(_ claim: Claim, stage: String? = nil) async throws {
        #expect(
            try await queue.beat([Beat(hold: claim.hold, stage: stage)], by: Self.worker).replies
                == [.held])
    }

    /// Carries a claimed job to its end.
    func finish(_ claim: Claim) async throws {
        #expect(
            try await queue.commit(claim, event(claim), isDraft: false) == .held
        )
        #expect(try await queue.finalize(job: claim.job, fence: claim.fence) == .held)
    }

    func event(_ claim: Claim, version: String? = nil) -> JobEvent.Completion {
        JobEvent.Completion(
            mode: .replace,
            version: .init(
                id: version ?? "1-\(claim.fence)", revision: 1, at: .init(path: "p")),
            render: .init(
                MadeFile(
                    mediaType: "image/jpeg", size: PixelSize(width: 1, height: 1), bytes: 1,
                    sha256: "00"), Companions()),
            filters: [])
    }

    /// All events so far.
    func events() async throws -> [JobEvent] {
        var reader = EventReader(queue: queue.name, redis: redis)
        var all: [JobEvent] = []
        while true {
            let entries = try await reader.next()
            all += entries.map(\.event)
            if entries.count < EventReader.batchMax { return all }
        }
    }

    func state(of job: String) async throws -> String? {
        try await queue.record(of: job)?.state.rawValue
    }
}

extension JobEvent {
    /// The last word of the type.
    var name: String { String(type.split(separator: ".").last ?? "") }
}

extension JobQueue {
    /// The sentence with which a program refuses the server.
    func refusal(as program: QueueProgram = .worker) async throws -> String {
        let error = await #expect(throws: QueueError.self) {
            try await checkServer(as: program)
        }
        #expect(error?.code == .unsafeServer)
        return error?.message ?? ""
    }
}
