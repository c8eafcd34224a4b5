public import Adjustments
import FoundationEssentials

/// A job whose version is in an asset's history.
///
/// Redis may lose its last second, and with it that a job is done; the job is then run again. The history knows:
/// each version has the jobs of the last versions in its provenance, carried on from version to version. So one
/// file is read, whatever retention has collected, and undo or a draft forgets nothing.
///
/// A job is the same if queue, name, generation and edit are. Two Redis servers with one queue name may both have a
/// job of one name, given by the millisecond it came in; the edit tells those apart, unless it is the same edit of
/// the same asset. Servers that share a library and are not copies of each other should have queues of different names.
public struct PublishedJob: Sendable, Codable, Equatable {
    /// The queue.
    public let queue: String
    /// The job.
    public let job: String
    /// How often the job was started from the dead, plus one.
    public let generation: Int
    /// SHA-256 of the edit as it was sent, in hex; nil when a release before format 2 made the version.
    public let edit: String?
    /// When, RFC 3339, by the worker's clock.
    public let at: String
    /// The version.
    public let version: String

    /// Most jobs that a provenance has: as many edits of one asset may be lost by Redis and none is done twice. Each
    /// takes about 250 bytes.
    package static let listedMax = 32
    /// How long a job counts, in seconds: as long as a queue knows the name of a job that is done. Behind that the name
    /// may be another job's.
    static let age: TimeInterval = 24 * 3600

    /// A version's own job; nil when no queue sent it.
    ///
    /// - Parameter edit: SHA-256 of the edit, in hex.
    public init?(_ author: Provenance.Author, edit: String?, version: String) {
        guard let queue = author.queue else { return nil }
        self.queue = queue
        (job, generation, at) = (author.job, author.generation, author.at)
        self.edit = edit
        self.version = version
    }

    /// Whether a version was made by the job that makes this one.
    package func isSame(as other: PublishedJob) -> Bool {
        queue == other.queue && job == other.job && generation == other.generation
            && (edit == nil || other.edit == nil || edit == other.edit) && isNear(other)
    }

    private func isNear(_ other: PublishedJob) -> Bool {
        // What cannot be dated counts: nothing is done twice for a clock that writes nonsense.
        guard let one = Self.date(at), let two = Self.date(other.at) else { return true }
        return abs(one.timeIntervalSince(two)) < Self.age
    }

    private static func date(_ text: String) -> Date? {
        do {
            return try Date(text, strategy: .iso8601)
        } catch {
            return nil  // the caller decides what an unknown time means
        }
    }
}

extension PublishedJob {
    /// The jobs of several lists, each once, the newest first, at most ``listedMax``.
    ///
    /// - Parameter lists: the draft's first.
    package static func merged(_ lists: [[PublishedJob]]) -> [PublishedJob] {
        var jobs: [PublishedJob] = []
        for job in lists.joined() where !jobs.contains(where: { $0.version == job.version }) {
            jobs.append(job)
        }
        // Stable: what one list has in a row stays so.
        let rows = jobs.enumerated().sorted { one, other in
            let (first, second) = (one.element.revision, other.element.revision)
            return first == second ? one.offset < other.offset : first > second
        }
        return rows.prefix(listedMax).map(\.element)
    }
}

/// What became of a job that has been published before.
public enum PublishedBefore: Sendable, Equatable {
    /// This version stands.
    case kept(Provenance)
    /// The version of this name was collected, or was a draft that is gone.
    case gone(String)
}

extension LibraryFolder {
    /// The jobs in the history of an asset, the newest first, at most 32.
    ///
    /// The draft's count as well: publishing takes them over.
    public func publishedJobs(
        of asset: AssetPath, _ state: AssetState
    ) throws(Failure) -> [PublishedJob] {
        var lists: [[PublishedJob]] = []
        for version in [state.draft, state.current].compactMap(\.self) {
            if let published = version.published {
                lists.append(published)
            } else {
                lists.append(try jobsBefore(version, of: asset))
            }
        }
        return PublishedJob.merged(lists)
    }

    /// The jobs of a version that a release before format 2 made, and of those ahead of it: read from each, once for
    /// an asset, since the next version lists them.
    private func jobsBefore(
        _ version: Provenance, of asset: AssetPath
    ) throws(Failure) -> [PublishedJob] {
        var jobs: [PublishedJob] = []
        var next: Provenance? = version
        for _ in 0..<PublishedJob.listedMax {
            guard let version = next else { break }
            jobs += [version.job].compactMap(\.self)
            next = try version.parent.flatMap(VersionName.init).flatMap { name throws(Failure) in
                try provenance(of: name, asset)
            }
        }
        return jobs
    }

    /// What an asset's history says of a job: nil when it has made no version yet.
    public func publishedBefore(
        _ job: PublishedJob?, of asset: AssetPath, _ state: AssetState
    ) throws(Failure) -> PublishedBefore? {
        guard let job,
            let before = try publishedJobs(of: asset, state).first(where: job.isSame),
            let name = VersionName(before.version)
        else { return nil }
        if let draft = state.draft, draft.version == before.version { return .kept(draft) }
        guard let version = try provenance(of: name, asset) else { return .gone(before.version) }
        return .kept(version)
    }
}

extension PublishedJob {
    fileprivate var revision: Int { VersionName(version)?.revision ?? 0 }
}

extension Provenance {
    /// The job that made it.
    package var job: PublishedJob? {
        published?.first { $0.version == version }
            ?? PublishedJob(author, edit: nil, version: version)
    }
}
