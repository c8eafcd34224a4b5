public import Edits
import Redis

/// Reads dead jobs in the order of their deaths, in bounded memory.
///
/// A job that is replayed between two pages is not returned any more; no other job is skipped. Jobs that die after the reader was
/// created are not returned: otherwise a job that fails again at once would be replayed forever.
public struct DeadReader: Sendable {
    private let queue: JobQueue
    private let filter: DeadFilter
    /// The position after the last page.
    public private(set) var position: Position
    private var digests: [String: String?] = [:]

    /// The maximum number of dead jobs of one page.
    public static let pageMax = 200
    /// The maximum number of edits whose digests are cached.
    private static let digestsMax = 100

    /// Starts at the first dead job, or continues at the position of another reader.
    ///
    /// - Parameter position: The position of a reader with the same filter.
    public init(
        _ queue: JobQueue, _ filter: DeadFilter, after position: Position? = nil
    ) async throws(QueueError) {
        self.queue = queue
        self.filter = filter
        if let position {
            self.position = position
            return
        }
        let last = try await queue.lastDeath()
        self.position = Position(
            from: filter.since ?? 0, until: min(filter.until ?? last, last), job: "")
    }

    /// Returns the matching jobs of the next page, possibly none; nil after the last page.
    ///
    /// - Parameter count: The number of dead jobs to inspect, at most ``pageMax``.
    public mutating func next(
        _ count: Int = DeadReader.pageMax
    ) async throws(QueueError) -> [JobRecord]? {
        let page = try await queue.members(
            of: queue.name.keys.dead, after: ScoredMember(name: position.job, score: position.from),
            until: position.until, count: max(1, min(count, Self.pageMax)))
        guard let last = page.last else { return nil }
        position = Position(from: last.score, until: position.until, job: last.name)
        return try await matching(page.map(\.name))
    }

    private mutating func matching(_ ids: [String]) async throws(QueueError) -> [JobRecord] {
        var records: [JobRecord] = []
        for record in try await queue.records(of: ids) where filter.matches(record) {
            records.append(record)
        }
        guard let digest = filter.edit else { return records }
        var found: [JobRecord] = []
        for record in records {
            if try await self.digest(of: record) == digest { found.append(record) }
        }
        return found
    }

    private mutating func digest(of record: JobRecord) async throws(QueueError) -> String? {
        guard let text = try await queue.edit(of: record) else { return nil }
        if let known = digests[text] { return known }
        // Text that is not an edit has no digest.
        let digest = (try? Edit(json: text))?.json.digest
        if digests.count >= Self.digestsMax { digests = [:] }
        digests[text] = .some(digest)
        return digest
    }
}

extension JobQueue {
    /// Returns the records of jobs; jobs without a record are left out.
    func records(of ids: [String]) async throws(QueueError) -> [JobRecord] {
        let replies = try await sendAll(
            ids.map { ["HGETALL", name.keys.job($0)] }, skippingDamaged: true)
        return zip(ids, replies).compactMap { JobRecord($0, $1.pairs ?? [:]) }
    }

    /// Returns the edit of a job as the producer sent it: its own or its batch's. Returns nil if the job never had one.
    public func edit(of record: JobRecord) async throws(QueueError) -> String? {
        let own = try await send("GET", name.keys.edit(record.job))
        var bytes = own.bytes
        if bytes == nil, let batch = record.batch {
            bytes = try await send("GET", name.keys.batchEdit(batch)).bytes
        }
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the values of a job for placeholders, as the producer sent them. Returns nil if it has none.
    public func fields(of record: JobRecord) async throws(QueueError) -> String? {
        try await send("HGET", name.keys.job(record.job), "fields").bytes
            .map { String(decoding: $0, as: UTF8.self) }
    }
}

extension DeadReader {
    /// A position between two dead jobs: after the last job that was read.
    ///
    /// A client can receive it as opaque text and send it back; the text is checked. A position stays valid while jobs die, are
    /// replayed or are dropped, including the job that it names.
    public struct Position: Sendable, Equatable, CustomStringConvertible {
        /// The time of death of the last job that was read, or the time at which reading starts; ms since 1970.
        package let from: Int
        /// The time of death after which jobs are not read; ms since 1970.
        let until: Int
        /// The last job that was read; empty for none.
        let job: String

        /// The maximum length of the text. No text of a job is that long.
        static let textMax = 256
        private static let separator = ","

        init(from: Int, until: Int, job: String) {
            (self.from, self.until, self.job) = (from, until, job)
        }

        /// Decodes a position from text.
        ///
        /// - Throws: `invalidValue`.
        public init(_ text: String) throws(Failure) {
            let fields =
                text.utf8.count > Self.textMax
                ? []
                : text.split(
                    separator: Self.separator, maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, let from = Self.time(fields[0]),
                let until = Self.time(fields[1]),
                fields[2].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else {
                throw Failure(
                    .invalidValue,
                    "cursor \(String(text.prefix(80)).debugDescription) is none of a list of dead jobs; begin without "
                        + "one.")
            }
            self.init(from: from, until: until, job: String(fields[2]))
        }

        /// Returns the position behind another job of the same millisecond, or before the first one (nil), for a client that may
        /// not know the name of the last one. Jobs between both are inspected again.
        package func behind(_ job: String?) -> Position {
            Position(from: from, until: until, job: job ?? "")
        }

        /// Times are below the largest integer that Redis' scores represent exactly.
        private static func time(_ text: Substring) -> Int? {
            Int(text).flatMap { (0..<1 << 53).contains($0) ? $0 : nil }
        }

        public var description: String {
            ["\(from)", "\(until)", job].joined(separator: Self.separator)
        }
    }
}

/// A filter of dead jobs: of those within somebody's reach, the ones that meet all conditions. A condition that is nil or empty
/// matches every job.
public struct DeadFilter: Sendable {
    /// The jobs that the caller may see.
    public let reach: Reach
    /// The batch of the job.
    public var batch: BatchID?
    public var tenant: JobID?
    /// The failure codes, one of which the job died of.
    public var codes: Set<FailureCode> = []
    /// The earliest time of death, ms since 1970.
    public var since: Int?
    public var until: Int?
    /// The digest of the job's edit: SHA-256 of its canonical JSON, in hex.
    public var edit: String?
    /// The ``DeadGroup/name`` of the group that counts the job. Jobs in files are in no group.
    public var group: String?

    public init(_ reach: Reach) { self.reach = reach }

    /// Returns whether the filter matches a job, as far as the job's record tells.
    func matches(_ record: JobRecord) -> Bool {
        (group.map { record.group == $0 } ?? true)
            && matches(record.job, record.tenant, record.asset, record.batch, record.code)
    }

    private func matches(
        _ job: String, _ tenant: String, _ asset: String, _ batch: String?, _ code: FailureCode?
    ) -> Bool {
        reach.covers(job: job, tenant: tenant, asset: asset)
            && (self.batch.map { batch == $0.string } ?? true)
            && (self.tenant.map { tenant == $0.string } ?? true)
            && (codes.isEmpty || code.map(codes.contains) ?? false)
    }

    /// Returns whether the filter matches a job from a file.
    public func matches(_ job: SpilledJob) -> Bool {
        let code = job.code.flatMap(FailureCode.init)
        guard group == nil, matches(job.job, job.tenant, job.asset, job.batch, code),
            job.died >= since ?? .min, job.died <= until ?? .max
        else { return false }
        // Some jobs died because their edit cannot be decoded. Such an edit has no digest.
        return edit == nil || job.edit.flatMap { try? Edit(json: $0) }?.json.digest == edit
    }
}

/// The dead jobs of one tenant that have the same edit and died of the same failure code.
public struct DeadGroup: Sendable, Codable, Equatable {
    /// The name of the group, for ``DeadFilter/group``: `<code>:<tenant>:<edit>`.
    public let name: String
    /// The failure code of the jobs, for programs.
    public let code: String
    public let tenant: String
    /// The start of a digest of the edit's text; equal texts have equal digests. Nil for entries that never became a job.
    public let edit: String?
    public let jobs: Int
    /// The time at which the first job died since the group appeared, ms since 1970.
    public let first: Int
    /// The time at which the last job died, ms since 1970.
    public let last: Int
    /// The job that died last, as a sample. It may have been replayed since.
    public let sample: String

    /// The maximum number of groups. Deaths of further causes are counted together.
    public static let groupsMax = 1000
}

public struct DeadGroups: Sendable, Codable, Equatable {
    public let groups: [DeadGroup]
    /// The number of dead jobs outside any group, because there are too many causes; nil if the jobs were counted one by one,
    /// which leaves out none.
    public let others: Int?

    package init(groups: [DeadGroup], others: Int?) {
        self.groups = groups.sorted { ($1.jobs, $0.name) < ($0.jobs, $1.name) }
        self.others = others
    }
}

extension DeadGroup {
    /// Creates the group of one dead job, for counting some jobs and not all of the queue. A job that no group of the queue counts,
    /// because it died under an earlier release or there were too many causes, is counted without its edit.
    package init(of record: JobRecord) {
        let died = record.ended ?? record.enqueued
        let text = "1 \(died) \(died) \(record.job)"
        if let name = record.group, let group = DeadGroup(name, text) {
            self = group
            return
        }
        let code = record.code?.rawValue ?? "unknown"
        self.init(
            name: "\(code):\(record.tenant):-", code: code, tenant: record.tenant, edit: nil,
            jobs: 1,
            first: died, last: died, sample: record.job)
    }

    /// Returns the group with the jobs of another part of it.
    package func adding(_ other: DeadGroup) -> DeadGroup {
        DeadGroup(
            name: name, code: code, tenant: tenant, edit: edit, jobs: jobs + other.jobs,
            first: min(first, other.first), last: max(last, other.last),
            sample: other.last >= last ? other.sample : sample)
    }

    /// Reads a field of hash `dead:groups` (see `Scripts/Shared/batches.lua`). Returns nil if the field is not a group.
    init?(_ name: String, _ text: String) {
        let cause = name.split(separator: ":", omittingEmptySubsequences: false)
        let fields = text.split(separator: " ", maxSplits: 3)
        guard cause.count == 3, fields.count == 4, let jobs = Int(fields[0]),
            let first = Int(fields[1]), let last = Int(fields[2])
        else { return nil }
        self.init(
            name: name, code: String(cause[0]), tenant: String(cause[1]),
            edit: cause[2] == "-" ? nil : String(cause[2]), jobs: jobs, first: first, last: last,
            sample: String(fields[3]))
    }
}
