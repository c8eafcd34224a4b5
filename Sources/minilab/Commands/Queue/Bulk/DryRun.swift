import Adjustments
import JobQueue
import Library
import Logging
import RenderProtocol
import Worker
import Operations

/// What a file of jobs would take; nothing is sent.
struct DryRun {
    let file: JobFile
    let survey: JobSurvey
    let edit: Edit
    let bulk: BulkOptions
    let resources: GivenSetting?

    /// Photos that are looked at when not all are.
    static let sampleMax = 200

    /// What came out.
    struct Report: Encodable {
        let jobs: Int
        let edits: Int
        /// Lines that name an asset again: their edits are made one after the other.
        let repeatedAssets: Int
        /// What looking at the photos gave, when there is a library.
        let photos: Photos?
    }

    /// What a look at the library gave.
    struct Photos: Encodable {
        /// Photos that were looked at; all other numbers are of these.
        var looked = 0
        /// Those that have this very edit already, or to which it does nothing.
        var unchanged = 0
        /// Those that get a version without a render.
        var withoutRender = 0
        /// Those that are rendered.
        var rendered = 0
        /// Those whose job would fail, and the first reasons.
        var failing = 0
        var reasons: [String] = []
        /// Pixels of those that are rendered.
        var pixels = 0
        /// Processor time of their renders, about: by lane, passes and format, as measured on one photo of 12 megapixels.
        var coreSeconds = 0.0
        /// Memory that the largest needs.
        var memoryBytes = 0

        fileprivate static let reasonsMax = 10
    }

    /// Looks, and prints.
    func run(_ options: QueueOptions, json: Bool) async throws {
        let photos = bulk.library == nil ? nil : try await look(options)
        let report = Report(
            jobs: survey.jobs, edits: survey.details?.edits ?? 0,
            repeatedAssets: survey.details?.repeatedAssets ?? 0, photos: photos)
        if json { return try printJSON(report) }
        print(block: report.text)
    }

    private func look(_ options: QueueOptions) async throws -> Photos {
        var reader = SettingsReader(
            try options.source([bulk.library, bulk.originals, resources].compactMap(\.self)))
        reader.passOverQueueSettings()
        let settings = WorkerSettings(&reader)
        let location = LibraryLocation(&reader)
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        let open = try await OpenStore.open(location, for: .looking, logger)
        do {
            let photos = try await OpenLibrary(
                library: open.library, settings: settings, logger: logger
            ).withPool { pool in
                try await look(
                    EditForecaster(library: open.library, pool: pool, settings: settings),
                    atATime: settings.slots)
            }
            await open.close()
            return photos
        } catch {
            await open.close()
            throw error
        }
    }

    private func look(_ forecaster: EditForecaster, atATime slots: Int) async throws -> Photos {
        var parser = MemberParser()
        let lines = file.lines()
        let step = bulk.all ? 1 : max(1, survey.jobs / Self.sampleMax)
        var photos = Photos()
        var index = 0
        return try await withThrowingTaskGroup(of: Look.self) { group in
            var running = 0
            while let line = try lines.next() {
                guard let parsed = try parser.parse(line.bytes, line: line.number) else { continue }
                defer { index += 1 }
                guard index % step == 0, bulk.all || photos.looked + running < Self.sampleMax else {
                    continue
                }
                if running == slots, let look = try await group.next() {
                    photos.count(look)
                    running -= 1
                }
                let edit =
                    try parsed.edit.map { text throws(Failure) in try Edit(json: text) }
                    ?? self.edit
                group.addTask { try await Look(forecaster, edit, parsed.asset) }
                running += 1
            }
            for try await look in group { photos.count(look) }
            return photos
        }
    }
}

/// What a look at one photo gave.
private enum Look: Sendable {
    case would(EditForecaster.Forecast)
    case fail(String)

    init(_ forecaster: EditForecaster, _ edit: Edit, _ asset: AssetPath) async throws {
        do {
            self = .would(try await forecaster.forecast(edit, of: asset))
        } catch let failure as Failure {
            self = .fail("\(asset): \(failure)")
        }
    }
}

extension DryRun.Photos {
    fileprivate mutating func count(_ look: Look) {
        looked += 1
        switch look {
        case .would(.unchanged): unchanged += 1
        case .would(.noRender): withoutRender += 1
        case .would(.render(let inspection)):
            rendered += 1
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
            return (lines + ["nothing was sent; --library says what they would take"])
                .joined(separator: "\n")
        }
        let isSample = photos.looked < jobs
        let scale = Double(jobs) / Double(max(1, photos.looked))
        lines.append(
            (isSample ? "of a sample of \(photos.looked): " : "")
                + "\(photos.rendered) to render, \(photos.unchanged) as they are to be already, "
                + "\(photos.withoutRender) without a render, \(photos.failing) would fail")
        lines += photos.reasons.map { "  \($0.printable)" }
        lines.append(
            "\(isSample ? "about " : "")\(decimal(Double(photos.pixels) * scale / 1e6)) megapixels, about "
                + "\(clock(Int((photos.coreSeconds * scale).rounded(.up)))) of one core, up to "
                + "\(megabytes(photos.memoryBytes)) MB for one render")
        return (lines + ["nothing was sent"]).joined(separator: "\n")
    }
}
