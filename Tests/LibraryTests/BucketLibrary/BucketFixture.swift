import Edits
import BlobStore
import Editors
import Files
import FoundationEssentials
import Library
import MinilabTesting
import Synchronization
import SystemPackage

@testable import BucketLibrary

/// A library in a bucket in memory, and workers on machines of their own.
struct BucketFixture {
    let store: any BlobStore
    let memory: MemoryBlobStore
    let library: BucketLibrary
    let asset: AssetPath
    private let folder: TemporaryFolder

    /// The SHA-256 of the original.
    static let original = "original"

    init(
        asset: String = "2024/IMG_0001.JPG", memory: MemoryBlobStore = MemoryBlobStore()
    ) throws {
        self.memory = memory
        store = memory
        self.asset = try AssetPath(asset)
        try memory.set(Self.original, at: "originals/\(asset)")
        folder = try TemporaryFolder(inMemory: true)
        library = try Self.library(memory, folder, memory: memory)
    }

    /// A library in any store, which has the original.
    ///
    /// - Parameter clock: the store whose clock counts; nil for the machine's own.
    init(store: any BlobStore, asset: String, clock: MemoryBlobStore? = nil) throws {
        self.store = store
        memory = clock ?? MemoryBlobStore()
        self.asset = try AssetPath(asset)
        folder = try TemporaryFolder(inMemory: true)
        library = try Self.library(store, folder, memory: clock)
    }

    private init(
        _ other: BucketFixture, _ asset: AssetPath,
        _ change: (inout BucketLibrary.Settings) -> Void
    ) throws {
        (store, memory) = (other.store, other.memory)
        self.asset = asset
        folder = try TemporaryFolder(inMemory: true)
        library = try Self.library(
            store, folder, memory: store is MemoryBlobStore ? other.memory : nil, change)
    }

    private static func library(
        _ store: any BlobStore, _ folder: TemporaryFolder, memory: MemoryBlobStore?,
        _ change: (inout BucketLibrary.Settings) -> Void = { _ in }
    ) throws -> BucketLibrary {
        var settings = BucketLibrary.Settings(name: "s3://photos/lib", cacheBytesMax: 64 << 20)
        if let memory {
            settings.now = { Date(timeIntervalSince1970: Double(memory.now)) }
        }
        change(&settings)
        return try BucketLibrary(
            store: store, originals: store, scratch: FilePath(folder.path), settings)
    }

    /// Another machine, whose scratch folder is empty.
    func anotherMachine(
        _ change: (inout BucketLibrary.Settings) -> Void = { _ in }
    ) throws -> BucketFixture { try BucketFixture(self, asset, change) }

    /// Another asset of the same library, whose original is the same.
    func anotherAsset(
        _ path: String, _ change: (inout BucketLibrary.Settings) -> Void = { _ in }
    ) async throws -> BucketFixture {
        try await store.put(BlobKey("originals/\(path)"), Array(Self.original.utf8))
        return try BucketFixture(self, AssetPath(path), change)
    }

    var headKey: String { "current/\(asset)" }

    func fileKey(_ name: VersionName, _ file: String = "IMG_0001.jpg") -> String {
        "edits/\(asset)/versions/\(name)/\(file)"
    }

    /// Stages and seals a version as a worker does after its render.
    func seal(
        _ name: VersionName, on parent: VersionName?, text: String = "pixels",
        isDraft: Bool = false, publishing draft: VersionName? = nil, showing: VersionName? = nil,
        reusing: RenderedPhoto? = nil, key: RenderKey? = nil, job: String? = nil,
        arrival: Int? = nil, edit: String? = nil, mode: Edit.Name? = nil,
        at time: String = "2026-05-20T00:00:00Z"
    ) async throws -> StagedVersion {
        let staged = StagedVersion(queue: "photos", job: job ?? "job-\(name)", fence: name.fence)
        let state = try await library.state(of: asset)
        let folder =
            if reusing == nil { try library.staging.begin(staged) } else {
                library.staging.folder(of: staged)
            }
        let content: Content?
        if let shown = showing ?? draft {
            let from: Provenance?
            if state.draft?.version == shown.description {
                from = state.draft
            } else {
                from = try await library.provenance(of: shown, asset)
            }
            guard let from else { throw Failure(.missingVersion, "there is no \(shown)") }
            for file in from.content?.fileNames ?? [] {
                try await library.link(StoredFile(file, of: from, asset), as: file, into: staged)
            }
            content = from.content
        } else {
            let recipe = try Recipe(filters: [Filter("CISepiaTone", ["intensity": 0.8])])
            if reusing == nil { try write(text, at: folder.appending("IMG_0001.jpg")) }
            let adjustment = try library.staging.write(
                AAESidecar(
                    AdjustmentData(recipe), on: .original,
                    timestamp: Date(timeIntervalSince1970: 0)), as: "IMG_0001.AAE", into: staged)
            content = Content(
                source: Content.Input(
                    sha256: BlobDigest(of: Self.original.utf8).hex, format: "jpeg",
                    size: PixelSize(width: 4, height: 3), orientation: 6),
                base: nil, adjustment: adjustment, opened: nil, recipe: recipe, editDigest: "00",
                reusedFrom: reusing?.reusedFrom,
                rendering: reusing?.rendering
                    ?? Content.Rendering(
                        by: RenderOrigin(engine: "test/1"), key: key?.hex, at: time, plan: [],
                        wallMilliseconds: 1.5,
                        cpuMilliseconds: 1.25, peakMemoryBytes: 1 << 20),
                render: reusing?.render
                    ?? Content.Image(
                        name: "IMG_0001.jpg",
                        MadeFile(
                            mediaType: "image/jpeg",
                            size: PixelSize(width: 3, height: 4), bytes: text.utf8.count,
                            sha256: BlobDigest(of: text.utf8).hex)))
        }
        let before = state.current?.timeline ?? .start
        let provenance = Provenance(
            version: name, parent: parent, isDraft: isDraft,
            mode: mode ?? (draft == nil ? .replace : .publish), draft: draft,
            author: Provenance.Author(
                queue: "photos", job: staged.job, generation: 1, attempt: 1, worker: "w", at: time,
                arrival: arrival),
            edit: edit, history: try await library.publishedJobs(of: asset, state),
            timeline: before.edited(by: name), content: content)
        try await library.seal(staged, provenance, of: asset)
        return staged
    }

    /// Seals and publishes.
    func publish(
        _ name: VersionName, on parent: VersionName?, text: String = "pixels",
        isDraft: Bool = false, publishing draft: VersionName? = nil, showing: VersionName? = nil,
        key: RenderKey? = nil, job: String? = nil, arrival: Int? = nil, edit: String? = nil,
        at time: String = "2026-05-20T00:00:00Z"
    ) async throws -> Publication {
        let staged = try await seal(
            name, on: parent, text: text, isDraft: isDraft, publishing: draft, showing: showing,
            key: key, job: job, arrival: arrival, edit: edit, at: time)
        return try await library.publish(name, of: asset, from: staged)
    }

    func staged(_ name: VersionName, job: String? = nil) -> StagedVersion {
        StagedVersion(queue: "photos", job: job ?? "job-\(name)", fence: name.fence)
    }

    /// The text that a reader sees as the current render; nil when it is the original.
    func currentText() async throws -> String? {
        guard let current = try await library.state(of: asset).current,
            let content = current.content
        else { return nil }
        return try await text(
            library.open(StoredFile(content.render.name, of: current, asset)))
    }

    func text(_ file: OpenFile) throws -> String {
        String(decoding: file.bytes(from: 0, count: try file.length()), as: UTF8.self)
    }

    func head() async throws -> AssetHead { try await library.head(of: asset).head }

    private func write(_ text: String, at path: FilePath) throws {
        try FileManager.default.createDirectory(
            atPath: path.removingLastComponent().string, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: path.string))
    }
}

/// `revision-fence`, both of one number.
func version(_ revision: Int, _ fence: Int? = nil) -> VersionName {
    VersionName(revision: revision, fence: "\(fence ?? revision)")
}
