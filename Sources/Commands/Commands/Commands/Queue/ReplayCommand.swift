import Edits
import ArgumentParser
import JobQueue
import Operations

/// `minilab replay`.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract:
            "Starts dead jobs again, as a new generation, or publishes stuck ones again.",
        discussion: """
            Jobs keep their priority and start at the end of their flow, in the order in which they died. A replayed \
            job is no longer dead, so the same command continues after it was stopped. Ends with 1 when a named job \
            could not be started.

            Name a job that is stuck (its version could not be published): it stays in its generation, and its \
            version is published again.

            Workers move dead jobs that Redis cannot keep to files (minilab dead names them); --file puts them back, as \
            new generations. Jobs that exist already, because they were put back or sent again, do not change.

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
    @Option(help: "A file to which dead jobs were moved; the flags select among its jobs.")
    var file: String?
    @Flag(help: "Start nothing; list the selected jobs.") var dryRun = false
    @Option(help: ArgumentHelp("Maximum number of jobs per second.", valueName: "n")) var rate: Int?
    @Option(
        help: ArgumentHelp("An edit that replaces the jobs' own edits.", valueName: "file"))
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
                    try printResult(try await replay.restore(job, on: queue), &counts)
                }
            } else if jobs.isEmpty {
                var dead = try await DeadReader(queue, filter)
                while let page = try await dead.next() {
                    for lines in try await replay.start(page, on: queue) {
                        try printResult(lines, &counts)
                    }
                }
            } else {
                for start in stride(from: 0, to: jobs.count, by: JobQueue.replayMax) {
                    let ids = Array(jobs[start..<min(start + JobQueue.replayMax, jobs.count)])
                    for lines in try await replay.start(named: ids, on: queue) {
                        try printResult(lines, &counts)
                    }
                }
            }
            return counts
        }
        if !json { print(block: counts.text(isDryRun: dryRun)) }
        if !jobs.isEmpty, !dryRun, counts.refused > 0 { throw ExitCode(1) }
    }

    private func printResult(_ line: ReplayLine, _ counts: inout ReplayCounts) throws {
        counts.count(line)
        if json {
            try printJSON(line, pretty: false)
        } else if !jobs.isEmpty {
            print("\(line.job): \(line.text)")
        }
    }
}
