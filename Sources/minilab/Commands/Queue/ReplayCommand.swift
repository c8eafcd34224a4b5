import Adjustments
import ArgumentParser
import JobQueue
import Operations

/// `minilab replay`.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract:
            "Starts dead jobs again, as a new generation, or publishes what is stuck once more.",
        discussion: """
            Jobs keep their priority and begin at the end of their flow, in the order in which they died. What is \
            started again is dead no more: the same command, after it was stopped, goes on. Ends with 1 when a job \
            that was named could not be started.

            A job that is stuck (its version could not be published) is named: it stays in its generation, and its \
            version is published again.

            Workers move dead jobs that Redis cannot keep to files (minilab dead says which); --file puts them back, as \
            new generations. Jobs that are there already, put back or sent again, stay as they are.

            Example:
              minilab replay 1763700000000-0
              minilab replay --all --dry-run
              minilab replay --code renderTimedOut --since 2h --rate 50
              minilab replay --batch spring --with-edit edit.json
              minilab replay --file /srv/photos/dead/photos-2026-11.ndjson --code noSpace
            """)

    @Argument(help: "Jobs.") var jobs: [String] = []
    @Flag(help: "All dead jobs.") var all = false
    @OptionGroup var filterOptions: DeadFilterOptions
    @Option(help: "A file that dead jobs were moved to; flags choose among its jobs.")
    var file: String?
    @Flag(help: "Start nothing; say which there are.") var dryRun = false
    @Option(help: ArgumentHelp("At most so many jobs a second.", valueName: "n")) var rate: Int?
    @Option(
        help: ArgumentHelp("Do this instead of what they were to do.", valueName: "file"))
    var withEdit: String?
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print one JSON object per job.") var json = false

    private static let rateRange = 1...1_000_000

    func validate() throws {
        if file != nil {
            guard jobs.isEmpty, !all, withEdit == nil else {
                throw ValidationError(
                    "--file replays the jobs of a file that --batch, --tenant, --code, --since, --until and --recipe mean; "
                        + "it goes without jobs, --all and --with-edit.")
            }
        } else if [!jobs.isEmpty, all, filterOptions.isGiven].count(where: { $0 }) != 1 {
            throw ValidationError(
                "name the jobs, or give --all, or say which: --batch, --tenant, --code, --since, --until, --recipe."
            )
        }
        if let rate, !Self.rateRange.contains(rate) {
            throw ValidationError(
                "--rate is \(rate); expected \(Self.rateRange.lowerBound) to \(Self.rateRange.upperBound)."
            )
        }
    }

    func run() async throws {
        let filter = try filterOptions.filter()
        let edit = try withEdit.map { try readEdit($0) }
        let replay = Replaying(rate: rate, edit: edit, isDryRun: dryRun)
        let counts = try await queueOptions.withQueue { queue, _ in
            var counts = ReplayCounts()
            if let file {
                try await SpillFile(path: file, filter: filter).forEach { job in
                    try tell(try await replay.restore(job, on: queue), &counts)
                }
            } else if jobs.isEmpty {
                var dead = try await DeadReader(queue, filter)
                while let page = try await dead.next() {
                    for lines in try await replay.start(page, on: queue) {
                        try tell(lines, &counts)
                    }
                }
            } else {
                for start in stride(from: 0, to: jobs.count, by: JobQueue.replayMax) {
                    let ids = Array(jobs[start..<min(start + JobQueue.replayMax, jobs.count)])
                    for lines in try await replay.start(named: ids, on: queue) {
                        try tell(lines, &counts)
                    }
                }
            }
            return counts
        }
        if !json { print(block: counts.text(isDryRun: dryRun)) }
        if !jobs.isEmpty, !dryRun, counts.refused > 0 { throw ExitCode(1) }
    }

    private func tell(_ line: ReplayLine, _ counts: inout ReplayCounts) throws {
        counts.count(line)
        if json {
            try printJSON(line, pretty: false)
        } else if !jobs.isEmpty {
            print("\(line.job): \(line.words)")
        }
    }
}
