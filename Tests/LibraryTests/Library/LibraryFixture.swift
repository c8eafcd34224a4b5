import Edits
import Editors
import Files
import FoundationEssentials
import MinilabTesting
import SystemPackage

@testable import Library

/// A library in a folder of its own.
struct LibraryFixture {
    let folder: TemporaryFolder
    let library: LibraryFolder
    let asset: AssetPath

    init(asset: String = "2024/IMG_0001.JPG") throws {
        folder = try TemporaryFolder()
        library = try LibraryFolder(root: FilePath(folder.path).appending("library"))
        self.asset = try AssetPath(asset)
        try put("original", at: library.originals.pushing(FilePath(asset)))
    }

    func put(_ text: String, at path: FilePath) throws {
        try FileManager.default.createDirectory(
            atPath: path.removingLastComponent().string, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: path.string))
    }

    /// Stages and seals a version as a worker does after its render.
    func seal(
        _ name: VersionName, on parent: VersionName?, text: String = "pixels",
        isDraft: Bool = false, publishing draft: VersionName? = nil, base: String? = nil,
        key: RenderKey? = nil, job: String? = nil, generation: Int = 1, edit: String? = nil,
        at time: String = "2026-01-01T00:00:00Z"
    ) async throws -> StagedVersion {
        let staged = StagedVersion(queue: "photos", job: "job", fence: name.fence)
        let folder = try library.staging.begin(staged)
        try put(text, at: folder.appending("IMG_0001.jpg"))
        let recipe = try Recipe(filters: [Filter("CISepiaTone", ["intensity": 0.8])])
        let adjustment = try library.staging.write(
            AAESidecar(
                AdjustmentData(recipe), on: base == nil ? .original : .adjusted,
                timestamp: Date(timeIntervalSince1970: 0)), as: "IMG_0001.AAE", into: staged)
        let layer = try base.map { text in
            try put(text, at: folder.appending("base").appending("IMG_0001.jpg"))
            return Content.Layer(
                name: "base/IMG_0001.jpg", version: parent?.description ?? "",
                input: try input(folder.appending("base").appending("IMG_0001.jpg")))
        }
        let content = Content(
            source: try input(library.original(of: asset)), base: layer, adjustment: adjustment,
            opened: nil, recipe: recipe, editDigest: "00",
            rendering: Content.Rendering(
                by: RenderOrigin(engine: "test/1"), key: key?.hex, at: time, plan: [],
                wallMilliseconds: 1.5,
                cpuMilliseconds: 1.25,
                peakMemoryBytes: 1 << 20),
            render: Content.Image(
                name: "IMG_0001.jpg",
                MadeFile(
                    mediaType: "image/jpeg", size: PixelSize(width: 3, height: 4),
                    bytes: text.utf8.count,
                    sha256: try FileDigest.sha256(of: folder.appending("IMG_0001.jpg").string).hex))
        )
        let before = try parent.flatMap {
            try library.folder(of: asset).provenance(of: $0)?.timeline
        }
        let provenance = Provenance(
            version: name, parent: parent, isDraft: isDraft,
            mode: draft == nil ? .replace : .publish, draft: draft,
            author: Provenance.Author(
                queue: "photos", job: job ?? "job-\(name)", generation: generation, attempt: 1,
                worker: "w", at: time),
            edit: edit,
            history: try await library.publishedJobs(of: asset, library.state(of: asset)),
            timeline: (before ?? .start).edited(by: name), content: content)
        try library.staging.seal(staged, provenance)
        return staged
    }

    private func input(_ path: FilePath) throws -> Content.Input {
        Content.Input(
            sha256: try FileDigest.sha256(of: path.string).hex, format: "jpeg",
            size: PixelSize(width: 4, height: 3), orientation: 6)
    }

    func publish(_ name: VersionName, on parent: VersionName?, text: String = "pixels") async throws
        -> Publication
    {
        try await library.publish(name, of: asset, from: seal(name, on: parent, text: text))
    }

    /// What a reader sees as the current render; nil when there is none.
    func currentText() throws -> String? {
        let path = library.folder(of: asset).pointer(.versions).appending("IMG_0001.jpg").string
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try String(contentsOfFile: path, encoding: .utf8)
    }
}
