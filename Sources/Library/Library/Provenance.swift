public import Edits
package import FoundationEssentials

/// The origin and the content of a version: `provenance.json` in its folder.
public struct Provenance: Sendable, Codable, Equatable {
    /// The version of the file's format; nil means 1, which had no such field.
    let formatVersion: Int?
    /// The version's own name.
    public let version: String
    /// Its number: one more than its parent's.
    public let revision: Int
    /// The name of the version that was current when this one was made; nil for the original.
    public let parent: String?
    /// Whether it is a draft, to be published or discarded.
    public let isDraft: Bool
    /// The mode of the edit.
    public let mode: Edit.Name
    /// The draft that it published.
    public let draft: String?
    /// The job that made it.
    public let author: Author
    /// The job that made it, and the jobs of the versions before it, at most 32; nil in format 1.
    public let published: [PublishedJob]?
    /// The jobs before those in the last hour; nil if there are none.
    package let earlier: [EarlierJob]?
    /// Its position in the history, for undo and redo.
    public let timeline: Timeline
    /// The content that readers see; nil if it is the original.
    public let content: Content?

    /// The name of the file in a version's folder.
    public static let fileName = "provenance.json"
    /// The format version that is written. Earlier ones can be read. 2 added `formatVersion` and `published`.
    static let formatVersionWritten = 2
    /// The most bytes of that file: the longest recipe, with one number a line.
    package static let fileBytesMax = 16 << 20

    /// Creates a provenance.
    ///
    /// - Parameters:
    ///   - edit: the SHA-256 of the edit as it was sent, in hex; nil if it is unknown.
    ///   - history: the jobs of the versions before it.
    public init(
        version: VersionName, parent: VersionName?, isDraft: Bool = false, mode: Edit.Name,
        draft: VersionName? = nil, author: Author, edit: String? = nil,
        history: PublishedJobs = PublishedJobs(), timeline: Timeline, content: Content?
    ) {
        formatVersion = Self.formatVersionWritten
        self.version = version.description
        self.revision = version.revision
        self.parent = parent?.description
        self.isDraft = isDraft
        self.mode = mode
        self.draft = draft?.description
        self.author = author
        let own = PublishedJob(
            author, edit: edit, version: version.description, isDraft: isDraft)
        let jobs = own.map { history.adding($0) } ?? history
        published = jobs.listed
        earlier = jobs.earlier.isEmpty ? nil : jobs.earlier
        self.timeline = timeline
        self.content = content
    }

    /// The field with the SHA-256 of all other fields as canonical JSON, by which a decayed byte is detected.
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

    /// Returns whether the bytes of a file are those that were written.
    package static func isSealed(_ bytes: Data) -> Bool {
        // Bytes that are not JSON were not written like this.
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
        /// The queue; nil if there was none.
        public let queue: String?
        /// The job.
        public let job: String
        /// The number of times the job was replayed from the dead jobs, plus one.
        public let generation: Int
        /// The number of the attempt within the generation.
        public let attempt: Int
        /// The worker.
        public let worker: String
        /// The time, RFC 3339, by the clock of the queue's server, or the worker's if there was none.
        public let at: String
        /// The arrival of the job, in µs since 1970, by the clock of the queue's server; nil if no queue sent it or
        /// an older release made the version. nil counts as older than any arrival.
        public let arrival: Int?

        /// Creates an author.
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
