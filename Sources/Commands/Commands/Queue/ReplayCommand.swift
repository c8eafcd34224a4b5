import ArgumentParser
import Edits
import Files
import FoundationEssentials
import JobQueue
import Operations
import Telemetry

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Starts dead jobs again, or publishes stuck ones.",
        discussion: """
            Jobs keep their priority and start at the end of their flow, in the order in which they died. A replayed \
            job is no longer dead, so the same command continues after it was stopped. Ends with 1 when a named job \
            could not be started.

            Name a job that is stuck (its version could not be published): it stays in its generation, and its \
            version is published again.

            Workers move dead jobs that Redis cannot keep to the library (minilab dead names the places); --file puts those of \
            a file or a folder back, or in a bucket those whose names begin with a URL, as new generations. Jobs that exist \
            already, because they were put back or sent again, do not change, and what dies meanwhile is not read. Files whose names say \
            that they are another queue's are named and passed over. Lines of a \
            later release are named and passed over; then it ends with 76.

            --lost does the done jobs again whose versions, drafts or renditions the library lacks, because it was restored from a backup \
            that is older than Redis: those that minilab doctor --library names. Run it before workers start. It ends with 1 when the edit of one is \
            not kept any more, so that it has to be sent again under another id.

            --first tries some jobs before the others: when all of them have ended, the rest follows; if a share of --stop-at \
            (default: 10%) of them fails again, the rest stays dead, and the command ends with 1. --continue goes on with the rest, or \
            with a replay whose command was ended; running gateways carry such a replay on by themselves.

            Example:
              minilab replay 1763700000000-0
              minilab replay --all --dry-run
              minilab replay --code renderTimedOut --since 2h --rate 50
              minilab replay --all --first 20 --stop-at 10%
              minilab replay --continue r3k9x0c5
              minilab replay --batch spring --with-edit edit.json
              minilab replay --file /srv/photos/dead/photos-2026-11.ndjson --code noSpace
              minilab replay --file s3://photos/dead/photos/2026-11/ --library s3://photos
              minilab replay --lost --library /srv/photos
            """)

    @Argument(help: "Jobs.") var jobs: [String] = []
    @Flag(help: "All dead jobs.") var all = false
    @OptionGroup var filterOptions: DeadFilterOptions
    @Option(
        help: ArgumentHelp(
            "Where dead jobs were moved to; the flags select among them.",
            valueName: "file|folder|s3-url"))
    var file: String?
    @Flag(help: "The done jobs of which a restored library lacks what they made.") var lost = false
    @Option(Settings.library, before: "With --file s3://… or --lost") var library: FlagValue?
    @Option(Settings.originals, before: "With --lost") var originals: FlagValue?
    @Flag(help: "Start nothing; list the selected jobs.") var dryRun = false
    @Option(help: ArgumentHelp("Maximum number of jobs per second.", valueName: "n")) var rate: Int?
    @Option(
        help: ArgumentHelp(
            "An edit that replaces the jobs' own edits: a file, - for standard input, or the JSON itself.",
            valueName: "file|-|json"))
    var withEdit: String?
    @Option(help: ArgumentHelp("Try so many jobs before the others.", valueName: "n")) var first:
        Int?
    @Option(
        help: ArgumentHelp(
            "With --first: the share of them that stops the replay if it fails, in percent (default: 10%).",
            valueName: "percent"))
    var stopAt: String?
    @Option(
        name: .customLong("continue"),
        help: ArgumentHelp(
            "Continue a replay that --first has held, or whose command was ended.",
            valueName: "replay"))
    var continued: String?
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print one JSON object per job; of a replay with --first, its state.") var json =
        false

    private static let rateRange = 1...1_000_000

    func validate() throws {
        if continued != nil {
            guard jobs.isEmpty, !all, !filterOptions.isGiven, file == nil, !lost, !dryRun,
                rate == nil, withEdit == nil,
                first == nil, stopAt == nil
            else { throw ValidationError("--continue takes a replay as it is; it goes alone.") }
            return
        }
        try (1...ReplayTrial.firstMax).check(first, "--first")
        guard first == nil || (jobs.isEmpty && file == nil && !dryRun) else {
            throw ValidationError(
                "--first is for --all or for a selection: --batch, --tenant, --code, --since, --until, --recipe; it goes "
                    + "without jobs, --file and --dry-run.")
        }
        guard stopAt == nil || first != nil else {
            throw ValidationError("--stop-at is for --first, which says how many jobs are tried.")
        }
        _ = try stopAtPercent()
        if lost {
            guard jobs.isEmpty, !all, !filterOptions.isGiven, file == nil, withEdit == nil,
                first == nil
            else {
                throw ValidationError(
                    "--lost means all jobs of which the library lacks what they made; it goes without jobs, --all, selections, --file, "
                        + "--with-edit and --first.")
            }
        } else if file != nil {
            guard jobs.isEmpty, !all, withEdit == nil else {
                throw ValidationError(
                    "--file replays the jobs of a file that --batch, --tenant, --code, --since, --until and --recipe mean; "
                        + "it goes without jobs, --all and --with-edit.")
            }
        } else if all, jobs.isEmpty, filterOptions.isGiven {
            throw ValidationError(
                "--all means all dead jobs, and the other flags some of them: leave --all out, or the flags."
            )
        } else if [!jobs.isEmpty, all, filterOptions.isGiven].count(where: { $0 }) != 1 {
            throw ValidationError(
                "name the jobs, or give --all, or say which: --batch, --tenant, --code, --since, --until, --recipe."
            )
        }
        try Self.rateRange.check(rate, "--rate")
    }

    /// Returns the share of --stop-at: `10%` or `10`.
    private func stopAtPercent() throws -> Int? {
        try stopAt.map { text in
            guard let percent = Int(text.hasSuffix("%") ? text.dropLast() : text[...]),
                (1...100).contains(percent)
            else {
                throw ValidationError(
                    "--stop-at is \(text.debugDescription); expected a share from 1% to 100%.")
            }
            return percent
        }
    }

    func run() async throws {
        if let continued { return try await TriedReplay(json: json).goOn(continued, queueOptions) }
        let filter = try await filterOptions.filter(of: queueOptions)
        let edit = try withEdit.map { try readEdit($0) }
        if let first {
            let trial = ReplayTrial(first: first, stopAtPercent: try stopAtPercent())
            return try await TriedReplay(json: json).start(
                filter, trial, edit: edit, rate: rate, queueOptions)
        }
        let replay = Replaying(rate: rate, edit: edit, isDryRun: dryRun)
        let (counts, later, moved) = try await queueOptions.withQueue { queue, redis in
            var counts = ReplayCounts()
            var later = 0
            if lost {
                let found = try await LostVersions(
                    of: queue, redis, in: [library, originals], queueOptions.settings)
                for lines in try await replay.start(lost: found.jobs, on: queue) {
                    try printResult(lines, &counts)
                }
            } else if let file {
                let letters = DeadLetterReader(
                    queue: queue.name, filter: filter, until: try await queue.latestTime())
                later = try await letters.read(file, of: library, queueOptions.settings) { jobs in
                    for line in try await replay.restore(jobs, on: queue) {
                        try printResult(line, &counts)
                    }
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
            if counts.replayed > 0, !dryRun {
                await CommandAudit(redis, queue.name).note(
                    jobs.count == 1 ? "replayJob" : "replay",
                    jobs.count == 1 ? jobs[0] : counts.text(isDryRun: false))
            }
            return (counts, later, all ? try await queue.spillFiles() : [])
        }
        if !json {
            print(block: counts.text(isDryRun: dryRun))
            for (place, count) in moved {
                print(
                    "\(counted(count, "job")) moved to \(place) before: minilab replay --file \(place)"
                )
            }
        }
        if later > 0 { throw ExitCode.laterRelease }
        if !jobs.isEmpty || lost, !dryRun, counts.refused > 0 { throw ExitCode(1) }
    }

    private func printResult(_ line: ReplayLine, _ counts: inout ReplayCounts) throws {
        counts.count(line, byCode: !lost)
        if json {
            try printJSON(line, pretty: false)
        } else if !jobs.isEmpty || lost && line.answer != .replayed {
            print("\(line.job): \(line.text)")
        }
    }
}

extension ReplayLine {
    var text: String {
        switch answer {
        case nil: "would be started again" + (code.map { " (\($0.rawValue))" } ?? "")
        case .replayed: "replayed"
        case .unknown:
            places.map {
                "failed, and was moved to \($0), unless somebody discarded it; give that to --file"
            } ?? "there is no such job (any more); run minilab explain \(job)"
        case .notDead: "is not dead; run minilab explain \(job) for its state"
        case .stuck:
            "is stuck, so it cannot get another edit; cancel it and send the edit as a new job"
        case .underWay: "was started again before"
        case .notKept:
            "is done, and what it asked for is not kept any more, or what it was about; send its edit again under another id"
        case .conflict: "is the id of another job by now; send its edit again under another id"
        case .later: "has a record of a later format; use a newer minilab"
        case .damaged:
            "has a damaged record; run minilab doctor, and send its edit again under another id"
        case .malformed: "is malformed: there is nothing to run; have it sent again"
        }
    }
}

extension ReplayCounts {
    func text(isDryRun: Bool) -> String {
        let by = codes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return counted(replayed, "job") + (isDryRun ? " would be replayed" : " replayed")
            + (by.isEmpty ? "" : " (\(by))")
            + (refused > 0 ? "; \(refused) cannot be" : "")
    }
}
