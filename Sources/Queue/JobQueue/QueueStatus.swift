public import Edits
import Redis
import Synchronization

/// The number of jobs in each state.
public struct QueueStatus: Sendable, Equatable {
    /// The number of jobs by state. `ready` and `lane` leave out what ``flowsMax`` leaves out; `active` has all jobs that workers hold.
    let jobs: [JobState: Int]
    /// The reason why no job is claimed; nil while claims continue.
    public let paused: String?
    /// The reason why entries stay in the ingress stream; nil while they are admitted.
    public let ingressHold: AdmissionLimit?
    /// The tenants that have ready jobs, and the order of service.
    public let flows: [Flow]
    /// The counts of events since the queue was created: `admitted`, `completed`, `failed`, `retried`, `drafted`, `rendered`, `unchanged`,
    /// `superseded`, `cancelled`, `crashed`, `stuck`, `quarantined`, `replayed`, `duplicates`, `conflicts`, `batches`. `voided`
    /// counts claims that no heartbeat confirmed, or whose worker died before it started the job. `pardoned` counts crashes that
    /// were uncounted because the worker was alive. `requeued` counts jobs that were released because a worker was short of
    /// memory. `milliseconds` is the time for which workers held jobs.
    public let counters: [String: Int]
    /// The jobs that workers hold, the oldest hold first; at most ``heldMax``.
    public let held: [JobRecord]
    /// The stuck jobs, the first one first; at most ``heldMax``.
    public let stuckJobs: [JobRecord]
    /// The workers that sent a heartbeat recently.
    public let workers: [WorkerInfo]
    /// The workers of which nothing was heard for some time, and that nobody has forgotten yet.
    public let silentWorkers: [SilentWorker]
    /// The jobs that are due by now. While workers live, they are about to do it.
    public let overdue: OverdueWork

    /// The ready jobs of one tenant at one priority.
    public struct Flow: Sendable, Codable, Equatable {
        /// The priority; `alone` is quarantine.
        public let priority: String
        public let tenant: String
        /// The number of ready jobs.
        public let ready: Int
        /// The virtual time at which the next job starts; the flow with the least time is next.
        public let start: Int
        /// Whether the tenant is at its cap.
        public let isCapped: Bool
    }

    /// The maximum number of held jobs that are listed.
    public static let heldMax = 50
    /// The maximum number of flows and batch streams that are inspected; `ready` and `lanes` leave out the rest.
    public static let flowsMax = 10_000

    /// Whether no work is left that workers would do without an operator.
    public var isDrained: Bool { jobs.allSatisfy { !$0.key.goesOn || $0.value == 0 } }

    public subscript(_ state: JobState) -> Int { jobs[state] ?? 0 }
}

extension QueueStatus: Encodable {
    private enum CodingKeys: String, CodingKey {
        case paused, ingressHold, flows, counters, held, stuckJobs, workers, silentWorkers, overdue
    }

    /// Encodes the counts beside the other fields, under their names.
    public func encode(to encoder: any Encoder) throws {
        try Dictionary(uniqueKeysWithValues: JobState.counted.map { ($0.countName, self[$0]) })
            .encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(paused, forKey: .paused)
        try fields.encodeIfPresent(ingressHold, forKey: .ingressHold)
        try fields.encode(flows, forKey: .flows)
        try fields.encode(counters, forKey: .counters)
        try fields.encode(held, forKey: .held)
        try fields.encode(stuckJobs, forKey: .stuckJobs)
        try fields.encode(workers, forKey: .workers)
        try fields.encode(silentWorkers, forKey: .silentWorkers)
        try fields.encode(overdue, forKey: .overdue)
    }
}

extension QueueStatus {
    /// The jobs that are due and stand because no worker lives, for people; nil if nothing is.
    package var dueForNobody: String? { workers.isEmpty ? overdue.sentence : nil }

    /// The number of jobs in workers' hands. Where all of them are listed, their list is counted: readers see it, too, and
    /// numbers from two readings differ.
    package var inHand: Int { held.count < Self.heldMax ? held.count : self[.active] }

    /// The number of jobs in the hands of one worker, by the leases; nil if not all jobs in hand are listed.
    package func inHand(of worker: WorkerInfo) -> Int? {
        held.count < Self.heldMax ? held.count { $0.worker == worker.name } : nil
    }
}

extension QueueStatus.Flow {
    init?(_ row: RedisReply) {
        guard let fields = row.array, fields.count == 5, let priority = fields[0].string,
            let tenant = fields[1].string, let ready = fields[2].int, let start = fields[3].int,
            let capped = fields[4].string
        else { return nil }
        self.init(
            priority: priority, tenant: tenant, ready: Int(ready), start: Int(start),
            isCapped: capped == "1")
    }
}

/// The description of a worker, which it sends with each heartbeat.
public struct WorkerInfo: Sendable, Codable, Equatable {
    public let name: String
    /// The number of jobs that it can run at the same time.
    public let slots: Int
    /// The number of jobs that it ran at its last heartbeat. The leases tell how many it has now.
    public internal(set) var busy: Int
    public let version: String
    /// The time of its start; RFC 3339.
    public let startedAt: String
    /// Names its process: another one of its name has another. Nil before its first heartbeat, and from workers of older versions.
    public internal(set) var run: String?
    /// The facts about its machine and settings that decide which jobs it can do, by name, as far as they differ from what is usual in its release.
    /// Nil from workers of older versions.
    public internal(set) var machine: [String: String]?
    /// Its lease, which its heartbeats follow; nil from workers of older versions.
    public internal(set) var leaseMilliseconds: Int?
    /// The latest format of a queue that it knows; nil from workers of older versions, which know format 1.
    public internal(set) var queueFormat: Int?
    /// The memory of its render children; nil from workers of older versions.
    public internal(set) var memory: WorkerMemory?
    /// The id of its library; nil if it has none, or from workers of older versions.
    public internal(set) var library: String?
    /// Why its library cannot be used, so that it claims no jobs; nil if it can.
    public internal(set) var trouble: String?
    /// Its shortage of memory; nil if there is none, or if the worker does not report it.
    public internal(set) var pressure: Pressure?

    /// The action of a worker while memory is short.
    public struct Pressure: Sendable, Codable, Equatable {
        /// `holding`, `shrinking`, `pausing` or `requeueing`.
        public let level: String
        /// The number of suspended renders.
        public let paused: Int
        /// The measurement that caused it, for people.
        public let reading: String

        public init(level: String, paused: Int, reading: String) {
            self.level = level
            self.paused = paused
            self.reading = reading
        }
    }

    public init(
        name: String, slots: Int, busy: Int = 0, version: String, startedAt: String,
        memory: WorkerMemory? = nil, library: String? = nil, machine: [String: String]? = nil
    ) {
        self.machine = machine
        self.name = name
        self.slots = slots
        self.busy = busy
        self.version = version
        self.startedAt = startedAt
        queueFormat = QueueFormat.own.known
        self.memory = memory
        self.library = library
    }

    /// A worker whose report cannot be read: only its name is known. A worker has one slot at the least.
    init(unreadable name: String) {
        self.init(name: name, slots: 1, version: "?", startedAt: "?")
        queueFormat = nil
    }

    func with(
        busy: Int, memory: WorkerMemory?, pressure: Pressure?, trouble: String?
    ) -> WorkerInfo {
        var info = self
        info.busy = busy
        info.trouble = trouble
        info.memory = memory
        info.pressure = pressure
        return info
    }
}

/// The memory of a worker's render children, and the number of jobs that wait for memory.
public struct WorkerMemory: Sendable, Codable, Equatable, CustomStringConvertible {
    /// The memory that they may use together, in bytes.
    public let budgetBytes: Int
    /// The memory that is granted to running renders, in bytes.
    public let grantedBytes: Int
    /// The number of jobs that wait for memory.
    public let waiting: Int

    /// The description for people: `120 of 384 MB, 2 wait`.
    public var description: String {
        func megabytes(_ bytes: Int) -> Int { (bytes + 500_000) / 1_000_000 }
        return "\(megabytes(grantedBytes)) of \(megabytes(budgetBytes)) MB"
            + (waiting > 0 ? ", \(waiting) wait" : "")
    }

    public init(budgetBytes: Int, grantedBytes: Int, waiting: Int) {
        self.budgetBytes = budgetBytes
        self.grantedBytes = grantedBytes
        self.waiting = waiting
    }
}

/// `maxmemory` of Redis, as this process has read it last. An operator may change it while the queue is used.
public final class ServerMemory: Sendable {
    /// The share of `maxmemory` that the jobs of all producers may take, in percent. The rest holds what is not counted of them
    /// (done jobs, results and events, which are bounded in number), and lets operators act on a full queue.
    public static let producersPercent = 50
    /// The share of one tenant without a limit of its own, in percent.
    public static let tenantPercent = 10
    /// The interval at which a gateway reads it.
    public static let readEvery: Duration = .seconds(60)

    private let bytes = Mutex<Int?>(nil)

    init() {}

    /// `maxmemory` in bytes; nil while it is unknown, or if there is none.
    public internal(set) var max: Int? {
        get { bytes.withLock { $0 } }
        set { bytes.withLock { $0 = newValue } }
    }

    /// The bytes that the jobs of all producers may take.
    public var producersMax: Int? { max.map { $0 / 100 * Self.producersPercent } }
    /// The bytes that one tenant may take.
    public var tenantMax: Int? { max.map { $0 / 100 * Self.tenantPercent } }
}

extension JobQueue {
    /// Reads `maxmemory` of Redis into ``memory``.
    ///
    /// - Returns: the bytes that Redis uses.
    @discardableResult
    public func readMemory() async throws(QueueError) -> Int {
        let fields = Self.fields(of: try await send("INFO", "memory").string ?? "")
        let bytes = fields["maxmemory"].flatMap { Int($0) } ?? 0
        memory.max = bytes > 0 ? bytes : nil
        return fields["used_memory"].flatMap { Int($0) } ?? 0
    }

    /// The maximum number of bytes of all tenants' jobs; nil for no limit.
    var storedAllMax: Int? { settings.storedBytesMax ?? memory.producersMax }
}

/// The reason why entries stay in the ingress stream: enough jobs wait or run already, or Redis is full. The limit for urgent entries is
/// higher.
public struct AdmissionLimit: Sendable, Codable, Equatable {
    /// The number of entries that wait.
    public let entries: Int
    /// The number of single jobs that wait or run.
    public let jobs: Int
    /// The total size of their large edits, in bytes.
    public let bytes: Int
    /// `maxmemory` of Redis in bytes, if Redis uses as much; otherwise nil.
    public var memory: Int?

    /// The description for people.
    public var sentence: String {
        if let memory {
            return
                "\(entries) entries of the ingress stream wait, because Redis uses all of its maxmemory of \(memory) bytes. Workers admit "
                + "a few at a time; producers are refused. Raise maxmemory, or remove dead jobs and what else is not needed."
        }
        return
            "\(entries) entries of the ingress stream are not admitted, because \(jobs) single jobs with \(bytes) bytes "
            + "of large edits already wait or run; minilab top shows their tenants. More entries are admitted as "
            + "those jobs end: start workers, resume paused tenants, or cancel unneeded jobs."
    }
}

extension JobQueue {
    /// Returns the hold if the last admission left entries in the ingress stream, or if Redis is full; otherwise nil.
    func ingressHold() async throws(QueueError) -> AdmissionLimit? {
        guard let entries = try await send("XLEN", name.keys.ingress).int, entries > 0
        else { return nil }
        let ahead = try await send("HMGET", name.keys.virtual, "aheadJobs", "aheadBytes", "held")
        let counts = (ahead.array ?? []).map { $0.string.flatMap { Int($0) } ?? 0 }
        guard counts.count == 3 else { return nil }
        let used = try await readMemory()
        let full = memory.max.flatMap { used >= $0 ? $0 : nil }
        guard full != nil || counts[2] == 1 else { return nil }
        return AdmissionLimit(
            entries: Int(entries), jobs: counts[0], bytes: counts[1], memory: full)
    }

    /// Returns the number of announced entries that nobody admits at present, because no worker lives or admission is held; zero while
    /// they are on their way. What looks for jobs does not find them.
    package func standingEntries() async throws(QueueError) -> Int {
        if let hold = try await ingressHold() { return hold.entries }
        guard try await workers().isEmpty else { return 0 }
        let replies = try await sendAll([
            ["XLEN", name.keys.ingress],
            ["XLEN", name.keys.prefix + "in:interactive"],
        ])
        return replies.reduce(0) { $0 + Int($1.int ?? 0) }
    }
}
