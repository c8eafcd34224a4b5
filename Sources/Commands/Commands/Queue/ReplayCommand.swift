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

            Workers move dead jobs that Redis cannot keep to files (minilab dead names them); --file puts them back, as \
            new generations. Jobs that exist already, because they were put back or sent again, do not change.

            Example:
              minilab replay 1763700000000-0
              minilab replay --all --dry-run
              minilab replay --code renderTimedOut --since 2h --rate 50
              minilab replay --all --first 20 --stop-at 10%
              minilab replay --continue r3k9x0c5
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
                    "--lost means all jobs whose versions the library lacks; it goes without jobs, --all, selections, --file, "
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
            if counts.replayed > 0, !dryRun {
                await CommandAudit(redis, queue.name).note(
                    jobs.count == 1 ? "replayJob" : "replay",
                    jobs.count == 1 ? jobs[0] : counts.text(isDryRun: false))
            }
            return (counts, later, all ? try await queue.spillFiles() : [])
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

/// A file to which workers moved dead jobs, read line by line, without duplicates.
struct SpillFile {
    let path: String
    let filter: DeadFilter

    /// Calls `body` with each job that matches the filter.
    ///
    /// - Throws: if the file cannot be read, or if a complete line is not a job. A last line without a line end was cut
    ///   off by a crash and is skipped: its job is still in Redis.
    func forEach(_ body: (SpilledJob) async throws -> Void) async throws {
        let lines = LineReader(
            try JobFile.open(path), lineBytesMax: SpilledJob.lineBytesMax)
        var seen: Set<SpilledJob.Name> = []
        while let (bytes, number) = try lines.next({ ($0.map { Data($0) }, $1) }) {
            guard let bytes else {
                throw Failure(
                    .ioFailure,
                    "\(path), line \(number), has more than \(SpilledJob.lineBytesMax) bytes; expected a dead job."
                )
            }
            if bytes.isEmpty { continue }
            guard let job = Self.job(bytes) else {
                StandardError.write(
                    "\(path), line \(number), is no dead job and is passed over.")
                continue
            }
            guard seen.insert(job.name).inserted, filter.matches(job) else { continue }
            try await body(job)
        }
    }

    private static func job(_ line: Data) -> SpilledJob? {
        do {
            return try JSONDecoder().decode(SpilledJob.self, from: line)
        } catch {
            // A crash cut the line off, and the job was written again.
            return nil
        }
    }
}

extension ReplayLine {
    var text: String {
        switch answer {
        case nil: "would be started again" + (code.map { " (\($0.rawValue))" } ?? "")
        case .replayed: "replayed"
        case .unknown: "there is no such job (any more)"
        case .notDead: "is not dead; run minilab explain \(job) for its state"
        case .stuck:
            "is stuck, so it cannot get another edit; cancel it and send the edit as a new job"
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
