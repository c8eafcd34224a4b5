import Edits
import Editing
import JobQueue
import Library
import Logging
import RenderPool
import RenderProtocol
import Worker
import Operations

/// The estimate of the work of a file of jobs. Nothing is sent.
struct DryRun {
    let file: JobFile
    let survey: JobSurvey
    let edit: Edit
    let bulk: BulkOptions
    let resources: FlagValue?
    /// Whether a line without an edit has that of the command.
    let haveEdit: Bool

    /// The photos that are inspected unless all are requested.
    static let sampleMax = 200

    /// The result of the estimate.
    struct Report: Encodable {
        let jobs: Int
        let edits: Int
        /// Lines that name an asset again. Their edits run one after the other.
        let repeatedAssets: Int
        /// The lines that are no jobs.
        let refused: RefusedLines
        /// The results of inspecting the photos, if a library was named.
        let photos: Photos?
    }

    /// The results of inspecting the photos of the library.
    struct Photos: Encodable {
        /// The inspected photos; all other numbers count these only.
        var looked = 0
        /// Photos that already have this edit, or that it does not change.
        var unchanged = 0
        /// Photos that get a version without a render.
        var withoutRender = 0
        /// Photos that are rendered.
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
                    atATime: settings.rendering.slots)
            }
            await open.close()
            return photos
        } catch {
            await open.close()
            throw error
        }
    }

    private func inspect(_ forecaster: EditForecaster, atATime slots: Int) async throws -> Photos {
        var lines = file.members(haveEdit: haveEdit)
        let step = bulk.all ? 1 : max(1, survey.jobs / Self.sampleMax)
        var photos = Photos()
        var index = 0
        return try await withThrowingTaskGroup(of: PhotoForecast.self) { group in
            var running = 0
            while let parsed = try lines.nextMember() {
                defer { index += 1 }
                guard index % step == 0, bulk.all || photos.looked + running < Self.sampleMax else {
                    continue
                }
                if running == slots, let forecast = try await group.next() {
                    photos.count(forecast)
                    running -= 1
                }
                let edit =
                    try parsed.edit.map { text throws(Failure) in try Edit(json: text) }
                    ?? self.edit
                group.addTask { try await PhotoForecast(forecaster, edit, parsed.asset) }
                running += 1
            }
            for try await forecast in group { photos.count(forecast) }
            return photos
        }
    }
}

/// The result of inspecting one photo.
private enum PhotoForecast: Sendable {
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
    fileprivate mutating func count(_ forecast: PhotoForecast) {
        looked += 1
        switch forecast {
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
        lines.append(
            "\(isSample ? "about " : "")\(decimal(Double(photos.pixels) * scale / 1e6)) megapixels, about "
                + "\(clock(Int((photos.coreSeconds * scale).rounded(.up)))) of one core, up to "
                + "\(megabytes(photos.memoryBytes)) MB for one render")
        return (lines + ["nothing was sent"]).joined(separator: "\n")
    }
}
