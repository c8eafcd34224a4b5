public import Edits
import Files
package import FoundationEssentials
import Glibc
import Synchronization
import SystemPackage

/// The file of a render's key, open and locked. Its holder renders; other jobs wait or render without it.
///
/// The kernel releases the lock when the file is closed, the object is deinitialised, or the process ends.
final class RenderFile: Sendable {
    let key: RenderKey
    private let path: FilePath
    private let state: Mutex<State>

    private struct State {
        /// The open file; nil after its release.
        var file: OpenFile?
        var record: RenderRecord
    }

    /// The outcome of a claim.
    enum Claim: Sendable {
        /// This job has claimed the entry.
        case claimed(RenderFile)
        /// Another job is rendering the same photo with the same recipe.
        case busy
        /// The entry cannot be claimed: an earlier hold of the same job has it and its worker is stuck; or a later
        /// release wrote the file.
        case lost
    }

    private init(_ key: RenderKey, _ path: FilePath, _ file: OpenFile, _ record: RenderRecord) {
        (self.key, self.path) = (key, path)
        state = Mutex(State(file: file, record: record))
    }

    /// Releases the file. Explicit, because an object may live on after its last use, and a worker may be suspended
    /// in that time.
    func release() { state.withLock { $0.file = nil } }

    /// The content of the file.
    var record: RenderRecord { state.withLock { $0.record } }

    /// Changes the content of the file.
    ///
    /// The change need not survive a crash: a missing render is made again.
    func update(_ change: (inout RenderRecord) -> Void) throws(Failure) {
        try state.withLock { state throws(Failure) in
            var record = state.record
            change(&record)
            let bytes = Array(try record.encoded())
            let file = state.file?.descriptor ?? -1
            try FileSystem.describing("writing to", path, Descriptor.write(file, bytes, at: 0))
            try FileSystem.describing("writing to", path, Descriptor.cut(file, to: bytes.count))
            state.record = record
        }
    }

    /// Opens the file of a key if no other job holds it, without waiting.
    ///
    /// - Parameter holder: the job, as `queue/job`.
    /// - Returns: nil if the file is missing and is not to be created.
    static func open(
        _ path: FilePath, _ key: RenderKey, for holder: String? = nil, making: Bool,
        _ files: FileSystem
    ) throws(Failure) -> Claim? {
        for _ in 0..<attemptsMax {
            guard let file = try open(path, making: making, files) else { return nil }
            guard try FileSystem.describing("locking", path, file.lock()) else {
                do throws(Failure) {
                    let other = try RenderRecord(try read(file, path)).holder
                    return holder != nil && other == holder ? .lost : .busy
                } catch  where error.code == .laterFormat {
                    return .lost
                }
            }
            // Removed between open and lock: another file has that name, or none.
            guard try FileSystem.describing("reading the status of", path, file.isAt(path.string))
            else {
                continue
            }
            do throws(Failure) {
                return .claimed(RenderFile(key, path, file, try RenderRecord(try read(file, path))))
            } catch {
                // The photo is rendered without the entry, which is not changed.
                if error.code == .laterFormat { return .lost }
                throw error
            }
        }
        return .busy
    }

    private static let attemptsMax = 3

    private static func open(
        _ path: FilePath, making: Bool, _ files: FileSystem
    ) throws(Failure) -> OpenFile? {
        let flags = O_RDWR | (making ? O_CREAT : 0)
        do throws(Errno) {
            return try OpenFile(opening: path.string, flags)
        } catch {
            guard error == .noSuchFileOrDirectory else {
                throw FileSystem.failure("opening", path, error)
            }
            guard making else { return nil }
        }
        try files.makeFolder(path.removingLastComponent())
        return try FileSystem.describing("opening", path, OpenFile(opening: path.string, flags))
    }

    /// - Returns: the bytes of the file, truncated at the maximum length of a record.
    private static func read(_ file: OpenFile, _ path: FilePath) throws(Failure) -> [UInt8] {
        try FileSystem.describing(
            "reading", path, Descriptor.bytes(file.descriptor, count: RenderRecord.bytesMax + 1))
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
        /// Its name.
        package let version: String
        /// Whether it is a draft.
        let isDraft: Bool
        /// The queue in whose staging it was made.
        let queue: String
        /// The job that made it.
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
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(bytes))
        } catch {
            self.init()
            formatVersion = Self.version(of: bytes)
        }
        if let formatVersion, formatVersion > Self.formatVersionWritten {
            throw Failure(
                .laterFormat,
                "the record of a render has the format version \(formatVersion); this Minilab reads up to "
                    + "\(Self.formatVersionWritten). A later release wrote it: upgrade this one.")
        }
        formatVersion = Self.formatVersionWritten
    }

    private struct Head: Decodable {
        let formatVersion: Int?
    }

    private static func version(of bytes: [UInt8]) -> Int? {
        do {
            return try JSONDecoder().decode(Head.self, from: Data(bytes)).formatVersion
        } catch {
            return nil  // damaged: it has no version
        }
    }

    package init() {}

    /// Records that a job makes the render.
    mutating func begin(_ holder: String) {
        self.holder = holder
        sources = []
    }

    package func encoded() throws(Failure) -> Data {
        do {
            return try JSONEncoder().encode(self)
        } catch {
            throw Failure(.internalError, "the record of a render does not encode: \(error)")
        }
    }
}

extension RenderRecord.Source {
    /// Creates the source of a version that a job made.
    package init(_ version: Provenance, of asset: AssetPath, in staged: StagedVersion) {
        self.init(
            asset: asset, version: version.version, isDraft: version.isDraft, queue: staged.queue,
            job: staged.job)
    }
}

/// The key that determines every byte of a render and its previews: two renders with one key are the same.
///
/// It includes the owner. A child that one tenant's photo has taken over can corrupt the renders of that tenant's
/// next photos, and another tenant with the same photo must not receive those.
///
/// Nothing else affects the bytes. Threads, limits and the asset's name do not; metadata come from the photo's
/// bytes and contain no current time; a recipe names resources by their digest; the AAE, which has a time, is not
/// part of a render.
public struct RenderKey: Sendable, Hashable {
    /// The SHA-256, in hex, of photo, recipe, engine and owner as canonical JSON.
    public let hex: String

    /// The length of a key.
    private static let digits = 64

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
    ///   - engine: the name and version of the renderer.
    ///   - owner: the owner of the render, for whose jobs alone it is reused.
    public init(photo: String, recipe: Recipe, engine: String, owner: Owner) {
        var fields: [String: JSONValue] = [
            "photo": .string(photo), "recipe": recipe.json, "engine": .string(engine),
        ]
        switch owner {
        case .operator: break
        case .tenant(let tenant): fields["tenant"] = .string(tenant.string)
        case .photo(let name): fields["asset"] = .string(name)
        }
        hex = JSONValue.object(fields).digest
    }
}

/// The render of a version with its input and previews: rendered now, or reused from another version.
public struct RenderedPhoto: Sendable {
    public let input: Content.Input
    /// The recipe as resolved for the full photo.
    public let recipe: Recipe
    /// The record of the rendering.
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
        self.input = input
        self.recipe = recipe
        self.rendering = rendering
        self.render = render
        self.previews = previews
        self.placeholder = placeholder
        reusedFrom = nil
    }

    /// Creates the description of a render that is reused; nil if the version's content does not record the rendering.
    ///
    /// - Parameters:
    ///   - stem: the stem of the file names in the version that reuses the render.
    package init?(_ content: Content, as stem: String, from: String?) {
        guard let recipe = content.recipe, let rendering = content.rendering else { return nil }
        input = content.input
        self.recipe = recipe
        self.rendering = rendering
        render = content.render.renamed(stem)
        pairedVideo = content.pairedVideo?.renamed(stem)
        previews = content.previews
        placeholder = content.placeholder
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
