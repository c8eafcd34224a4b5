import ArgumentParser
import Commands
import Edits
import Glibc
import JobQueue
import Logging
import RenderPool
import RenderProtocol
import ServiceLifecycle
import SystemPackage
import Telemetry
import Worker

/// The cost of the queue alone: jobs that do nothing, through a complete worker.
struct QueueBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Runs no-op jobs through one worker, full life with events.",
        discussion: """
            Needs a Redis of its own: the queue must be empty.

            Example:
              minilab-bench queue --redis unix:///tmp/bench.sock --jobs 50000
            """)

    @OptionGroup var queueOptions: QueueOptions
    @Option(help: "How many jobs.") var jobs = 50_000
    @Option(help: "Jobs at the same time.") var slots = 256

    private struct Result: Encodable {
        let jobs: Int
        let enqueueSeconds: Double
        let seconds: Double
        let jobsPerSecond: Double
        let workerCPUSeconds: Double
        let completedEvents: Int
    }

    func run() async throws {
        var reader = SettingsReader(try queueOptions.source())
        let connection = QueueConnection(&reader)
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        var settings = WorkerSettings(name: "bench", renderExecutable: "none")
        settings.rendering.slots = slots
        let clock = ContinuousClock()
        let done = AsyncStream.makeStream(of: Void.self)
        let parts = WorkerParts(
            connection, QueueSettings(), settings,
            RenderPool(settings: settings.rendering, logger: logger),
            logger,
            metrics: WorkerMetrics(
                Metrics { metric, _, labels in
                    guard metric == "minilab_attempts_total", labels[0] == "published" else {
                        return
                    }
                    done.continuation.yield()
                }),
            handler: NoOpHandler())

        let enqueued = try await clock.measure { try await enqueue(parts.queue) }
        let processorBefore = processorSeconds()
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: parts.worker, successTerminationBehavior: .gracefullyShutdownGroup)
                ], logger: logger))
        let working = Task { try await group.run() }
        var left = jobs
        let elapsed = await clock.measure {
            for await _ in done.stream {
                left -= 1
                if left == 0 { break }
            }
        }
        let processor = processorSeconds() - processorBefore
        await group.triggerGracefulShutdown()
        try await working.value
        let counters = try await parts.queue.status().counters
        await parts.close()
        try printJSON(
            Result(
                jobs: jobs, enqueueSeconds: enqueued / .seconds(1), seconds: elapsed / .seconds(1),
                jobsPerSecond: Double(jobs) / (elapsed / .seconds(1)), workerCPUSeconds: processor,
                completedEvents: counters["completed"] ?? 0))
    }

    private func enqueue(_ queue: JobQueue) async throws {
        let recipe = try Recipe(filters: [Filter("CISepiaTone", ["intensity": 0.8])])
        for start in stride(from: 0, to: jobs, by: 500) {
            try await withThrowingDiscardingTaskGroup { group in
                for number in start..<min(start + 500, jobs) {
                    group.addTask {
                        _ = try await queue.enqueue(
                            JobRequest(asset: AssetPath("photo-\(number).jpg"), edit: Edit(recipe)))
                    }
                }
            }
        }
    }

    private func processorSeconds() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }
}
