import Edits
import Editors
import Files
import Foundation
import Logging
import MinilabTesting
import RenderProtocol
import Synchronization
import SystemPackage

@testable import Editing
@testable import Library
@testable import RenderPool

/// A library, real render children, and edits without a queue.
final class Workbench: Sendable {
    let folder: TemporaryFolder
    /// A folder for renders that are thrown away.
    let scratch: FilePath
    let library: LibraryFolder
    let settings: EditingSettings
    let pool: RenderPool
    let editors: EditorRegistry
    private let fence = Mutex(1000)
    private let commits = Mutex<[StagedVersion: VersionName]>([:])

    static let logger = Logger(label: "test")

    /// - Parameters:
    ///   - inMemory: whether files need not last, where the machine has such a place.
    ///   - memory: what the children may use together, in bytes; nil: all.
    ///   - metrics: count what the children do.
    init(
        editors: EditorRegistry? = nil, inMemory: Bool = false, memory: Int? = nil,
        metrics: RenderMetrics = RenderMetrics()
    ) throws {
        ignoreBrokenPipes()
        folder = try TemporaryFolder(inMemory: inMemory)
        library = try LibraryFolder(root: FilePath(folder.path).appending("library"))
        self.editors = try editors ?? .standard()
        var settings = EditingSettings()
        settings.editors = self.editors
        self.settings = settings
        scratch = FilePath(folder.path).appending("scratch")
        try FileManager.default.createDirectory(
            atPath: scratch.string, withIntermediateDirectories: false)
        var rendering = RenderSettings(
            executable: FilePath(try Programs.path(of: "minilab-render")))
        rendering.photosPerChild = 100_000
        rendering.memoryMax = memory
        if memory != nil { try rendering.boundMemory() }
        pool = RenderPool(settings: rendering, logger: Self.logger, metrics: metrics)
    }

    /// The folder of resources; there once something is put into it.
    var resources: String { folder.path + "/resources" }

    /// Puts a file among the resources.
    ///
    /// - Returns: its digest.
    func putResource(_ data: Data) throws -> String {
        try FileManager.default.createDirectory(
            atPath: resources, withIntermediateDirectories: true)
        let hex = SHA256.hash(data: data).hex
        try data.write(to: URL(filePath: "\(resources)/\(hex)"))
        return "sha256:" + hex
    }

    /// Puts an original into the library.
    @discardableResult
    func put(_ name: String, _ data: Data) throws -> AssetPath {
        let asset = try AssetPath(name)
        let path = library.originals.pushing(FilePath(name))
        try Data(data).write(to: URL(filePath: path.string))
        return asset
    }

    /// Does an edit as a worker would.
    ///
    /// - Parameter editors: other than the workbench's.
    func edit(
        _ asset: AssetPath, _ json: String, editors: EditorRegistry? = nil
    ) async throws -> AssetEditor.Outcome {
        let edit = try Edit(json: json)
        while true {
            if let outcome = try await run(edit, asset, job(), editors: editors) { return outcome }
        }
    }

    /// One attempt at an edit: make it, commit it, publish it.
    ///
    /// - Parameters:
    ///   - faults: where the process crashes.
    ///   - reuseWait: as ``AssetEditor/reuseWait``.
    ///   - sharesAmongTenants: as ``AssetEditor/sharesAmongTenants``.
    /// - Returns: nil when another edit came in between.
    @discardableResult
    func run(
        _ edit: Edit, _ asset: AssetPath, _ job: AssetEditor.Job, editors: EditorRegistry? = nil,
        faults: FaultInjection? = nil, reuseWait: Duration? = .seconds(300),
        sharesAmongTenants: Bool = false
    ) async throws -> AssetEditor.Outcome? {
        let library = try LibraryFolder(root: self.library.root, faults: faults)
        let editor = AssetEditor(
            library: library, pool: pool, editors: editors ?? self.editors,
            limits: RenderLimits(), resources: resources, reuseWait: reuseWait,
            sharesAmongTenants: sharesAmongTenants)
        let outcome = try await editor.make(edit, of: asset, job)
        guard case .made(let version, _) = outcome, let name = VersionName(version.version) else {
            return outcome
        }
        commits.withLock { $0[job.staged] = name }
        switch try await library.publish(name, of: asset, from: job.staged) {
        case .published, .alreadyPublished: return outcome
        case .publishedBefore, .conflict, .lost:
            try library.staging.discard(job.staged)
            return nil
        }
    }

    /// The version that a job committed before its worker crashed, as Redis would know it.
    func committed(_ job: AssetEditor.Job) -> (VersionName, StagedVersion)? {
        commits.withLock { $0[job.staged] }.map { ($0, job.staged) }
    }

    /// A hold of a job.
    ///
    /// - Parameters:
    ///   - name: nil for one of its own.
    ///   - arrival: when the job arrived, in µs; nil when nobody knows.
    func job(
        _ name: String? = nil, queue: String = "photos", generation: Int = 1, arrival: Int? = nil
    ) -> AssetEditor.Job {
        let fence = fence.withLock { fence in
            fence += 1
            return fence
        }
        return AssetEditor.Job(
            staged: StagedVersion(queue: queue, job: name ?? "job-\(fence)", fence: "\(fence)"),
            author: Provenance.Author(
                queue: queue, job: name ?? "job-\(fence)", generation: generation, attempt: 1,
                worker: "test",
                at: "2026-01-01T00:00:00Z", arrival: arrival), borrower: Borrower(.operator))
    }

    /// What an asset shows.
    func current(_ asset: AssetPath) async throws -> Provenance? {
        try await library.state(of: asset).current
    }

    /// The bytes that readers see as the current render.
    func shown(_ asset: AssetPath) async throws -> Data {
        guard let current = try await current(asset), let content = current.content else {
            return try Data(contentsOf: URL(filePath: library.original(of: asset).string))
        }
        let folder = library.folder(of: asset).folder(of: current)
        return try Data(
            contentsOf: URL(filePath: folder.pushing(FilePath(content.render.name)).string))
    }
}
