import ArgumentParser
import Edits
import JobQueue
import Operations
import Telemetry

struct EnqueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enqueue",
        abstract: "Adds a job to a queue, or a file of jobs as a batch.",
        discussion: """
            One job is one XADD, which any program can send as well. Prints the entry's id, which is \
            the job's id unless --id gives one.

            A file has one job per line, {"asset": …, "edit": {…}, "cost": …, "fields": {…}}, or only the path of an asset; without \
            an edit of its own a line gets that of --filter or --edit. A line that is no job is named on standard \
            error, the others are sent, and the command ends with 1: send such lines again, mended, by themselves. The \
            jobs are called BATCH:0, BATCH:1, … in the order of their lines. The same command again, after a crash, \
            adds only the missing jobs.

            Example:
              minilab enqueue IMG_0001.JPG --filter CISepiaTone:inputIntensity=0.8 --wait
              minilab enqueue IMG_0001.JPG --rendition web:box=2048x2048,format=avif \\
                --rendition square:box=320x320,fit=cover
              minilab enqueue IMG_0001.JPG --edit edit.json --tenant acme \\
                --priority interactive --replace running
              minilab enqueue --file edits.ndjson --batch spring --tenant acme --cap 9
              find . -name '*.jpg' -printf '%P\\n' |
                minilab enqueue --file - --filter CISepiaTone --wait
              minilab enqueue --file edits.ndjson --dry-run --library /srv/photos
            """)

    @Argument(help: "The asset: a photo's path below the library's originals.") var asset: String?
    @OptionGroup var edit: EditOptions
    @Option(help: "The id of the job; a job with a known id is not added twice.") var id: String?
    @Option(
        name: .customLong("field"), parsing: .singleValue,
        help: ArgumentHelp(
            "A value for the placeholder {field:NAME} of the edit; several.",
            valueName: "name=value"))
    var fields: [String] = []
    @OptionGroup var schedulingOptions: SchedulingOptions
    @OptionGroup var timing: TimingOptions
    @OptionGroup var bulk: BulkOptions
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard (asset == nil) != (bulk.file == nil) else {
            throw ValidationError("name an asset, or give a file of jobs with --file.")
        }
        if let flag = bulk.given.first, bulk.file == nil {
            throw ValidationError("\(flag) is for a file of jobs; give --file.")
        }
        if bulk.file != nil, let flag = (timing.given + (id.map { _ in ["--id"] } ?? [])).first {
            throw ValidationError("\(flag) is for one job, and --file has many.")
        }
        guard bulk.file != "-" || edit.edit != "-" else {
            throw ValidationError(
                "--file - and --edit - would both read standard input; give one of them as a file.")
        }
        if bulk.file != nil, !fields.isEmpty {
            throw ValidationError(
                "--field is for one job; in a file of jobs each line has its own fields.")
        }
        try bulk.check()
    }

    /// Returns the fields that the flags give; nil for none.
    private func assetFields() throws -> AssetFields? {
        guard !fields.isEmpty else { return nil }
        var values: [String: JSONValue] = [:]
        for pair in fields {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2 else {
                throw ValidationError("--field takes NAME=VALUE, such as --field name=Ada.")
            }
            guard values.updateValue(.string(String(sides[1])), forKey: String(sides[0])) == nil
            else {
                throw ValidationError("--field \(sides[0])=… is given twice; keep one of them.")
            }
        }
        return try AssetFields(.object(values), at: "--field")
    }

    func run() async throws {
        if let path = bulk.file { return try await send(JobFile(path: path)) }
        let request = JobRequest(
            id: try id.map { try JobID(ofJob: $0) }, asset: try AssetPath(asset ?? ""),
            edit: try edit.request(), fields: try assetFields(),
            scheduling: try timing.applied(to: schedulingOptions.scheduling()))
        let sender = JobWaiting(isWaited: bulk.wait, json: json)
        try await queueOptions.withQueue { queue, _ in try await sender.send([request], to: queue) }
    }

    private func send(_ file: JobFile) async throws {
        let scheduling = try schedulingOptions.scheduling()
        let own = try edit.isGiven() ? edit.request() : nil
        let survey = try JobSurvey(
            file, batchEdit: own?.json.canonical, batchCost: scheduling.cost,
            inDetail: bulk.dryRun)
        try survey.check(file.path)
        for line in survey.refused.sentences(atMost: JobSurvey.problemsMax) {
            StandardError.write("\(file.path): \(line)")
        }
        let batchEdit = try own ?? Edit(json: survey.commonEdit ?? "")
        if bulk.dryRun {
            try await DryRun(
                file: file, survey: survey, edit: batchEdit, bulk: bulk,
                resources: edit.resources, haveEdit: own != nil
            ).run(queueOptions, json: json)
            guard survey.refused.isEmpty else { throw ExitCode(1) }
            return
        }
        let name = try bulk.batch ?? Self.name(for: file, batchEdit, scheduling)
        let sending = BulkEnqueue(
            batch: BatchRequest(
                id: try BatchID(name), edit: batchEdit, scheduling: scheduling, cap: bulk.cap),
            survey: survey, haveEdit: own != nil)
        let (report, record, deaths) = try await queueOptions.withQueue { queue, _ in
            let (report, entries) = try await sending.send(file, to: queue)
            if !json { print(Self.text(report)) }
            fflushStandardOutput()
            guard bulk.wait else { return (report, nil as BatchRecord?, nil as BatchDeaths?) }
            let record = try await sending.wait(for: entries, on: queue)
            return (report, record, try await BatchDeaths(of: record, on: queue))
        }
        if json {
            if let record { try printJSON(record) } else { try printJSON(report) }
        } else if let record {
            print("\(record.done) done, \(record.dead) dead, \(record.cancelled) cancelled")
        }
        deaths?.write()
        guard survey.refused.isEmpty, (record.map { $0.dead + $0.cancelled } ?? 0) == 0 else {
            throw ExitCode(1)
        }
    }

    /// Returns a batch name that depends only on the file and the flags, so that the same command can be repeated.
    private static func name(
        for file: JobFile, _ edit: Edit, _ scheduling: Scheduling
    ) throws -> String {
        var fields: [String: JSONValue] = ["file": .string(try file.digest()), "edit": edit.json]
        for (name, value) in scheduling.fields { fields[name] = .string(value) }
        return "edits-" + JSONValue.object(fields).digest.prefix(16)
    }

    private static func text(_ report: BulkEnqueue.Report) -> String {
        switch report.added {
        case report.jobs: "batch \(report.batch): \(counted(report.jobs, "job"))"
        case 0:
            "batch \(report.batch): nothing was sent; it has had \(counted(report.jobs, "job")) before"
        default:
            "batch \(report.batch): \(counted(report.jobs, "job")), \(report.added) of them new"
        }
    }
}

/// The flags for a file of jobs.
struct BulkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file of jobs, one per line; - is standard input.", valueName: "path"))
    var file: String?

    @Option(help: "The batch's name (default: made of the file's content).") var batch: String?

    @Option(
        help:
            "The maximum number of jobs of the batch that may be out of its stream at the same time."
    )
    var cap: Int?

    @Flag(
        help: """
            Wait until all have ended and name the first that died; end with 1 if some died, are stuck or were cancelled.
            """)
    var wait = false

    @Flag(
        help: ArgumentHelp(
            "Send nothing; print the number of jobs, and with --library an estimate of their cost.")
    )
    var dryRun = false

    @Option(Settings.library, before: "With --dry-run") var library: FlagValue?

    @Option(Settings.originals, before: "With --dry-run") var originals: FlagValue?

    @Flag(help: "With --dry-run: examine all photos instead of a sample.") var all = false

    /// The flags that were set beside `--file`.
    var given: [String] {
        [
            batch.map { _ in "--batch" }, cap.map { _ in "--cap" },
            dryRun ? "--dry-run" : nil, library.map { _ in "--library" },
            originals.map { _ in "--originals" }, all ? "--all" : nil,
        ].compactMap(\.self)
    }

    func check() throws {
        try (1...ContractLimits.batchJobsMax).check(cap, "--cap")
        guard dryRun || (library == nil && originals == nil && !all) else {
            throw ValidationError("--library, --originals and --all are for --dry-run.")
        }
    }
}
