import ArgumentParser
import Edits
import FoundationEssentials
import JobQueue
import Library
import Logging
import Operations
import Redis
import RenderPool
import RenderProtocol
import ServiceLifecycle
import SystemPackage
import Telemetry
import UnixSignals
import Worker

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs a file of jobs here, with nothing to set up.",
        discussion: """
            Starts a private Redis and a worker, enqueues the jobs as any service would, and shows \
            what came out. Killed at any moment and started again, it does the rest and nothing \
            twice; jobs that failed before are retried. A line that is no job is named, and the others run. \
            Ends with 0 only if every line is done.

            With --library s3://… the originals must be in that bucket, and results go there.

            Example:
              minilab run jobs/quickstart.ndjson
            """)

    @Argument(help: "The jobs: one JSON object per line (jobs/job.schema.json).")
    var manifest: String
    @Option(help: "Where everything is kept: queue, library, logs.") var state = "minilab-run"
    @Option(Settings.library, default: "STATE/library") var library: FlagValue?
    @Option(Settings.originals, default: "the manifest's folder") var originals: FlagValue?
    @Option(Settings.resources) var resources: FlagValue?
    @Option(Settings.slots) var slots: FlagValue?
    @Option(Settings.memory) var memory: FlagValue?
    @Option(Settings.renderTimeout) var renderTimeout: FlagValue?
    @OptionGroup var limits: LimitOptions
    @Option(help: "trace, debug, info, notice, warning or error, for STATE/minilab.log.")
    var logLevel = "info"
    @Flag(help: "Print the report as JSON.") var json = false

    /// A killed run may be continued much later, so its queue keeps records for a year.
    private static let keepDone: Duration = .seconds(365 * 86400)
    /// No other worker uses this queue, so only a killed run leaves leases to expire. With a short lease, the next run
    /// waits only briefly.
    private static let lease: Duration = .seconds(5)
    private static let doneRecordsMax = 10_000_000

    func run() async throws {
        let manifest = try Manifest(path: manifest)
        for line in manifest.refused.sentences(atMost: Manifest.problemsMax) {
            StandardError.write("\(self.manifest): \(line)")
        }
        let state = try StateFolder(FilePath(state))
        let settings = try workerSettings()
        let logger = try FileLogHandler.logger(
            writingTo: state.log, level: logLevel, metadataProvider: .job)
        let store = try await OpenStore.open(try place(in: state), for: .creating, logger)
        let redis = try await EmbeddedRedis.start(in: state, logger)
        let connection = QueueConnection(redis: redis.url)
        let reading = RedisClient(connection.redis, logger: logger)
        let result: Result<RunReport?, any Error>
        do {
            result = .success(
                try await work(
                    manifest,
                    RunParts(
                        state: state, connection: connection, reading: reading, store: store),
                    settings, logger))
        } catch {
            result = .failure(error)
        }
        await reading.close()
        await redis.stop()
        await store.close()
        let report = try result.get()
        guard let report else {
            StandardError.write("stopped; run the same command to continue from here")
            throw ExitCode(130)
        }
        if json { try printJSON(report) } else { print(block: report.text) }
        guard report.failed.isEmpty, report.refused.isEmpty else { throw ExitCode(1) }
    }

    private struct RunParts {
        let state: StateFolder
        let connection: QueueConnection
        /// A separate connection for reading events, because these reads block.
        let reading: RedisClient
        let store: OpenStore
    }

    private func location(in state: StateFolder) throws -> LibraryLocation {
        let isBucket = library?.text.hasPrefix("s3://") == true
        let manifestFolder = FilePath(manifest).absolute.removingLastComponent().string
        let here = isBucket ? nil : FlagValue(Settings.originals, manifestFolder)
        var reader = SettingsReader(
            try SettingsSource(
                [
                    library ?? FlagValue(Settings.library, state.library.string),
                    FlagValue(Settings.scratch, state.scratch.string), originals ?? here,
                ].compactMap(\.self)))
        let location = LibraryLocation(&reader)
        try reader.finish()
        return location
    }

    /// The library's location. A folder that the command names may be the mount point of a disk: it becomes a library only
    /// if it does not exist yet, or has originals or versions.
    private func place(in state: StateFolder) throws -> LibraryLocation {
        let location = try location(in: state)
        if case .folder(let root, _) = location, library != nil,
            FileManager.default.fileExists(atPath: root.string),
            try LibraryFolder.contents(of: root) == .nothing
        {
            throw LibraryPlace.noLibrary(at: root.string)
        }
        return location
    }

    private func workerSettings() throws -> WorkerSettings {
        let given = [resources, slots, memory, renderTimeout].compactMap(\.self)
        var reader = SettingsReader(try SettingsSource(given + limits.flagValues))
        var settings = WorkerSettings(&reader)
        try reader.finish()
        try settings.rendering.boundMemory()
        return settings
    }

    /// Works until all jobs of the manifest have ended. Returns nil if the run was interrupted.
    private func work(
        _ manifest: Manifest, _ parts: RunParts, _ settings: WorkerSettings, _ logger: Logger
    ) async throws -> RunReport? {
        var queueSettings = QueueSettings()
        queueSettings.lease = Self.lease
        queueSettings.keepDone = Self.keepDone
        queueSettings.doneRecordsMax = Self.doneRecordsMax
        queueSettings.seenMax = Self.doneRecordsMax
        queueSettings.reservedMax = Self.doneRecordsMax
        // The run itself waits for its jobs: dead ones stay where it finds them, and where the next run replays them.
        let worker = WorkerParts(
            parts.connection, queueSettings, settings, library: parts.store, keepsOfQueue: false,
            logger)
        // The worker of an earlier run does not come back: a job that this one cannot do would wait for it.
        try await worker.queue.forgetStoppedWorkers()

        var run = try await Run.start(manifest, queue: worker.queue) {
            try await EventReader(
                queue: parts.connection.name, redis: parts.reading, afterNewest: ())
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: worker.worker, successTerminationBehavior: .gracefullyShutdownGroup
                    )
                ],
                gracefulShutdownSignals: [.sigint, .sigterm], logger: logger))
        let stopped = StopSign()
        let working = Task {
            defer { stopped.raise() }
            try await group.run()
        }
        let finished: Bool
        do {
            finished = try await run.follow(until: stopped)
        } catch {
            await group.triggerGracefulShutdown()
            throw error
        }
        var sheet: String?
        if finished {
            sheet = try await draw(run, parts, settings, logger)
            await group.triggerGracefulShutdown()
        }
        try await working.value
        await worker.close()
        guard finished else { return nil }
        return RunReport(
            completed: run.completed, rendered: run.rendered, unchanged: run.unchanged,
            superseded: run.superseded, failed: run.failed,
            cancelled: run.cancelled, refused: manifest.refused,
            library: parts.store.name,
            contactSheet: sheet)
    }

    /// The most before-and-after pairs on the sheet.
    private static let sheetPairsMax = 24
    /// The most characters below a picture: two lines.
    private static let labelMax = 120

    /// Returns a text as it stands below a picture; nil if there is none.
    private static func label(_ text: String) -> String? {
        guard !text.isEmpty else { return nil }
        return text.count > labelMax ? "\(text.prefix(labelMax))…".printable : text.printable
    }

    private func draw(
        _ run: Run, _ parts: RunParts, _ settings: WorkerSettings, _ logger: Logger
    ) async throws -> String? {
        let jobs = run.completed.filter { $0.render != nil }.prefix(Self.sheetPairsMax)
        guard !jobs.isEmpty else { return nil }
        let library = parts.store.library
        var cells: [SheetCell] = []
        for job in jobs {
            let asset = try AssetPath(job.asset)
            let version: Provenance
            do throws(Failure) {
                version = try await library.version(job.version.id, of: asset)
            } catch {
                guard error.code == .missingVersion else { throw error }
                continue  // a draft that a later job has published or discarded
            }
            let shown = try library.shownFile(of: version, asset)
            cells.append(
                SheetCell(
                    source: try await library.open(.original(asset)),
                    label: Self.label(job.asset)))
            cells.append(
                SheetCell(
                    source: try await library.open(shown), label: Self.label(RunReport.what(job))))
        }
        guard !cells.isEmpty else { return nil }
        // About twice as many rows as columns of pairs, since a pair is twice as wide as high.
        let columns = Int((Double(cells.count / 2) / 2).squareRoot().rounded(.up))
        let sheet = parts.state.contactSheet
        try await drawContactSheet(
            cells, across: 2 * columns, side: 480, to: sheet.string, settings, logger)
        return sheet.string
    }
}

extension QueueConnection {
    init(redis: RedisURL) {
        self.init(
            name: .photos, redis: RedisConfiguration(url: redis, name: "minilab-run"))
    }
}

struct RunReport: Encodable {
    let completed: [JobEvent.Completed]
    let rendered: [JobEvent.Rendered]
    let unchanged: [JobEvent.Unchanged]
    let superseded: [JobEvent.Superseded]
    let failed: [JobEvent.Failed]
    let cancelled: [JobEvent.Cancelled]
    let refused: RefusedLines<Failure>
    let library: String
    let contactSheet: String?

    /// The most rows of the table; a longer run shows its failures and the totals.
    static let rowsMax = 60

    var text: String {
        var lines: [String] = []
        if completed.count <= Self.rowsMax {
            var table = TextTable(
                ["asset", "filters", "pixels", "ms", "peak MB", "where"], rightAligned: [2, 3, 4])
            for job in completed {
                table.add([
                    job.asset, Self.what(job),
                    job.render.map { "\($0.size)" } ?? "",
                    job.reusedFrom == nil ? "\(Int(job.timings.renderMilliseconds))" : "reused",
                    job.reusedFrom == nil ? megabytes(job.peakMemoryBytes) : "",
                    job.version.path,
                ])
            }
            lines.append(table.text)
            lines.append("")
        }
        func tell<Job>(_ jobs: [Job], _ line: (Job) -> String) {
            lines += jobs.prefix(Self.rowsMax).map { line($0).printable }
            if jobs.count > Self.rowsMax { lines.append("… and \(jobs.count - Self.rowsMax) more") }
        }
        tell(completed.filter { $0.render?.motionVideo?.reason != nil }) {
            "without its video: \($0.asset) (job \($0.job)): \($0.render?.motionVideo?.reason ?? "")"
        }
        tell(rendered) {
            "renditions: \($0.asset) (job \($0.job)): \($0.renditions.keys.sorted().joined(separator: ", "))"
        }
        tell(unchanged) { "unchanged: \($0.asset) (job \($0.job)): \($0.reason)" }
        tell(superseded) { "superseded: \($0.asset) (job \($0.job)): \($0.reason)" }
        tell(cancelled) { "cancelled: \($0.asset) (job \($0.job)): \($0.reason)" }
        tell(failed) {
            "failed: \($0.asset) (job \($0.job)): \($0.error.code.rawValue): \($0.error.message)"
        }
        lines += refused.sentences(atMost: Self.rowsMax).map { "not run: \($0)".printable }
        lines.append(
            "\(completed.count + rendered.count) done, "
                + (unchanged.isEmpty ? "" : "\(unchanged.count) unchanged, ")
                + (superseded.isEmpty ? "" : "\(superseded.count) superseded, ")
                + (cancelled.isEmpty ? "" : "\(cancelled.count) cancelled, ")
                + (refused.isEmpty ? "" : "\(refused.count) not run, ")
                + "\(failed.count) failed. Results: \(library)")
        if let contactSheet { lines.append("Before and after: \(contactSheet)") }
        return lines.joined(separator: "\n")
    }

    /// Returns what a job did, in a line: `SepiaTone 0.8`.
    static func what(_ job: JobEvent.Completed) -> String {
        let filters = job.filters.map { $0.map(short).joined(separator: " + ") } ?? ""
        if job.mode == .replace { return filters }
        return filters.isEmpty ? job.mode.rawValue : "\(job.mode.rawValue): \(filters)"
    }

    /// Returns the filter in short form: `SepiaTone 0.8`.
    private static func short(_ filter: Filter) -> String {
        let name = filter.name.hasPrefix("CI") ? String(filter.name.dropFirst(2)) : filter.name
        // Only numbers are shown, because other parameters are too long for the line.
        let values = filter.definition.parameters.compactMap { parameter -> String? in
            guard let number = filter.parameters[parameter.name]?.number else { return nil }
            let rounded = (number * 100).rounded() / 100
            return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
        }
        return ([name] + values).joined(separator: " ")
    }
}
