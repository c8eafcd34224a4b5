import Edits
import FoundationEssentials

/// A job whose version is in an asset's history.
///
/// Redis may lose its last second, and with it the record that a job is done; the job is then run again. The
/// history prevents a second publication: the provenance of each version lists the jobs of the last versions. So
/// reading one file suffices, whatever retention has collected, and undo or a draft loses no entry.
///
/// Two jobs are the same if queue, name, generation and edit are. Two Redis servers with one queue name may both
/// have a job with one name, generated from the millisecond of its arrival. The edit distinguishes those, unless it
/// is the same edit of the same asset. Servers that share a library and are not copies of each other should use
/// different queue names.
public struct PublishedJob: Sendable, Codable, Equatable {
    public let queue: String
    public let job: String
    /// The number of times the job was replayed from the dead jobs, plus one.
    public let generation: Int
    /// The SHA-256 of the edit as it was sent, in hex; nil if a release before format 2 made the version.
    public let edit: String?
    /// The time, RFC 3339, as in `Provenance.Author`.
    public let at: String
    public let version: String
    /// Whether the version is a draft, which never was current; nil if not, or if an earlier release made it.
    public let isDraft: Bool?

    /// The most jobs that a provenance lists in full, about 250 bytes each. More of them are listed in brief: see
    /// ``EarlierJob``.
    package static let listedMax = 32
    /// The period in which a job counts, in seconds: as long as a queue remembers the name of a finished job. After
    /// that the name may be another job's.
    static let age: TimeInterval = 24 * 3600

    /// Creates the entry of a version's own job; nil if no queue sent it.
    ///
    /// - Parameter edit: the SHA-256 of the edit, in hex.
    public init?(
        _ author: Provenance.Author, edit: String?, version: String, isDraft: Bool = false
    ) {
        guard let queue = author.queue else { return nil }
        self.queue = queue
        (job, generation, at) = (author.job, author.generation, author.at)
        self.edit = edit
        self.version = version
        self.isDraft = isDraft ? true : nil
    }

    /// Returns whether a version was made by the same job as another.
    package func isSame(as other: PublishedJob) -> Bool {
        queue == other.queue && job == other.job && generation == other.generation
            && (edit == nil || other.edit == nil || edit == other.edit) && isNear(other)
    }

    private func isNear(_ other: PublishedJob) -> Bool {
        // An unreadable date counts as near, so that an invalid clock does not cause a second publication.
        guard let one = date, let two = other.date else { return true }
        return abs(one.timeIntervalSince(two)) < Self.age
    }

    /// The time; nil if it cannot be read.
    var date: Date? { Date(recorded: at) }
}

/// The fate of a version that a job has already published.
public enum PublishedBefore: Sendable, Equatable {
    case kept(Provenance)
    /// The version of this name was collected, or was a draft and is removed.
    case gone(String)
}

extension Provenance {
    /// The job that made it, and the jobs of the versions before it; nil in format 1.
    package var publishedJobs: PublishedJobs? {
        published.map { PublishedJobs($0, earlier: earlier ?? []) }
    }

    /// The job that made the version.
    package var job: PublishedJob? {
        published?.first { $0.version == version }
            ?? PublishedJob(author, edit: nil, version: version)
    }

    /// The versions before it that a queue's jobs made, without drafts, the newest first.
    public func earlierVersions(of queue: String) -> [(version: String, job: String)] {
        (published ?? []).filter {
            $0.queue == queue && $0.version != version && $0.isDraft != true
        }.map { ($0.version, $0.job) }
    }
}

/// The jobs in the history of an asset, as its newest version lists them.
///
/// The last ``PublishedJob/listedMax`` are listed in full, whatever their age. Earlier ones of the last hour are listed in
/// brief, so that what is remembered covers what Redis may lose, however many edits that were.
public struct PublishedJobs: Sendable, Equatable {
    /// The last jobs, the newest first.
    package let listed: [PublishedJob]
    /// Earlier jobs, the newest first.
    package let earlier: [EarlierJob]

    /// The jobs of an asset that was never edited.
    public init() { (listed, earlier) = ([], []) }

    package init(_ listed: [PublishedJob], earlier: [EarlierJob] = []) {
        (self.listed, self.earlier) = (listed, earlier)
    }

    /// Merges the lists of a draft and of a version: each job once, the newest first.
    package init(merging lists: [PublishedJobs]) {
        var (jobs, known) = ([PublishedJob](), Set<String>())
        for job in lists.flatMap(\.listed) where known.insert(job.version).inserted {
            jobs.append(job)
        }
        jobs = Self.newestFirst(jobs, \.version)
        var earlier = jobs.dropFirst(PublishedJob.listedMax).compactMap { EarlierJob($0) }
        for job in lists.flatMap(\.earlier) where known.insert(job.version).inserted {
            earlier.append(job)
        }
        self.init(
            Array(jobs.prefix(PublishedJob.listedMax)),
            earlier: Array(
                Self.newestFirst(earlier, \.version).prefix(EarlierJob.listedMax)))
    }

    func adding(_ job: PublishedJob) -> PublishedJobs {
        let all = [job] + listed
        let left = all.dropFirst(PublishedJob.listedMax).compactMap { EarlierJob($0) } + earlier
        let now = job.date
        return PublishedJobs(
            Array(all.prefix(PublishedJob.listedMax)),
            earlier: Array(
                left.filter { $0.isRemembered(at: now) }.prefix(EarlierJob.listedMax)))
    }

    /// Returns the name of the version that a job has made; nil if it has made none, or if that is forgotten.
    package func version(of job: PublishedJob) -> String? {
        if let same = listed.first(where: job.isSame) { return same.version }
        guard let brief = EarlierJob(job) else { return nil }
        return earlier.first { $0.isSame(as: brief) }?.version
    }

    package var versions: Set<String> {
        Set(listed.map(\.version) + earlier.map(\.version))
    }

    /// Stable: jobs of one revision that are adjacent stay in their order.
    private static func newestFirst<Job>(
        _ jobs: [Job], _ version: KeyPath<Job, String>
    ) -> [Job] {
        let revisions = jobs.map { VersionName($0[keyPath: version])?.revision ?? 0 }
        return jobs.indices.sorted { one, other in
            revisions[one] == revisions[other] ? one < other : revisions[one] > revisions[other]
        }.map { jobs[$0] }
    }
}

/// A job whose version is in an asset's history, in brief: `<digest> <version> <seconds since 1970>`, about 60 bytes.
package struct EarlierJob: Sendable, Equatable {
    /// The first 16 hex digits of the SHA-256 of queue, job, generation and edit.
    let digest: String
    let version: String
    /// The same in seconds since 1970.
    let seconds: Int

    /// The most jobs that a provenance lists in brief. Source: an asset is edited 23 times a second on a busy core, and
    /// Redis may lose a minute of them before the oldest of these.
    static let listedMax = 2_000
    /// How long a job is listed, in seconds. Redis loses one or two; an hour is enough for a server that is taken back to
    /// a moment before an operator's mistake.
    static let age = 3_600

    /// The digest of a job; nil if its time cannot be read.
    init?(_ job: PublishedJob) {
        guard let date = job.date else { return nil }
        let facts = [job.queue, job.job, "\(job.generation)", job.edit ?? ""]
        digest = String(JSONValue.array(facts.map { .string($0) }).digest.prefix(16))
        (version, seconds) = (job.version, Int(date.timeIntervalSince1970))
    }

    func isSame(as other: EarlierJob) -> Bool {
        digest == other.digest
            && Double(abs(seconds.subtractingReportingOverflow(other.seconds).partialValue))
                < PublishedJob.age
    }

    /// Returns whether it is still listed when a job is added.
    ///
    /// - Parameter now: the time of that job; nil: its time cannot be read.
    func isRemembered(at now: Date?) -> Bool {
        guard let now else { return true }
        return now.timeIntervalSince1970 - Double(seconds) < Double(Self.age)
    }
}

extension EarlierJob: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let parts = try container.decode(String.self).split(separator: " ")
        guard parts.count == 3, let seconds = Int(parts[2]), (0...1 << 53).contains(seconds) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected are a digest, a version and seconds")
        }
        (digest, version, self.seconds) = (String(parts[0]), String(parts[1]), seconds)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("\(digest) \(version) \(seconds)")
    }
}
