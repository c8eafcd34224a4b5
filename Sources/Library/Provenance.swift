public import Adjustments
package import FoundationEssentials

/// What a version is and where it comes from: `provenance.json` in its folder.
public struct Provenance: Sendable, Codable, Equatable {
    /// The version of the file's format; nil is 1, which had none.
    let formatVersion: Int?
    /// The version's own name.
    public let version: String
    /// Its number: one more than its parent's.
    public let revision: Int
    /// The name of the version that was current when this one was made; nil for the original.
    public let parent: String?
    /// Whether it was only prepared, to be published or discarded.
    public let isDraft: Bool
    /// What was done.
    public let mode: Edit.Name
    /// The draft that it published.
    public let draft: String?
    /// Who did it.
    public let author: Author
    /// The job that made it, and those that made the versions ahead of it; nil in format 1.
    public let published: [PublishedJob]?
    /// Its place in the history, for undo and redo.
    public let timeline: Timeline
    /// What readers see; nil when the original is current.
    public let content: Content?

    /// The file in a version's folder.
    public static let fileName = "provenance.json"
    /// The version of the format that is written; those before are read. 2: `formatVersion`, `published`.
    static let formatVersionWritten = 2
    /// Most bytes of that file: a recipe of the longest, a number per line.
    package static let fileBytesMax = 16 << 20

    /// Makes a provenance.
    ///
    /// - Parameters:
    ///   - edit: SHA-256 of the edit as it was sent, in hex; nil when it is not known.
    ///   - history: the jobs of the versions ahead of it, the newest first.
    public init(
        version: VersionName, parent: VersionName?, isDraft: Bool = false, mode: Edit.Name,
        draft: VersionName? = nil, author: Author, edit: String? = nil,
        history: [PublishedJob] = [], timeline: Timeline, content: Content?
    ) {
        formatVersion = Self.formatVersionWritten
        self.version = version.description
        self.revision = version.revision
        self.parent = parent?.description
        self.isDraft = isDraft
        self.mode = mode
        self.draft = draft?.description
        self.author = author
        let own = PublishedJob(author, edit: edit, version: version.description)
        published = Array(([own].compactMap(\.self) + history).prefix(PublishedJob.listedMax))
        self.timeline = timeline
        self.content = content
    }

    /// The file's field that has the SHA-256 of all others, as canonical JSON: so that a byte that rots in it
    /// is found.
    private static let digestField = "digest"

    package func encoded() throws(Failure) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        do {
            let plain = try JSONDecoder().decode(JSONValue.self, from: encoder.encode(self))
            guard case .object(var fields) = plain else {
                throw Failure(.internalError, "a provenance is no object.")
            }
            fields[Self.digestField] = .string(plain.digest)
            return try encoder.encode(JSONValue.object(fields))
        } catch {
            throw Failure(.internalError, "the provenance of \(version) does not encode: \(error)")
        }
    }

    /// Whether the bytes of a file are as they were written.
    package static func isSealed(_ bytes: Data) -> Bool {
        // Bytes that are no JSON were not written so.
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: bytes),
            case .object(var fields) = value
        else { return false }
        let digest = fields.removeValue(forKey: digestField)
        return digest == .string(JSONValue.object(fields).digest)
    }
}

extension Provenance {
    /// The job that made a version.
    public struct Author: Sendable, Codable, Equatable {
        /// The queue, or nil when there was none.
        public let queue: String?
        /// The job.
        public let job: String
        /// How often the job was started from the dead, plus one.
        public let generation: Int
        /// Which attempt of the generation it was.
        public let attempt: Int
        /// The worker.
        public let worker: String
        /// When, RFC 3339, by the worker's clock.
        public let at: String
        /// When the job arrived, in µs since 1970, by the clock of the queue's server; nil when no queue sent it or an older
        /// release made the version: that counts as older than anything.
        public let arrival: Int?

        /// Makes an author.
        public init(
            queue: String?, job: String, generation: Int, attempt: Int, worker: String, at: String,
            arrival: Int? = nil
        ) {
            self.queue = queue
            self.job = job
            self.generation = generation
            self.attempt = attempt
            self.worker = worker
            self.at = at
            self.arrival = arrival
        }
    }
}
