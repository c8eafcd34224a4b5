import Edits

@testable import JobQueue

/// What a queue is, as plain values: the specification of the scripts.
///
/// A job has one state, and the rest follows from it: who is ready in which flow, who is leased, how many of
/// a tenant run. Redis keeps all this in structures of their own; `lines` says what has to be in them.
struct QueueModel {
    let rules: QueueRules
    var jobs: [String: Job] = [:]
    var batches: [String: Batch] = [:]
    /// The holders of assets.
    var assets: [String: String] = [:]
    var batchStreams: [String: BatchStream] = [:]
    /// The parts of jobs, by job.
    var parts: [String: Parts] = [:]
    var ingress: [Entry] = []
    var urgent: [Entry] = []
    /// How many entries each stream has had.
    var ingressCount = 0
    var urgentCount = 0
    var ingressLast = 0
    var sequence = 0

    var tags: [Flow: Int] = [:]
    var capped: Set<Flow> = []
    var finished: [Flow: Int] = [:]
    var virtual: [String: Int] = [:]
    /// Whether the last admission left entries because enough jobs wait.
    var isHeld = false
    var turn: Int?
    var asked: (worker: String, isLate: Bool)?
    /// Where workers go on that look past jobs, by worker.
    var looks: [String: Looks] = [:]

    var config: [String: String] = [:]
    var counters: [String: Int] = [:]
    var done: [String] = []
    var malformed: [String] = []
    var seenNew: [String: String] = [:]
    var seenOld: [String: String] = [:]
    var seenSince = false
    /// Whether a name may be used anew.
    var hasForgottenNames = false
    /// How many dead jobs were moved to the library.
    var spilled = 0
    /// The highest revision that was told of assets whose library was set back.
    var told: [String: Int] = [:]
    var workers: Set<String> = []
    /// Those of them that were not heard of for long.
    var silent: Set<String> = []
    var control: [String] = []
    /// How many idle batch streams have been looked at in this turn; nil before the first.
    var nextCheck: Int?
    var events: [Event] = []

    /// How far the server's clock has been set, in seconds, and how far the queue's time has come with it.
    var (offset, reached) = (0, Int.min)
    /// How far the queue's time was when another server began, and the latest arrival before.
    var (floor, floorArrival) = (Int.min, 0)
    /// How far the queue's time was when the last admission left an ingress stream empty: urgent, and other.
    var emptyAt: [Bool: Int] = [:]
    /// The renders of the queue, and their stated costs.
    var renders = Renders()

    /// All fences that were given, by job; they outlive its record.
    var fences: [String: [Int]] = [:]
    /// Logical time: moves with each use.
    var clock = 0

    /// What one command did, for its end.
    var touchedBatches: Set<String> = []
    var freedTenants: Set<String> = []
    var corrections: [Flow: Int] = [:]

    /// The `fedAt` of a batch stream that waits for entries (`idle`) or for room (`full`).
    static let (idle, full) = (Int.max - 1, Int.max)

    init(rules: QueueRules) { self.rules = rules }

    enum State: String {
        case ready, delayed, parked, active, committing, stuck, done, dead
    }

    struct Job {
        let id: String
        var state: State
        let asset: String
        var edit: String?
        var tenant = "default"
        var priority = "normal"
        var batch: String?
        /// The job that it is a part of.
        var parent: String?
        /// Whether it has been split into parts.
        var isSplit = false
        var cost: Int?
        var isNamed = false
        var hasOwnEdit = false
        var deadline: Int?
        var traceparent: Traceparent?
        /// The values of its asset; Redis keeps them until it is done.
        var fields: String?
        var sequence: Int?
        /// When it arrived; above ``clockArrival`` it has the server's time.
        var arrival: Int?
        /// When its time comes, while it waits for that.
        var notBefore: Int?
        var generation = 1
        var attempts = 0
        var crashes = 0
        var rebases = 0
        var carries = 0
        /// Claims that no heartbeat had confirmed, or that had not begun, when their leases ran out.
        var voids = 0
        /// What its flow was charged when it was claimed: µs of a slot.
        var charge: (priority: String, units: Int, weight: Int)?
        /// Whether its worker has held it for a day; else it took no time.
        var tookADay = false
        /// The last fence that a heartbeat has confirmed.
        var confirmed: Int?
        /// Fences of the holds for which crashes were counted that may be taken back.
        var blamed: [Int] = []
        /// Whether crashes have brought it into quarantine.
        var isQuarantinedForCrashes = false
        /// Whether its publication failed and waits to be carried on.
        var isHandedOn = false
        var history = 0
        var fence: Int?
        var worker: String?
        var cancel: String?
        var stage: String?
        var percent: Int?
        var tenthTold: Int?
        var outcome: String?
        var version: String?
        var result: String?
        var code: String?
        /// The workers that cannot do it.
        var unable: [String] = []
        /// What a worker must have for it.
        var needs: String?
        var hasEnded = false
        var was: String?
        var isMalformed = false
        /// When it is due, or its lease over, in logical time; nil while that is far off.
        var over: Int?

        /// Its place among others in its state.
        var rank: Int { (state == .parked ? arrival : sequence) ?? 0 }
        var isLeased: Bool { state == .active || state == .committing }
        var flow: Flow { Flow(priority: priority, tenant: tenant) }
        /// The bytes of Redis that it counts: none once it is done.
        var stored: Int {
            parent != nil || state == .done
                ? 0
                : 450 + asset.utf8.count + (edit?.utf8.count ?? 0) + (fields?.utf8.count ?? 0)
        }
        /// Its number in its batch.
        var number: Int { Int(id.split(separator: ":").last ?? "") ?? 0 }
    }

    /// The parts of a job: whether each has ended, by number.
    struct Parts {
        let task: String
        var ended: [Int: Bool] = [:]
        /// Their numbers in the order in which they were made.
        var order: [Int] = []
    }

    struct Renders {
        var jobs = 0
        var stated = 0
    }

    struct Flow: Hashable {
        let priority: String
        let tenant: String
    }

    struct Batch {
        let edit: String
        let tenant: String
        let priority: String
        let cost: Int?
        let cap: Int?
        var total: String?
        var sealed: Int?
        var admitted = 0
        var counts: [String: Int] = [:]
        var costEnded = 0
        var generation = 1
        var finished = 0
        var cancel: String?
        var uncountedInStream: Int?
        /// Which members have ended, those that were cancelled in the stream among them.
        var ended: Set<Int> = []
        /// Dead members whose records were dropped.
        var gone = 0
        /// Whether it ended long ago, and stays for its dead members alone.
        var isOld = false
        /// When its stream was fed last, or what it waits for; nil when it is fed no more.
        var fedAt: Int?
        /// Whether entries of its stream were taken.
        var wasFed = false
        /// How far the queue's time was when its stream, which was idle, was found with entries while the clock was behind.
        var idleAt: Int?
        /// When it was found so.
        var idleSince = 0
        /// The bytes of members that clients of the gateway have added, until they are fed.
        var streamBytes = 0
        var renders = Renders()
        /// How many members may be open when its stream is fed again that was full.
        var refill: Int?

        /// The bytes of Redis that it counts.
        var stored: Int { 600 + edit.utf8.count }
        /// Members that are jobs and have not ended.
        var open: Int { (0..<admitted).count { !ended.contains($0) } }
        /// Whether its stream is fed next, as far as is known.
        var isFedNext: Bool { fedAt.map { $0 < QueueModel.idle } ?? false }
        var sum: Int { counts.values.reduce(0, +) }
        var isComplete: Bool { finished == generation }
    }

    struct Entry {
        /// Its id in the stream.
        let id: String
        let fields: [QueueCommand.Field]
    }

    /// Whether a producer skipped numbers of a batch's stream. Generated sequences never do: `append` answers HARMED then, which the model
    /// does not know.
    var hasSkippedNumbers = false

    struct BatchStream {
        var last = 0
        var entries: [(number: Int, fields: [QueueCommand.Field])] = []
    }

    struct Event: Equatable {
        let id: String
        let type: String
        var subject = ""
        var detail = ""
    }

    mutating func tick() -> Int {
        clock += 1
        return clock
    }

    mutating func count(_ name: String, _ by: Int = 1) { counters[name, default: 0] += by }

    /// What an event says of its place in a trace.
    static func shown(_ traceparent: Traceparent?) -> String {
        traceparent.map { " in \($0)" } ?? ""
    }

    mutating func emit(_ job: Job, _ type: String, _ tail: String, _ detail: String = "") {
        if job.parent != nil { return }
        events.append(
            Event(
                id: "\(job.id)/\(tail)", type: "job.\(type)", subject: job.asset,
                detail: detail + Self.shown(job.traceparent)))
    }

    /// The jobs in a state, in the order of their admission, and parked ones in that of their arrival.
    func jobs(_ state: State, where matches: (Job) -> Bool = { _ in true }) -> [Job] {
        jobs.values.filter { $0.state == state && matches($0) }
            .sorted { ($0.rank, $0.id) < ($1.rank, $1.id) }
    }

    /// Above all arrivals that entries say.
    static let clockArrival = 1_000_000_000_000_000

    /// The arrival of what arrives now.
    mutating func arrivesNow() -> Int { Self.clockArrival + tick() }

    /// Whether the server's clock is behind the queue's time.
    var isBehind: Bool { offset < reached }

    /// Notes that a script has taken time.
    mutating func takeTime() { reached = max(reached, offset) }

    /// Another server, or the same one after a restart, knows the queue and not the time since its last write: the queue's time goes on ten
    /// seconds later.
    mutating func serverRestarts() {
        guard reached > Int.min else { return }
        reached = max(reached + 10, offset)
        (floor, floorArrival) = (reached, Self.clockArrival + clock)
    }

    func running(_ tenant: String) -> Int {
        jobs.values.count { $0.isLeased && $0.tenant == tenant }
    }

    /// What is due and waits for any living worker.
    var overdue: OverdueWork {
        OverdueWork(
            delayed: jobs.values.count { $0.state == .delayed && $0.over != nil },
            leases: jobs.values.count { $0.isLeased && $0.over != nil })
    }

    /// The fence of a hold; nil when nobody was given it.
    func fence(_ hold: QueueCommand.Hold) -> Int? {
        guard let age = hold.age, let given = fences[hold.job], age < given.count else {
            return nil
        }
        return given[given.count - 1 - age]
    }

    /// Why a write is refused, or nil.
    func refusal(_ hold: QueueCommand.Hold) -> String? {
        guard let job = jobs[hold.job] else { return "GONE" }
        guard let fence = fence(hold), fence == job.fence else { return "FENCED" }
        return nil
    }

    /// What the heartbeats of a worker tell of its machine: those of `w` have less memory, and an earlier release.
    static func info(of worker: String) -> String {
        worker == "w"
            ? #"{"memory":{"budgetBytes":5},"version":"1"}"#
            : #"{"memory":{"budgetBytes":9},"version":"2"}"#
    }

    /// Whether a worker has what a job needs, as far as it has told.
    private func meets(_ worker: String, _ needs: String?) -> Bool {
        guard let needs, !needs.isEmpty, workers.contains(worker) else { return true }
        let isSmall = worker == "w"
        switch needs {
        case "memory 9", "release 1": return !isSmall
        case "release 2": return isSmall
        case "memory 5": return true
        default: return false
        }
    }

    /// Whether a worker that no `reap` has removed is none of these, and has what is needed.
    func hasAbleWorker(_ unable: [String], _ needs: String?) -> Bool {
        workers.contains { !unable.contains($0) && meets($0, needs) }
    }

    /// Whether a worker leaves a job to others.
    func isForOthers(_ job: Job, _ worker: String) -> Bool {
        !job.unable.isEmpty && (job.unable.contains(worker) || !meets(worker, job.needs))
            && hasAbleWorker(job.unable, job.needs)
    }

    mutating func giveFence(_ id: String) {
        let fence = tick()
        jobs[id]?.fence = fence
        fences[id, default: []].append(fence)
    }
}
