import Adjustments
import ArgumentParser
import FoundationEssentials
import JobQueue
import Logging
import Redis
import Telemetry

extension QueueOptions {
    /// Opens the queue for one command and closes its connection afterwards.
    func withQueue<Result: Sendable>(
        _ body: (JobQueue, RedisClient) async throws -> Result
    ) async throws -> Result {
        var reader = SettingsReader(try source())
        let connection = QueueConnection(&reader)
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        let redis = RedisClient(connection.redis, logger: logger)
        do {
            let result = try await body(JobQueue(name: connection.name, redis: redis), redis)
            await redis.close()
            return result
        } catch {
            await redis.close()
            throw error
        }
    }
}

/// `minilab enqueue`.
struct EnqueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enqueue",
        abstract: "Adds a job to a queue.",
        discussion: """
            It sends one XADD, which any program can send as well. Prints the entry's id, which is \
            the job's id unless --id gives one.

            Example:
              minilab enqueue IMG_0001.JPG --filter CISepiaTone:inputIntensity=0.8
            """)

    @Argument(help: "The asset: a photo's path below the library's originals.") var asset: String
    @OptionGroup var edit: EditOptions
    @Option(help: "An id of your own; a job with a known id is not added twice.") var id: String?
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print the job's id as JSON.") var json = false

    func run() async throws {
        let request = JobRequest(
            id: try id.map { try JobID($0) }, asset: try AssetPath(asset),
            edit: try edit.request())
        let entry = try await queueOptions.withQueue { queue, _ in
            try await queue.enqueue(request)
        }
        let job = id ?? entry
        if json { try printJSON(["job": job, "entry": entry]) } else { print(job) }
    }
}

/// `minilab status`.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows how many jobs are where, or one job with its history.",
        discussion: """
            Example:
              minilab status
              minilab status 1763700000000-0
            """)

    @Argument(help: "A job.") var job: String?
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    private struct JobStatus: Encodable {
        let record: JobRecord
        let history: [Attempt]
    }

    func run() async throws {
        if let job { return try await show(job) }
        let status = try await queueOptions.withQueue { queue, _ in try await queue.status() }
        if json { return try printJSON(status) }
        var table = TextTable(["jobs", ""], rightAligned: [1])
        for (name, count) in [
            ("incoming", status.incoming), ("ready", status.ready), ("delayed", status.delayed),
            ("parked", status.parked), ("active", status.active), ("dead", status.dead),
        ] { table.add([name, "\(count)"]) }
        for (name, count) in status.counters.sorted(by: { $0.key < $1.key }) {
            table.add(["total \(name)", "\(count)"])
        }
        print(table.text)
        for held in status.held {
            print(
                "\(held.state) \(held.job): \(held.asset), held by \(held.worker ?? "?")"
                    + (held.claimed.map { " since \(date($0))" } ?? ""))
        }
    }

    private func show(_ job: String) async throws {
        let (record, history) = try await queueOptions.withQueue { queue, _ in
            (try await queue.record(of: job), try await queue.attempts(of: job))
        }
        guard let record else {
            throw ValidationError(
                "there is no job \(job.debugDescription): its id is wrong, it has not been admitted "
                    + "yet, or its record was dropped some time after it was done.")
        }
        if json { return try printJSON(JobStatus(record: record, history: history)) }
        print("\(record.job): \(record.state), \(record.asset)")
        print(
            "generation \(record.generation), \(record.attempts) failed, \(record.crashes) crashed")
        print(
            "enqueued \(date(record.enqueued))" + (record.ended.map { ", ended \(date($0))" } ?? "")
        )
        if let version = record.version { print("version \(version)") }
        if let code = record.code { print("\(code.rawValue): \(record.message ?? "")") }
        for attempt in history {
            print("  \(attempt.at) \(attempt.worker) \(attempt.code.rawValue): \(attempt.message)")
        }
    }
}

/// `minilab events`.
struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Prints the events of a queue, one CloudEvent per line.",
        discussion: """
            Ends with an error when events after --after were trimmed and may have been missed; the error says \
            how to take stock.

            Example:
              minilab events --follow | jq .data.version.path
            """)

    @Flag(help: "Wait for more.") var follow = false
    @Option(
        help: "Start after this entry of the stream, or $ for the newest (default: the beginning).")
    var after: String = EventReader.beginning
    @Flag(help: "The events are JSON already; accepted for uniformity.") var json = false
    @OptionGroup var queueOptions: QueueOptions

    func run() async throws {
        try await queueOptions.withQueue { queue, redis in
            var reader =
                after == "$"
                ? try await EventReader(queue: queue.name, redis: redis, afterNewest: ())
                : EventReader(queue: queue.name, redis: redis, after: after)
            while true {
                let entries = try await reader.next(waiting: follow ? .seconds(5) : .zero)
                for entry in entries { print(entry.json) }
                fflushStandardOutput()
                if entries.isEmpty && !follow { break }
            }
            // Not on standard output, which is for the events alone.
            StandardError.write("go on from here with --after \(reader.position)")
        }
    }
}

/// `minilab dead`.
struct DeadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "Lists the jobs that failed for good, with their reasons.",
        discussion: """
            Example:
              minilab dead --count 20
            """)

    @Option(help: "How many to pass over.") var offset = 0
    @Option(help: "How many to list at most.") var count = 100
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard offset >= 0, (1...10_000).contains(count) else {
            throw ValidationError("--offset is 0 or more, --count is 1 to 10000.")
        }
    }

    func run() async throws {
        let records = try await queueOptions.withQueue { queue, _ in
            try await queue.dead(offset: offset, count: count)
        }
        if json { return try printJSON(records) }
        var table = TextTable(["job", "died", "asset", "code", "reason"])
        for record in records {
            table.add([
                record.job, record.ended.map(date) ?? "", record.asset,
                record.code?.rawValue ?? "", record.message ?? "",
            ])
        }
        print(records.isEmpty ? "no dead jobs" : table.text)
    }
}

/// `minilab replay`.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Starts dead jobs again, as a new generation; their history stays.",
        discussion: """
            Example:
              minilab replay 1763700000000-0
              minilab replay --all
            """)

    @Argument(help: "Jobs.") var jobs: [String] = []
    @Flag(help: "All dead jobs.") var all = false
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard all != !jobs.isEmpty else {
            throw ValidationError("name the jobs, or give --all.")
        }
    }

    func run() async throws {
        let answers = try await queueOptions.withQueue { queue, _ in
            var answers: [String: String] = [:]
            // Those that cannot be replayed stay dead and are passed over from then on.
            var passed = 0
            while true {
                let ids =
                    all
                    ? try await queue.dead(offset: passed, count: JobQueue.replayMax).map(\.job)
                    : Array(jobs.dropFirst(passed).prefix(JobQueue.replayMax))
                if ids.isEmpty { return answers }
                let replayed = try await queue.replay(ids)
                for (id, answer) in zip(ids, replayed) { answers[id] = "\(answer)" }
                passed += all ? replayed.count { $0 != .replayed } : ids.count
            }
        }
        if json {
            try printJSON(answers)
        } else {
            for (id, answer) in answers.sorted(by: { $0.key < $1.key }) {
                print("\(id): \(answer)")
            }
        }
        if answers.values.contains(where: { $0 != "\(JobQueue.Replay.replayed)" }) {
            throw ExitCode(1)
        }
    }
}
