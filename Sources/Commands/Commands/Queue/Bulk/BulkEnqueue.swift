import Editing
import Edits
import JobQueue
import Library
import Logging
import Operations
import RenderPool
import RenderProtocol
import Telemetry
import Worker

/// The submission of a file of jobs as one batch.
///
/// Repeating it, after a crash of either side, adds only the missing jobs.
struct BulkEnqueue: Sendable {
    let batch: BatchRequest
    let survey: JobSurvey
    /// Whether a line without an edit has that of the command.
    let haveEdit: Bool

    /// The entries that open and seal a batch; nil where none was sent.
    struct Entries {
        var opening: String?
        var seal: String?
    }

    struct Report: Encodable {
        let batch: String
        let jobs: Int
        /// The jobs that were new to the batch.
        let added: Int
        let refused: RefusedLines<Failure>
        let jobsPerSecond: Double
    }

    /// Opens the batch, adds the jobs and seals it.
    func send(
        _ file: JobFile, to queue: JobQueue
    ) async throws -> (report: Report, entries: Entries) {
        guard try await checkWhatIsThere(queue) else {
            let report = Report(
                batch: batch.id.string, jobs: survey.jobs, added: 0, refused: survey.refused,
                jobsPerSecond: 0)
            return (report, Entries())
        }
        let opening = try await queue.open(batch)
        let clock = ContinuousClock()
        var added = 0
        let time = try await clock.measure { added = try await sendMembers(file, to: queue) }
        let seal = try await queue.seal(batch.id, jobs: survey.jobs, cost: survey.cost)
        let report = Report(
            batch: batch.id.string, jobs: survey.jobs, added: added, refused: survey.refused,
            jobsPerSecond: Double(survey.jobs) / (time / .seconds(1)))
        return (report, Entries(opening: opening, seal: seal))
    }

    /// Checks the existing batch, and throws if the queue would refuse the jobs.
    ///
    /// - Returns: false if the batch already has all its jobs.
    private func checkWhatIsThere(_ queue: JobQueue) async throws -> Bool {
        try await refusing {
            try await MemberSender.ask(
                batch.id, editedBy: batch.edit.json.canonical, on: queue)
        }
        guard let record = try await queue.record(of: batch.id), let sealed = record.sealed else {
            return true
        }
        if sealed != survey.jobs { throw refusal(.sealed(at: sealed)) }
        return record.admitted + record.lane < survey.jobs
    }

    private func sendMembers(_ file: JobFile, to queue: JobQueue) async throws -> Int {
        var lines = file.members(haveEdit: haveEdit)
        var sender = MemberSender(
            to: batch.id, editedBy: batch.edit.json.canonical, from: 0, on: queue)
        var progress = Progress(total: survey.jobs, done: 0)
        try await refusing {
            while let parsed = try lines.nextMember() {
                let before = sender.sent
                if try await sender.add(parsed) { progress.advance(to: before) }
            }
            try await sender.finish()
        }
        guard sender.sent == survey.jobs else {
            throw Failure(
                .ioFailure,
                "\(file.path) changed while it was read: it had \(survey.jobs) jobs, then \(sender.sent). Batch "
                    + "\(batch.id) is not sealed; cancel it and send the file again.")
        }
        progress.advance(to: sender.sent)
        return sender.added
    }

    /// Adds an explanation for people to an error of `body` that refuses members.
    private func refusing(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as MemberRefusal {
            throw refusal(error.answer, after: error.sent)
        }
    }

    /// Waits until all jobs of the batch have finished, and shows the progress.
    ///
    /// - Throws: a failure if the batch can never finish: it was refused, its record was dropped, or an entry that opens or
    ///   seals it was lost: another producer dropped it unread, or Redis lost its last second.
    func wait(for entries: Entries, on queue: JobQueue) async throws -> BatchRecord {
        var progress = Progress(total: survey.jobs, done: 0)
        var wasThere = false
        while true {
            let record = try await queue.record(of: batch.id)
            if let record {
                wasThere = true
                let slots = try await queue.workers().reduce(0) { $0 + $1.slots }
                progress.advance(
                    to: record.done + record.cancelled, failed: record.dead,
                    estimate: record.remainingTime(slots: slots))
                if record.isComplete { return record }
                if record.sealed == nil, let seal = entries.seal,
                    try await isLost(seal, on: queue, { $0?.sealed != nil })
                {
                    throw lost("seals")
                }
            } else {
                // A batch without a record is not admitted yet, was refused, or has ended so long ago that it is forgotten.
                try await refusing {
                    try await MemberSender.ask(
                        batch.id, editedBy: batch.edit.json.canonical, on: queue)
                }
                guard !wasThere else {
                    throw Failure(
                        .noSuchBatch,
                        "batch \(batch.id) has no record any more: Redis has lost it. Send the file again."
                    )
                }
                if let opening = entries.opening,
                    try await isLost(opening, on: queue, { $0 != nil })
                {
                    throw lost("opens")
                }
                progress.report()
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// Returns whether an entry has left the ingress stream without its effect on the record.
    private func isLost(
        _ entry: String, on queue: JobQueue, _ hasEffect: (BatchRecord?) -> Bool
    ) async throws -> Bool {
        if try await queue.isIncoming(entry: entry) { return false }
        return !hasEffect(try await queue.record(of: batch.id))
    }

    private func lost(_ what: String) -> Failure {
        Failure(
            .noSuchBatch,
            "the entry that \(what) batch \(batch.id) was lost before a worker read it: another producer dropped it "
                + "(XADD with MAXLEN or MINID, XTRIM), or Redis lost its last second. Run the same command again."
        )
    }
}

extension BulkEnqueue {
    /// Returns the reason for which the jobs of the file could never run.
    ///
    /// - Parameter sent: the number of the file's jobs that were sent before.
    func refusal(_ answer: JobQueue.Addition, after sent: Int = 0) -> Failure {
        let advice = "Nothing was added; give another name with --batch."
        switch answer {
        case .added(let count):
            preconditionFailure("\(count) members were added, which is no refusal")
        case .gap(let had):
            return Failure(
                .internalError,
                "batch \(batch.id) has had only \(had) jobs where \(sent) were sent: its stream was dropped, or "
                    + "another producer adds to it. Send the file again.")
        case .unnumbered(let had):
            return Failure(
                .invalidValue,
                "batch \(batch.id) takes no more jobs with numbers: another producer sent its stream an XADD with an id of its own. Its "
                    + "\(had) entries become jobs; seal it at \(had), and send the rest of the file in another batch (--batch)."
            )
        case .cancelled:
            return Failure(
                .invalidValue, "batch \(batch.id) was cancelled and takes no more jobs. \(advice)")
        case .sealed(let jobs):
            return Failure(
                .invalidValue,
                "batch \(batch.id) is sealed at \(jobs) jobs, and this file has \(survey.jobs). \(advice)"
            )
        case .notOpen:
            preconditionFailure("the command opens its batch before it adds members")
        case .overBytes(let stored, let most):
            return Failure(
                .invalidValue,
                "the jobs of this tenant take \(stored) bytes of Redis, and \(most) are allowed. \(advice)"
            )
        case .otherEdit:
            return Failure(
                .invalidValue, "batch \(batch.id) already exists with a different edit. \(advice)")
        case .nameUsed(let end):
            let until = end.map { ", at the latest until \(date($0))" } ?? ""
            return Failure(
                .invalidValue,
                "a batch \(batch.id) has ended, and its name is remembered\(until). \(advice)")
        }
    }
}

/// The estimate of the work of a file of jobs. Nothing is sent.
struct DryRun {
    let file: JobFile
    let survey: JobSurvey
    let edit: Edit
    let bulk: BulkOptions
    let resources: FlagValue?
    let haveEdit: Bool

    /// The photos that are inspected unless all are requested.
    static let sampleMax = 200
    /// The originals whose bytes are compared to find the smallest and the largest.
    static let measuredMax = 1_000_000

    struct Report: Encodable {
        let jobs: Int
        let edits: Int
        /// Lines that name an asset again. Their edits run one after the other.
        let repeatedAssets: Int
        let refused: RefusedLines<Failure>
        /// The results of inspecting the photos, if a library was named.
        let photos: Photos?
    }

    struct Photos: Encodable {
        /// The inspected photos; all other numbers count these only.
        var looked = 0
        /// Photos that already have this edit, or that it does not change.
        var unchanged = 0
        /// Photos that get a version without a render.
        var withoutRender = 0
        var rendered = 0
        /// Photos whose job would fail, and the first reasons.
        var failing = 0
        var reasons: [String] = []
        /// Pixels of the photos that are rendered.
        var pixels = 0
        /// Approximate processor time of the renders: by lane, passes and format, as measured on one photo of 12
        /// megapixels.
        var coreSeconds = 0.0
        /// The memory of the largest render.
        var memoryBytes = 0
        /// The photos with the fewest and the most pixels among those that would be rendered.
        var smallest: Sized?
        var largest: Sized?

        struct Sized: Encodable {
            let asset: AssetPath
            /// Upright, in pixels.
            let size: PixelSize
        }

        fileprivate static let reasonsMax = 10
    }

    /// Inspects the file and the photos, and prints the report.
    func run(_ options: QueueOptions, json: Bool) async throws {
        let photos = bulk.library == nil ? nil : try await inspect(options)
        let report = Report(
            jobs: survey.jobs, edits: survey.details?.edits ?? 0,
            repeatedAssets: survey.details?.repeatedAssets ?? 0, refused: survey.refused,
            photos: photos)
        if json { return try printJSON(report) }
        print(block: report.text)
    }

    private func inspect(_ options: QueueOptions) async throws -> Photos {
        var reader = SettingsReader(
            try options.source([bulk.library, bulk.originals, resources].compactMap(\.self)))
        reader.passOverQueueSettings()
        let settings = WorkerSettings(&reader)
        let location = LibraryLocation(&reader)
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        let open = try await OpenStore.open(location, for: .reading, logger)
        do {
            let photos = try await OpenLibrary(
                library: open.library, settings: settings, logger: logger
            ).withPool { pool in
                try await inspect(
                    EditForecaster(library: open.library, pool: pool, settings: settings.editing),
                    open.library, atATime: settings.rendering.slots)
            }
            await open.close()
            return photos
        } catch {
            await open.close()
            throw error
        }
    }

    /// Returns the numbers of the lines whose originals have the fewest and the most bytes: about those with the fewest and the
    /// most pixels, at which an edit with relative values fails first. None of a bucket, where each would be a request.
    private func extremes(in library: any LibraryReader) async throws -> Set<Int> {
        guard !library.isElsewhere else { return [] }
        var lines = file.members(haveEdit: haveEdit)
        var (index, least, most) = (0, (line: 0, bytes: Int.max), (line: 0, bytes: -1))
        while index < Self.measuredMax, let parsed = try lines.nextMember() {
            defer { index += 1 }
            guard let bytes = try await library.info(of: .original(parsed.asset)).bytes else {
                continue
            }
            if bytes < least.bytes { least = (index, bytes) }
            if bytes > most.bytes { most = (index, bytes) }
        }
        return [least.line, most.line]
    }

    private func inspect(
        _ forecaster: EditForecaster, _ library: any LibraryReader, atATime slots: Int
    ) async throws -> Photos {
        var lines = file.members(haveEdit: haveEdit)
        let step = bulk.all ? 1 : max(1, survey.jobs / Self.sampleMax)
        let extremes = step == 1 ? [] : try await extremes(in: library)
        var photos = Photos()
        var index = 0
        return try await withThrowingTaskGroup(of: PhotoForecast.self) { group in
            var running = 0
            while let parsed = try lines.nextMember() {
                defer { index += 1 }
                let isOfSample =
                    index % step == 0 && (bulk.all || photos.looked + running < Self.sampleMax)
                guard isOfSample || extremes.contains(index) else { continue }
                if running == slots, let forecast = try await group.next() {
                    photos.count(forecast)
                    running -= 1
                }
                var edit =
                    try parsed.edit.map { text throws(Failure) in try Edit(json: text) }
                    ?? self.edit
                edit.fields = parsed.fields
                group.addTask { [edit] in try await PhotoForecast(forecaster, edit, parsed.asset) }
                running += 1
            }
            for try await forecast in group { photos.count(forecast) }
            return photos
        }
    }
}

private enum PhotoForecast: Sendable {
    case would(EditForecaster.Forecast, AssetPath)
    case fail(String)

    init(_ forecaster: EditForecaster, _ edit: Edit, _ asset: AssetPath) async throws {
        do {
            self = .would(try await forecaster.forecast(edit, of: asset), asset)
        } catch let failure as Failure {
            self = .fail("\(asset): \(failure)")
        }
    }
}

extension DryRun.Photos {
    fileprivate mutating func count(_ forecast: PhotoForecast) {
        looked += 1
        switch forecast {
        case .would(.unchanged, _): unchanged += 1
        case .would(.noRender, _): withoutRender += 1
        case .would(.render(let inspection), let asset):
            rendered += 1
            let photo = Sized(asset: asset, size: inspection.header.uprightSize)
            if photo.size.pixels < smallest?.size.pixels ?? Int.max { smallest = photo }
            if photo.size.pixels > largest?.size.pixels ?? 0 { largest = photo }
            pixels += inspection.header.storedSize.pixels
            coreSeconds += inspection.plan.estimate.cpuSeconds
            memoryBytes = max(memoryBytes, inspection.memoryBytes)
        case .fail(let reason):
            failing += 1
            if reasons.count < Self.reasonsMax { reasons.append(reason) }
        }
    }
}

extension DryRun.Report {
    fileprivate var text: String {
        var lines = [
            "\(counted(jobs, "job")), \(counted(edits, "different edit"))"
                + (repeatedAssets > 0
                    ? "; \(counted(repeatedAssets, "line")) name an asset again" : "")
        ]
        guard let photos else {
            return (lines + ["nothing was sent; use --library to estimate the cost"])
                .joined(separator: "\n")
        }
        let isSample = photos.looked < jobs
        let scale = Double(jobs) / Double(max(1, photos.looked))
        lines.append(
            (isSample ? "of a sample of \(photos.looked): " : "")
                + "\(photos.rendered) to render, \(photos.unchanged) as they are to be already, "
                + "\(photos.withoutRender) without a render, \(photos.failing) would fail")
        lines += photos.reasons.map { "  \($0.printable)" }
        if let smallest = photos.smallest, let largest = photos.largest {
            lines.append(
                "from \(smallest.size) pixels (\(smallest.asset.string.printable)) to \(largest.size) "
                    + "(\(largest.asset.string.printable))")
        }
        lines.append(
            "\(isSample ? "about " : "")\(decimal(Double(photos.pixels) * scale / 1e6)) megapixels, about "
                + "\(clock(Int((photos.coreSeconds * scale).rounded(.up)))) of one core, up to "
                + "\(megabytes(photos.memoryBytes)) MB for one render")
        return (lines + ["nothing was sent"]).joined(separator: "\n")
    }
}
