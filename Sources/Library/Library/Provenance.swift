public import Edits
import Files
public import FoundationEssentials

/// The origin and the content of a version: `provenance.json` in its folder.
public struct Provenance: Sendable, Codable, Equatable {
    /// The version of the file's format; nil means 1, which had no such field.
    let formatVersion: Int?
    /// The version's own name.
    public let version: String
    /// Its number: one more than its parent's, or than ``told``.
    public let revision: Int
    /// The name of the version that was current when this one was made; nil for the original.
    public let parent: String?
    /// Whether it is a draft, to be published or discarded.
    public let isDraft: Bool
    public let mode: Edit.Name
    /// The draft that it published.
    public let draft: String?
    /// The job that made it.
    public let author: Author
    /// The job that made it, and the jobs of the versions before it, at most 32; nil in format 1.
    public let published: [PublishedJob]?
    /// The jobs before those in the last hour; nil if there are none.
    package let earlier: [EarlierJob]?
    /// The highest revision of the asset that events had told when its library had been set back to a lower one; nil otherwise. The numbers
    /// between the parent's and its own are those of versions that were lost.
    public let told: Int?
    /// Its position in the history, for undo and redo.
    public let timeline: Timeline
    /// The content that readers see; nil if it is the original.
    public let content: Content?

    /// The name of the file in a version's folder.
    public static let fileName = "provenance.json"
    /// The latest format version. Earlier ones can be read. 2 added `formatVersion` and `published`; 3 is written where a recipe has output
    /// settings that a reader of 2 refuses.
    static let formatVersionKnown = 3
    /// The most bytes of that file: the longest recipe, with one number a line.
    package static let fileBytesMax = 16 << 20

    /// Creates a provenance.
    ///
    /// - Parameters:
    ///   - edit: the SHA-256 of the edit as it was sent, in hex; nil if it is unknown.
    ///   - history: the jobs of the versions before it.
    ///   - told: the highest revision that events told of the asset.
    public init(
        version: VersionName, parent: VersionName?, isDraft: Bool = false, mode: Edit.Name,
        draft: VersionName? = nil, author: Author, edit: String? = nil,
        history: PublishedJobs = PublishedJobs(), told: Int = 0, timeline: Timeline,
        content: Content?
    ) {
        formatVersion = content?.recipe?.output.hasMetadataSettings == true ? 3 : 2
        (self.version, revision) = (version.description, version.revision)
        (self.parent, self.draft) = (parent?.description, draft?.description)
        (self.isDraft, self.mode, self.author) = (isDraft, mode, author)
        let own = PublishedJob(
            author, edit: edit, version: version.description, isDraft: isDraft)
        let jobs = own.map { history.adding($0) } ?? history
        published = jobs.listed
        earlier = jobs.earlier.isEmpty ? nil : jobs.earlier
        self.told = told > parent?.revision ?? 0 ? told : nil
        (self.timeline, self.content) = (timeline, content)
    }

    /// The field with the SHA-256 of all other fields as canonical JSON, by which a decayed byte is detected.
    private static let digestField = "digest"

    package func encoded() throws(Failure) -> [UInt8] {
        let plain: JSONValue
        do {
            plain = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(self))
        } catch {
            throw Failure(.internalError, "the provenance of \(version) does not encode: \(error)")
        }
        guard case .object(var fields) = plain else {
            throw Failure(.internalError, "a provenance is no object.")
        }
        fields[Self.digestField] = .string(plain.digest)
        return try LibraryDocument.encoded(
            JSONValue.object(fields), "the provenance of \(version)",
            [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes])
    }

    /// Returns whether the bytes of a file are those that were written.
    package static func isSealed(_ bytes: [UInt8]) -> Bool {
        // Bytes that are not JSON were not written like this.
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)),
            case .object(var fields) = value
        else { return false }
        let digest = fields.removeValue(forKey: digestField)
        return digest == .string(JSONValue.object(fields).digest)
    }
}

extension Provenance {
    /// The job that made a version.
    public struct Author: Sendable, Codable, Equatable {
        /// The queue; nil if there was none.
        public let queue: String?
        public let job: String
        /// The number of times the job was replayed from the dead jobs, plus one.
        public let generation: Int
        /// The number of the attempt within the generation.
        public let attempt: Int
        public let worker: String
        /// The time, RFC 3339, by the clock of the queue's server, or the worker's if there was none.
        public let at: String
        /// The arrival of the job, in µs since 1970, by the clock of the queue's server; nil if no queue sent it or
        /// an older release made the version. nil counts as older than any arrival.
        public let arrival: Int?

        public init(
            queue: String?, job: String, generation: Int, attempt: Int, worker: String, at: String,
            arrival: Int? = nil
        ) {
            (self.queue, self.job) = (queue, job)
            (self.generation, self.attempt) = (generation, attempt)
            (self.worker, self.at, self.arrival) = (worker, at, arrival)
        }
    }

    /// Decodes a provenance and validates all its names, because they become paths.
    ///
    /// - Parameter path: the name of the file in messages.
    /// - Throws: `laterFormat` if a later release wrote it; `damagedVersion` if it is not a valid provenance, or
    ///   names something that cannot be in a version's folder.
    package init(reading bytes: [UInt8], at path: String) throws(Failure) {
        let known = Self.formatVersionKnown
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(bytes))
        } catch {
            try LibraryDocument.checkFormat(of: bytes, upTo: known, at: path)
            throw Failure(
                .damagedVersion,
                "\(path) is no provenance: \(error.decodingReason). Restore it from a backup.")
        }
        try LibraryDocument.checkFormat(formatVersion, upTo: known, at: path)
        if let sentence = misnomer {
            throw Failure(
                .damagedVersion, "\(path) \(sentence). Restore it from a backup.")
        }
    }

    /// The first invalid name, as the predicate of a sentence; nil if all names are valid.
    var misnomer: String? {
        let versions = [version] + [parent, draft].compactMap(\.self)
        for name in versions where VersionName(name) == nil {
            return "names the version \(name.debugDescription), which is not the name of one"
        }
        // Walks along parents end only if each parent is older.
        if let own = VersionName(version), let above = parent.flatMap(VersionName.init),
            above.revision >= own.revision
        {
            return "names the parent \(above), which is not older than \(own)"
        }
        if let told, !(1..<VersionName.revisionMax).contains(told) {
            return "says that the revision \(told) was told"
        }
        return content?.misnomer
    }
}

extension Content {
    fileprivate var misnomer: String? {
        for file in recordedFiles {
            guard (0...Self.imageBytesMax).contains(file.bytes ?? 0) else {
                return "says that \(file.name.debugDescription) has \(file.bytes ?? 0) bytes"
            }
            guard Self.isName(file.name, in: file.folder) else {
                return "names the file \(file.name.debugDescription); expected is one plain name"
                    + (file.folder.map { " in \($0)/" } ?? "")
            }
        }
        return nil
    }

    /// The most bytes of a picture, more than any disk can hold for one.
    private static let imageBytesMax = 1 << 50

    /// - Parameter folder: a folder in the version's folder; nil: the version's folder itself.
    private static func isName(_ name: String, in folder: String?) -> Bool {
        // Bytes, as in the file system: for Swift a slash with a combining mark is not a slash.
        var bytes = name.utf8[...]
        if let folder {
            guard bytes.starts(with: (folder + "/").utf8) else { return false }
            bytes = bytes.dropFirst(folder.utf8.count + 1)
        }
        return (1...FileSystem.nameBytesMax).contains(bytes.count)
            && !bytes.contains(UInt8(ascii: "/")) && !bytes.contains(0)
            && !bytes.elementsEqual(".".utf8) && !bytes.elementsEqual("..".utf8)
            && !bytes.elementsEqual(Provenance.fileName.utf8)
    }
}

extension Provenance.Author {
    /// The time of creation; nil if it cannot be read.
    public var date: Date? { Date(recorded: at) }
}
