import ArgumentParser
import JobQueue
import Library
import Operations
import Redis
import Telemetry

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks the data of a queue, and repairs it.",
        discussion: """
            Works on a live queue: a script that runs alone confirms each finding at one moment. \
            --repair repairs what can be repaired without losing a job or running one twice, and checks again.

            --library compares the queue with what the library remembers of it, and warns of a Redis that came back poorer. It compares \
            the versions, drafts and renditions that the queue's events tell with those of the library, too, and names the jobs whose it \
            does not have: it was restored from a backup that is older than Redis.

            Ends with 0 when all is right or has been repaired, with 1 when a fault is left.

            Example:
              minilab doctor --repair
              minilab doctor --library /srv/photos
            """)

    @Flag(help: "Repair what can be repaired safely.") var repair = false
    @Option(Settings.library, before: "Compare with the queue's events") var library: FlagValue?
    @Option(Settings.originals, before: "With --library") var originals: FlagValue?
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON; with --library the lost jobs.") var json = false

    func validate() throws {
        guard !repair || library == nil else {
            throw ValidationError(
                "--library compares and repairs nothing; run minilab doctor --repair alone.")
        }
        guard library != nil || originals == nil else {
            throw ValidationError("--originals is for --library.")
        }
    }

    func run() async throws {
        if let library { return try await compare(library) }
        let diagnosis = try await queueOptions.withQueue { queue, redis in
            let diagnosis = try await queue.diagnose(repair: repair)
            if !diagnosis.mended.isEmpty {
                await CommandAudit(redis, queue.name).note(
                    "repair", counted(diagnosis.mended.count, "finding"))
            }
            return diagnosis
        }
        if json { try printJSON(diagnosis) } else { report(diagnosis) }
        guard diagnosis.isHealthy else { throw ExitCode(1) }
    }

    /// The most lost jobs that are listed on a terminal; --json has more.
    private static let listedMax = 100

    private func compare(_ library: FlagValue) async throws {
        let lost = try await queueOptions.withQueue { queue, redis in
            try await LostVersions(
                of: queue, redis, in: [library, originals], queueOptions.settings)
        }
        if json {
            try printJSON(lost.jobs)
        } else {
            for job in lost.jobs.prefix(Self.listedMax) {
                print("lost: job \(job.job) \(job.lack.deed) \(job.version) of \(job.asset)")
            }
            if lost.jobs.count > Self.listedMax {
                print("and \(lost.jobs.count - Self.listedMax) more; --json lists them")
            }
            print(
                lost.jobs.isEmpty
                    ? "the library has the versions of \(counted(lost.assets, "asset")) that the queue's events tell"
                    : "the library lacks what \(counted(lost.jobs.count, "job")) made as the queue's events tell: it was restored from a "
                        + "backup that is older than Redis. minilab replay --lost has them done again."
            )
        }
        if !lost.jobs.isEmpty { throw ExitCode(1) }
    }

    private static func sum(_ diagnosis: Diagnosis) -> String {
        guard diagnosis.isHealthy else { return "\(diagnosis.open.count) wrong" }
        return diagnosis.warnings.isEmpty
            ? "all is as it must be"
            : "nothing is wrong, with \(counted(diagnosis.warnings.count, "warning"))"
    }

    private func report(_ diagnosis: Diagnosis) {
        for finding in diagnosis.mended { print("mended: \(finding.sentence)") }
        for finding in diagnosis.open {
            print("wrong: \(finding.sentence)")
            if let advice = finding.advice { print("  \(advice)") }
        }
        for warning in diagnosis.warnings { print("warning: \(warning)") }
        print(
            "checked \(counted(diagnosis.places, "place")) of jobs, "
                + "\(counted(diagnosis.flows, "flow")), \(diagnosis.batches) batches: "
                + Self.sum(diagnosis))
        if !diagnosis.isHealthy, !repair {
            print("Run minilab doctor --repair to repair what can be repaired safely.")
        }
    }
}

extension LostJob.Lack {
    /// The words before the name of the version.
    fileprivate var deed: String {
        switch self {
        case .version: "published version"
        case .draft: "made the draft"
        case .renditions: "made renditions of version"
        }
    }
}

extension LostVersions {
    /// Compares what the events of a queue tell with its library.
    ///
    /// - Parameters:
    ///   - place: the settings of the library and its originals; nil: the environment or the settings file has it.
    ///   - settings: the settings file; nil: the environment names it.
    /// - Throws: if it is not the queue's library; if either cannot be read.
    init(
        of queue: JobQueue, _ redis: RedisClient, in place: [FlagValue?], _ settings: String?
    ) async throws {
        let (location, _, logger) = try LibraryOptions.read(
            place.compactMap(\.self), file: settings)
        let open = try await OpenStore.open(location, for: .reading, logger)
        do {
            // Another library has none of its versions.
            if let own = open.ofQueue, let queues = try await queue.library(),
                let sentence = own.refusal(byQueueOf: queues, queue.name)
            {
                throw CommandError(sentence)
            }
            let poorer = try await queue.loss {
                try await open.library.note(of: queue.name.string)
            }
            if let poorer { StandardError.write("warning: \(poorer)") }
            self = try await LostVersions(of: queue.name, redis, in: open.library)
            await open.close()
        } catch {
            await open.close()
            throw error
        }
    }
}
