import Edits
import FoundationEssentials

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

    /// Returns the jobs with a new one.
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

    /// The versions of all these jobs.
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
    /// The version.
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
