import Edits
import FoundationEssentials
import JobQueue
import Logging
import MinilabTesting
import Redis
import Synchronization
import Telemetry
import Testing

@testable import Worker

/// A queue of its own on a real Redis, and workers that are runners alone.
struct RunnerFixture: Sendable {
    let redis: RedisClient
    let queue: JobQueue
    private let url: RedisURL
    init(_ change: (inout QueueSettings) -> Void = { _ in }) async throws {
        let url = try RedisURL(await SharedRedis.server().url(as: .worker))
        self.url = url
        redis = Self.client(of: url)
        var settings = QueueSettings()
        change(&settings)
        queue = JobQueue(
            name: try QueueName("r-\(UInt64.random(in: 0...UInt64.max))"), redis: redis,
            settings: settings)
    }

    /// Further clients of the same server.
    func clients(_ count: Int) -> [RedisClient] {
        (0..<count).map { _ in Self.client(of: url) }
    }

    /// A client that a busy machine does not hurry.
    private static func client(of url: RedisURL) -> RedisClient {
        var configuration = RedisConfiguration(url: url)
        (configuration.connectTimeout, configuration.commandTimeout) = (.seconds(60), .seconds(60))
        return RedisClient(configuration, logger: Logger(label: "test"))
    }

    /// A runner with this handler.
    func runner(
        _ handler: FakeHandler, metrics: WorkerMetrics = WorkerMetrics()
    ) -> JobRunner {
        let logger = Logger(label: "test")
        return JobRunner(
            queue: queue, handler: handler,
            outage: StoreOutage(
                handler: handler, brake: ClaimBrake(metrics: metrics), logger: logger,
                pause: .milliseconds(1)),
            worker: "w", logger: logger, metrics: metrics)
    }

    /// Admits a job of an asset under an id of the same name and claims it.
    func claim(_ job: String) async throws -> Claim {
        _ = try await queue.enqueue(
            JobRequest(
                id: JobID(job), asset: AssetPath(job),
                edit: Edit(json: #"{"filters":[{"name":"CISepiaTone"}]}"#)))
        _ = try await queue.admit()
        return try #require(try await queue.claim(by: "w", count: 1).jobs.first)
    }

    func record(_ job: String) async throws -> JobRecord {
        try #require(try await queue.record(of: job))
    }

    /// Names of all events so far.
    func events() async throws -> [String] {
        var reader = EventReader(queue: queue.name, redis: redis)
        var all: [String] = []
        while true {
            let entries = try await reader.next()
            all += entries.map { String($0.event.type.split(separator: ".").last ?? "") }
            if entries.count < EventReader.batchMax { return all }
        }
    }
}

/// Ends of attempts, as metrics count them: an outcome, and the code of a failure.
final class Ends: Sendable {
    private let heard = Mutex<[String]>([])
    var all: [String] { heard.withLock { $0 } }
    var metrics: WorkerMetrics {
        WorkerMetrics(
            Metrics { [self] metric, _, labels in
                guard metric == "minilab_attempts_total" else { return }
                heard.withLock { $0.append(labels.filter { !$0.isEmpty }.joined(separator: " ")) }
            })
    }
}
