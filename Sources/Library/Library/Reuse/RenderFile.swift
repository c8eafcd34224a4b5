public import Edits
import Files
import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage

/// The file of a render's key, open and locked. Its holder renders; other jobs wait or render without it.
///
/// The kernel releases the lock when the file is closed, the object is deinitialised, or the process ends.
final class RenderFile: RenderEntry {
    let key: RenderKey
    private let library: LibraryFolder
    private let state: Mutex<State>

    private struct State {
        /// The open file; nil after its release.
        var file: OpenFile?
        var record: RenderRecord
    }

    private init(
        _ key: RenderKey, _ library: LibraryFolder, _ file: OpenFile, _ record: RenderRecord
    ) {
        (self.key, self.library) = (key, library)
        state = Mutex(State(file: file, record: record))
    }

    private var path: FilePath { library.path(of: key) }

    /// The content of the file.
    var record: RenderRecord { state.withLock { $0.record } }

    /// Claims the file of a key, without waiting.
    static func claim(
        _ key: RenderKey, for staged: StagedVersion, in library: LibraryFolder
    ) throws(Failure) -> RenderClaim {
        let path = library.path(of: key)
        for _ in 0..<attemptsMax {
            switch try FileSystem.lock(path, O_RDWR | O_CREAT) {
            case .ours(let file):
                // Otherwise the photo is rendered without the entry, which is not changed.
                guard let record = try record(in: file, path) else { return .lost }
                return .claimed(RenderFile(key, library, file, record))
            case .others(let file):
                guard let other = try record(in: file, path) else { return .lost }
                return other.holder == staged.holder ? .lost : .busy
            // Its folder is missing, or it was removed between open and lock.
            case .none: try library.files.makeFolder(path.removingLastComponent())
            }
        }
        return .busy
    }

    private static let attemptsMax = 4

    /// Removes the file of a key if no version has its render and no job holds it.
    static func removeUnused(_ key: RenderKey, in library: LibraryFolder) throws(Failure) {
        let path = library.path(of: key)
        guard case .ours(let file) = try FileSystem.lock(path, O_RDWR),
            let record = try record(in: file, path)
        else { return }
        for source in record.sources {
            for folder in library.folders(of: source)
            where try library.files.isFolder(folder) { return }
        }
        try library.files.remove(path)
        withExtendedLifetime(file) {}
    }

    /// - Returns: the content of the file, which may be truncated; nil if a later release wrote it.
    private static func record(
        in file: OpenFile, _ path: FilePath
    ) throws(Failure) -> RenderRecord? {
        let bytes = try FileSystem.describing(
            "reading", path, Descriptor.bytes(file.descriptor, count: RenderRecord.bytesMax + 1))
        do throws(Failure) {
            return try RenderRecord(bytes)
        } catch {
            guard error.code == .laterFormat else { throw error }
            return nil
        }
    }

    /// Changes the content of the file.
    ///
    /// The change need not survive a crash: a missing render is made again.
    private func update(_ change: (inout RenderRecord) -> Void) throws(Failure) {
        try library.files.faults?.reach("update", path)
        try state.withLock { state throws(Failure) in
            var record = state.record
            change(&record)
            let bytes = try record.encoded()
            let file = state.file?.descriptor ?? -1
            try FileSystem.describing("writing to", path, Descriptor.write(file, bytes, at: 0))
            try FileSystem.describing("writing to", path, Descriptor.cut(file, to: bytes.count))
            state.record = record
        }
    }

    func offer(
        _ version: Provenance, of asset: AssetPath, in staged: StagedVersion
    ) async throws(Failure) {
        try await offPool { () throws(Failure) in
            // Released also if the file cannot be written, because other jobs wait for it; and explicitly, because an
            // object may live on after its last use, and a worker may be suspended in that time.
            defer { self.state.withLock { $0.file = nil } }
            try self.update { record in
                record.holder = nil
                record.add(RenderRecord.Source(version, of: asset, in: staged))
            }
        }
    }

    func reuse(
        as stem: String, into staged: StagedVersion
    ) async throws(Failure) -> RenderedPhoto? {
        try await offPool { () throws(Failure) in
            for source in self.record.sources {
                for folder in self.library.folders(of: source) {
                    guard let content = self.donor(in: folder), content.recipe != nil,
                        try self.link(content, from: folder, as: stem, into: staged)
                    else { continue }
                    let isOurs = source.staged?.holder == staged.holder
                    return RenderedPhoto(
                        content, as: stem, from: isOurs ? nil : "\(source.asset)@\(source.version)")
                }
            }
            try self.update { $0.begin(staged.holder) }
            return nil
        }
    }

    /// Returns the content of a version if it is unchanged since it was sealed and has the render.
    private func donor(in folder: FilePath) -> Content? {
        do throws(Failure) {
            let bytes = try library.files.read(
                Provenance.fileName, in: folder, bytesMax: Provenance.fileBytesMax)
            guard Provenance.isSealed(bytes),
                let content = try Provenance(reading: bytes, at: folder.string).content,
                content.rendering?.key == key.hex
            else { return nil }
            return content
        } catch {
            return nil  // missing or damaged: the photo is rendered
        }
    }

    /// Links render, movie and previews, and compares the linked files with their digests.
    ///
    /// - Returns: false if a file is damaged. No remains are left in that case.
    /// - Throws: if linked files cannot be removed again: a render would otherwise be written into the other
    ///   version's files.
    private func link(
        _ content: Content, from folder: FilePath, as stem: String, into staged: StagedVersion
    ) throws(Failure) -> Bool {
        let (staging, files) = (library.staging, content.reusedFiles(as: stem))
        let target = staging.folder(of: staged)
        do throws(Failure) {
            for (file, name) in files {
                try staging.link(folder.pushing(FilePath(file.name)), as: name, into: staged)
                let path = target.pushing(FilePath(name)).string
                try file.check(StoredDigest(try FileDigest.sha256(of: path)), path)
            }
        } catch {
            for (_, name) in files { try library.files.remove(target.pushing(FilePath(name))) }
            return false
        }
        return true
    }
}

/// The record of a render's key: the versions that have the render.
package struct RenderRecord: Sendable, Codable, Equatable {
    /// The version of the file's format; nil means 1, which at first had no such field.
    private var formatVersion: Int? = Self.formatVersionWritten
    /// The job that is rendering it, as `queue/job`, or whose worker died while rendering it.
    var holder: String?
    /// The versions that have the render, the newest first.
    package private(set) var sources: [Source] = []

    private enum CodingKeys: String, CodingKey {
        case formatVersion, holder
        case sources = "places"
    }

    static let formatVersionWritten = 1
    /// The most versions in a record. More than one, because a version may be discarded or collected while the next
    /// still exists.
    static let sourcesMax = 4
    /// The most bytes of the file: that many assets with the longest names, fully escaped.
    package static let bytesMax = 64 << 10

    /// A version that has a render.
    package struct Source: Sendable, Codable, Hashable {
        package let asset: AssetPath
        package let version: String
        let isDraft: Bool
        /// The queue in whose staging it was made.
        let queue: String
        let job: String

        /// Its staged version before it is published; nil if its name is invalid.
        var staged: StagedVersion? {
            VersionName(version).map {
                StagedVersion(queue: queue, job: job, fence: $0.fence)
            }
        }
    }

    /// Adds a source, and removes the oldest one if there are too many.
    package mutating func add(_ source: Source) {
        sources = Array(([source] + sources.filter { $0 != source }).prefix(Self.sourcesMax))
    }

    /// Decodes a record. Damaged bytes yield an empty record: the photo is then rendered and the record written
    /// again.
    ///
    /// - Throws: `laterFormat` if a later release wrote the record, which must then not be changed.
    package init(_ bytes: [UInt8]) throws(Failure) {
        let (known, name) = (Self.formatVersionWritten, "the record of a render")
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(bytes))
        } catch {
            try LibraryDocument.checkFormat(of: bytes, upTo: known, at: name)
            self.init()
        }
        try LibraryDocument.checkFormat(formatVersion, upTo: known, at: name)
        formatVersion = known
    }

    package init() {}

    /// Records that a job makes the render.
    mutating func begin(_ holder: String) {
        self.holder = holder
        sources = []
    }

    package func encoded() throws(Failure) -> [UInt8] {
        try LibraryDocument.encoded(self, "the record of a render", [])
    }
}

extension RenderRecord.Source {
    /// Creates the source of a version that a job made.
    package init(_ version: Provenance, of asset: AssetPath, in staged: StagedVersion) {
        (self.asset, self.version, isDraft) = (asset, version.version, version.isDraft)
        (queue, job) = (staged.queue, staged.job)
    }
}

/// The key of a render and its previews: two renders with one key show the same, and are the same to the byte where the same libraries
/// made them. A render that another machine's libraries made is reused, because nobody sees the difference.
///
/// It includes the owner. A child that one tenant's photo has taken over can corrupt the renders of that tenant's
/// next photos, and another tenant with the same photo must not receive those.
///
/// Nothing else affects the bytes. Threads, limits and the asset's name do not; metadata come from the photo's
/// bytes and contain no current time; a recipe names resources by their digest; the AAE, which has a time, is not
/// part of a render.
public struct RenderKey: Sendable, Hashable {
    /// The SHA-256, in hex, of photo, recipe, number of the render and owner as canonical JSON.
    public let hex: String

    private static let digits = 64

    /// The path of what belongs to it, in a folder or bucket: `<two digits>/<the other 62>`.
    package var path: String { "\(hex.prefix(2))/\(hex.dropFirst(2))" }

    /// Parses a recorded key; nil if it is invalid.
    package init?(recorded hex: String) {
        guard hex.utf8.count == Self.digits, hex.allSatisfy(\.isHexDigit) else { return nil }
        self.hex = hex
    }

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - photo: the SHA-256 of the bytes of the base or original, in hex.
    ///   - recipe: the recipe with its output, scaled to the photo. Automatic values follow from the photo.
    ///   - render: the number of the renderer's pixels and bytes.
    ///   - owner: the owner of the render, for whose jobs alone it is reused.
    public init(photo: String, recipe: Recipe, render: Int, owner: Owner) {
        hex = Self.hex(photo, recipe, owner, ["render": .number(Double(render))])
    }

    /// Returns the SHA-256, in hex, of photo, recipe, owner and further fields as canonical JSON.
    package static func hex(
        _ photo: String, _ recipe: Recipe, _ owner: Owner, _ fields: [String: JSONValue]
    ) -> String {
        var fields = fields
        fields["photo"] = .string(photo)
        fields["recipe"] = recipe.json
        switch owner {
        case .operator: break
        case .tenant(let tenant): fields["tenant"] = .string(tenant.string)
        case .photo(let name): fields["asset"] = .string(name)
        }
        return JSONValue.object(fields).digest
    }
}

/// The render of a version with its input and previews: rendered now, or reused from another version.
public struct RenderedPhoto: Sendable {
    public let input: Content.Input
    /// The recipe as resolved for the full photo.
    public let recipe: Recipe
    package var rendering: Content.Rendering
    /// The render, under its name in the new version.
    public let render: Content.Image
    /// The movie of a Live Photo, under its name in the new version; nil for a photo alone.
    package var pairedVideo: Content.Image?
    public let previews: [Content.Preview]
    /// The tiny JPEG that accompanies the previews.
    public let placeholder: String?
    /// The source of a reused render, as `asset@version`; nil if this job made it, also in an earlier attempt.
    public let reusedFrom: String?

    /// Creates the description of a new render.
    package init(
        input: Content.Input, recipe: Recipe, rendering: Content.Rendering, render: Content.Image,
        previews: [Content.Preview], placeholder: String?
    ) {
        (self.input, self.recipe, self.rendering) = (input, recipe, rendering)
        (self.render, self.previews, self.placeholder) = (render, previews, placeholder)
        reusedFrom = nil
    }

    /// Creates the description of a render that is reused; nil if the version's content does not record the rendering.
    ///
    /// - Parameters:
    ///   - stem: the stem of the file names in the version that reuses the render.
    package init?(_ content: Content, as stem: String, from: String?) {
        guard let recipe = content.recipe, let rendering = content.rendering else { return nil }
        (input, self.recipe, self.rendering) = (content.input, recipe, rendering)
        (render, pairedVideo) = (content.render.renamed(stem), content.pairedVideo?.renamed(stem))
        (previews, placeholder) = (content.previews, content.placeholder)
        reusedFrom = from
    }
}

/// The name of a part of a movie that is being rendered: the movie's render key, and the number of the part.
///
/// The name determines the content, so any worker that finds a part can continue from it. No worker depends on a
/// part, which may be removed at any time.
public struct MoviePartName: Sendable, Hashable {
    /// The render key of the whole movie.
    public let render: RenderKey
    /// The number of the part, from 0.
    public let number: Int

    public init(_ render: RenderKey, _ number: Int) {
        (self.render, self.number) = (render, number)
    }

    /// The age in seconds at which a part is collected: one day, after which a job has finished or is dead.
    package static let age = 86_400
}
