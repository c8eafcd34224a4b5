import ArgumentParser
import Edits
import Files
import JobQueue
import Library
import Logging
import Operations
import SystemPackage

struct DeadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "Lists dead jobs: those that failed, with the reason.",
        discussion: """
            Redis keeps a bounded number of them (queue settings dead.records, dead.large, keep.dead); workers move the \
            oldest to the library, to places that this command names. --drop removes the jobs that the flags select, for good.

            --bundle prints, as JSON, all data that are needed to reproduce a failure, with the command for it.

            Example:
              minilab dead --count 20
              minilab dead --code renderCrashed --since 2h
              minilab dead --drop --code missingAsset --until 7d --dry-run
              minilab dead order-77-photo-3 --bundle --library /srv/photos > bundle.json
            """)

    @Argument(help: "A job (default: the jobs that the flags select).") var job: String?
    @Flag(help: "Print the job's bundle for a report.") var bundle = false
    @Option(Settings.library, before: "With --bundle, for the original's digest")
    var library: FlagValue?
    @Option(Settings.originals, before: "With --bundle") var originals: FlagValue?
    @OptionGroup var filterOptions: DeadFilterOptions
    @Flag(help: "Remove the jobs that the flags select; they cannot be replayed any more.")
    var drop = false
    @Flag(help: "With --drop: all dead jobs.") var all = false
    @Flag(help: "With --drop: remove nothing; print how many jobs the flags select.") var dryRun =
        false
    @Option(help: "Number to skip.") var offset = 0
    @Option(help: "Maximum number to list.") var count = 100
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard offset >= 0, (1...10_000).contains(count) else {
            throw ValidationError("--offset is 0 or more, --count is 1 to 10000.")
        }
        guard bundle == (job != nil) else {
            throw ValidationError(
                "use a job and --bundle together; run minilab explain JOB for the reason of its failure."
            )
        }
        guard drop || (!all && !dryRun) else {
            throw ValidationError("--all and --dry-run are for --drop.")
        }
        guard !drop || (!bundle && all != filterOptions.isGiven) else {
            throw ValidationError(
                "--drop needs --all, or a selection: --batch, --tenant, --code, --since, --until, --recipe."
            )
        }
        guard bundle || (library == nil && originals == nil) else {
            throw ValidationError("--library and --originals are for --bundle.")
        }
    }

    func run() async throws {
        if let job { return try await printBundle(job) }
        let filter = try await filterOptions.filter(of: queueOptions)
        if drop { return try await removeDead(filter) }
        let (records, files) = try await queueOptions.withQueue { queue, _ in
            var records: [JobRecord] = []
            var reader = try await DeadReader(queue, filter)
            var passed = 0
            // One more tells whether there are more.
            while records.count <= count, let page = try await reader.next() {
                let skipped = min(offset - passed, page.count)
                passed += skipped
                records += page.dropFirst(skipped).prefix(count + 1 - records.count)
            }
            return (records, try await queue.spillFiles())
        }
        if json { return try printJSON(Array(records.prefix(count))) }
        let table = TextTable(
            ["job", "died", "asset", "code", "reason"],
            records.prefix(count).map {
                [
                    $0.job, $0.ended.map(date) ?? "", $0.asset, $0.code?.rawValue ?? "",
                    $0.message ?? "",
                ]
            })
        print(block: records.isEmpty ? "no dead jobs" : table.text)
        if records.count > count { print("there are more: --offset \(offset + count)") }
        for (file, jobs) in files {
            print(
                "\(counted(jobs, "more job")) moved to \(file); minilab replay --file puts them back"
            )
        }
    }

    private func removeDead(_ filter: DeadFilter) async throws {
        let dropped = try await queueOptions.withQueue { queue, redis in
            var dropped = 0
            var reader = try await DeadReader(queue, filter)
            while let page = try await reader.next() {
                dropped +=
                    dryRun
                    ? page.count : try await queue.removeDead(page.map { ($0.job, $0.generation) })
            }
            if dropped > 0, !dryRun {
                await CommandAudit(redis, queue.name).note(
                    "dropDead", counted(dropped, "dead job"))
            }
            return dropped
        }
        if json { return try printJSON([dryRun ? "wouldBeDropped" : "dropped": dropped]) }
        print("\(counted(dropped, "dead job")) \(dryRun ? "would be dropped" : "dropped")")
    }

    private func printBundle(_ job: String) async throws {
        let (record, edit, history) = try await queueOptions.withQueue { queue, _ in
            guard let record = try await queue.record(of: job) else {
                throw CommandError(
                    "there is no job \(job.debugDescription): its id is wrong, or it was done long ago."
                )
            }
            guard record.state == .dead else {
                throw CommandError(
                    "job \(job) is not dead but \(record.state); run minilab explain \(job) for details."
                )
            }
            return (
                record, try await queue.edit(of: record), try await queue.attempts(of: job)
            )
        }
        var original: ReproBundle.Original?
        if let library { original = try await self.original(of: record.asset, in: library) }
        try printJSON(
            ReproBundle(
                record, edit: edit, history: history,
                original: original))
    }

    private func original(
        of asset: String, in library: FlagValue
    ) async throws -> ReproBundle.Original {
        var reader = SettingsReader(
            try SettingsSource([library, originals].compactMap(\.self)))
        let location = LibraryLocation(&reader)
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        let store: OpenStore
        do {
            store = try await OpenStore.open(location, for: .reading, logger)
        } catch {
            return .trouble("\(error)")
        }
        let original: ReproBundle.Original
        do throws(Failure) {
            let file = try await store.library.open(.original(AssetPath(asset)))
            let digest = try await offPool { () throws(Failure) in try FileDigest.sha256(of: file) }
            original = ReproBundle.Original(
                path: file.name, sha256: digest.hex, bytes: digest.bytes, trouble: nil)
        } catch {
            original = .trouble(error.message)
        }
        await store.close()
        return original
    }
}

extension ReproBundle.Original {
    /// Returns an original that cannot be read. The missing original may be the very reason why the job died.
    fileprivate static func trouble(_ sentence: String) -> Self {
        ReproBundle.Original(path: nil, sha256: nil, bytes: nil, trouble: sentence)
    }
}
