import Edits
import ArgumentParser
import JobQueue
import Logging
import Commands
import Redis
import RenderPool
import ServiceLifecycle
import SystemPackage
import Worker

/// The cost of a fleet for Redis: very many workers in one process, each complete except for its pixels.
struct FleetBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Runs many workers that render nothing, and measures their load on Redis.",
        discussion: """
            Each worker has its own connections, claim loop, heartbeat and all else; a job waits where a render would \
            be made. Three things in turn: all workers idle; single jobs, each sent when all are idle; all slots busy. \
            Needs a Redis of its own: the queue must be empty. Five connections a worker want `ulimit -n`.

            Example:
              minilab-bench fleet --redis unix:///tmp/bench.sock --workers 1000
            """)

    @OptionGroup var queueOptions: QueueOptions
    @Option(help: "How many workers.") var workers = 1000
    @Option(help: "Jobs of one worker at the same time.") var slots = 2
    @Option(help: "How long each job takes when all slots are busy, in ms.") var workMs = 2000
    @Option(help: "How long idle and busy workers are watched, in seconds.") var seconds = 20
    @Option(help: "How many single jobs are sent.") var pickups = 300

    private struct Result: Encodable {
        let workers: Int
        let idleShare: Double
        let pickupP50Milliseconds: Double
        let pickupP99Milliseconds: Double
        let busyShare: Double
        let busyJobsPerSecond: Double
        let busySlotsShare: Double
    }

    func run() async throws {
        var reader = SettingsReader(try queueOptions.source())
        let connection = QueueConnection(&reader)
        let logger = makeLogger(&reader, defaultLevel: .error)
        try reader.finish()
        let starts = JobStarts(work: .milliseconds(workMs))
        let fleet = (1...workers).map { number in
            var settings = WorkerSettings(name: "w\(number)", renderExecutable: "none")
            settings.rendering.slots = slots
            return WorkerParts(
                connection, QueueSettings(), settings,
                RenderPool(settings: settings.rendering, logger: logger), logger,
                heartbeat: .shared,
                handler: FleetHandler(starts: starts))
        }
        let redis = RedisClient(connection.redis, logger: logger)
        let queue = JobQueue(name: connection.name, redis: redis)
        let group = ServiceGroup(services: fleet.map(\.worker), logger: logger)
        let working = Task { try await group.run() }
        while try await queue.workers().count < workers { try await Task.sleep(for: .seconds(1)) }
        // The first heartbeats, script loads and connections are over.
        try await Task.sleep(for: .seconds(seconds / 2))

        let idle = try await share(of: redis) { try await Task.sleep(for: .seconds(seconds)) }
        let waits = try await pickUp(queue, starts)
        starts.simulatesWork = true
        let feeding = Task { try await feed(queue, starts) }
        try await Task.sleep(for: starts.work * 2)
        let before = starts.count
        let busy = try await share(of: redis) { try await Task.sleep(for: .seconds(seconds)) }
        let rate = Double(starts.count - before) / Double(seconds)
        feeding.cancel()
        try await feeding.value
        try printJSON(
            Result(
                workers: workers, idleShare: idle,
                pickupP50Milliseconds: waits[waits.count / 2] / .milliseconds(1),
                pickupP99Milliseconds: waits[waits.count * 99 / 100] / .milliseconds(1),
                busyShare: busy, busyJobsPerSecond: rate,
                busySlotsShare: rate * (starts.work / .seconds(1)) / Double(workers * slots)))
        await group.triggerGracefulShutdown()
        try await working.value
        for parts in fleet { await parts.close() }
        await redis.close()
    }

    /// Returns the share of a core that Redis uses while `body` runs.
    private func share(of redis: RedisClient, _ body: () async throws -> Void) async throws
        -> Double
    {
        let clock = ContinuousClock()
        let before = try await processorSeconds(of: redis)
        let elapsed = try await clock.measure { try await body() }
        return (try await processorSeconds(of: redis) - before) / (elapsed / .seconds(1))
    }

    private func processorSeconds(of redis: RedisClient) async throws -> Double {
        let info = try await redis.send(["INFO", "cpu"]).string ?? ""
        return info.split(whereSeparator: \.isNewline).reduce(0) { sum, line in
            let pair = line.split(separator: ":")
            guard pair.count == 2, ["used_cpu_user", "used_cpu_sys"].contains(pair[0]) else {
                return sum
            }
            return sum + (Double(pair[1]) ?? 0)
        }
    }

    /// Sends single jobs, each after the one before has finished.
    ///
    /// - Returns: the times from the XADD to the job's start, the shortest first.
    private func pickUp(_ queue: JobQueue, _ starts: JobStarts) async throws -> [Duration] {
        var waits: [Duration] = []
        for number in 0..<pickups {
            try await Task.sleep(for: .milliseconds(.random(in: 10...30)))
            let sent = ContinuousClock.now
            let job = try await queue.enqueue(request("single-\(number)"))
            waits.append(await starts.start(of: job) - sent)
        }
        return waits.sorted()
    }

    /// Keeps slightly more jobs waiting than there are slots, until it is cancelled.
    private func feed(_ queue: JobQueue, _ starts: JobStarts) async throws {
        let first = starts.count
        var sent = 0
        while !Task.isCancelled {
            let wanted = starts.count - first + workers * slots / 2
            while sent < wanted {
                try await withThrowingDiscardingTaskGroup { group in
                    for number in sent..<min(sent + 100, wanted) {
                        group.addTask { _ = try await queue.enqueue(request("busy-\(number)")) }
                    }
                }
                sent = min(sent + 100, wanted)
            }
            do {
                try await Task.sleep(for: .milliseconds(10))
            } catch {
                return  // the task was cancelled
            }
        }
    }

    private func request(_ name: String) throws -> JobRequest {
        try JobRequest(
            asset: AssetPath("\(name).jpg"),
            edit: Edit(Recipe(filters: [Filter("CISepiaTone", ["intensity": 0.8])])))
    }
}
