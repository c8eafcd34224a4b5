import Edits
import Foundation
import Logging
import MinilabTesting
import Redis
import Worker
import Telemetry
import Testing

@testable import JobQueue

@Suite("The queue's gauges") struct QueueGaugesTests {
    private func withQueue(
        _ body: (JobQueue, RedisServer) async throws -> Void
    ) async throws {
        let server = try await RedisServer.start()
        var configuration = RedisConfiguration(url: try RedisURL(server.url))
        // So only the gauges themselves give up.
        configuration.commandTimeout = .seconds(3600)
        let redis = RedisClient(configuration, logger: Logger(label: "test"))
        do {
            try await body(JobQueue(name: .photos, redis: redis), server)
        } catch {
            await redis.close()
            throw error
        }
        await redis.close()
    }

    /// Gauges that a busy machine does not hurry.
    private func gauges(_ queue: JobQueue) -> QueueGauges {
        QueueGauges(queue: queue, freshFor: .seconds(3600), readTimeMax: .seconds(300))
    }

    private func value(_ families: [MetricFamily], _ name: String, _ label: String) -> Double? {
        families.first { $0.name == name }?.samples.first { sample in
            sample.labels.contains { $0.value == label }
        }?.value
    }

    @Test func `jobs are told by state and events since the queue exists`() async throws {
        try await withQueue { queue, _ in
            let edit = Edit(try Recipe(filters: [Filter("CISepiaTone")]))
            for number in 0..<3 {
                _ = try await queue.enqueue(
                    JobRequest(asset: AssetPath("\(number).jpg"), edit: edit))
            }
            _ = try await queue.admit()
            _ = try await queue.enqueue(JobRequest(asset: AssetPath("4.jpg"), edit: edit))
            let families = await gauges(queue).families()
            #expect(families.first { $0.name == "minilab_redis_up" }?.samples[0].value == 1)
            #expect(value(families, "minilab_queue_jobs", "ready") == 3)
            #expect(value(families, "minilab_queue_jobs", "incoming") == 1)
            #expect(value(families, "minilab_queue_jobs", "dead") == 0)
            #expect(value(families, "minilab_queue_jobs", "stuck") == 0)
            #expect(value(families, "minilab_queue_paused", "photos") == 0)
            #expect(value(families, "minilab_queue_workers", "photos") == 0)
            #expect(value(families, "minilab_queue_events_total", "admitted") == 3)
            try PromTool.checkMetrics(Exposition.text(families))
        }
    }

    @Test func `scrapes in a row ask Redis once`() async throws {
        try await withQueue { queue, server in
            let gauges = gauges(queue)
            let before = await gauges.families()
            server.stop()
            #expect(await gauges.families() == before)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a Redis that hangs is given up on, and its numbers are not told`() async throws {
        try await withQueue { queue, server in
            // Connected first: then the deadline is that of a reply.
            _ = try await queue.status()
            server.kill(SIGSTOP)
            let families = await QueueGauges(queue: queue).families()
            #expect(families.map(\.name) == ["minilab_redis_up"])
            #expect(families[0].samples[0].value == 0)
            server.kill(SIGCONT)
        }
    }
}
