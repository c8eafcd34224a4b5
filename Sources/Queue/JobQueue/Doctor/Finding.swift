import Redis

/// One violation of an invariant of the queue's data in Redis, or of what its server must keep.
///
/// ``JobState`` and the files of `Scripts/Shared` define the invariants; the scripts `inspect` and `inspect_…` check them.
public struct Finding: Sendable, Codable, Equatable {
    public enum Kind: String, Sendable, Codable, CaseIterable {
        // A job and its place.
        case notInPlace, inWrongPlace, memberWithoutRecord, recordIncomplete, partWithoutRecord
        // The holder of an asset.
        case holderWrong, assetNotHeld, assetHeldTwice, parkedBehindNobody
        // The order of service, and running jobs.
        case flowUnserved, flowTwice, flowEmpty, flowNotFinished, flowHeldBack, runningMiscounted
        case leasesOverdue, timeImpossible
        // Publishing.
        case publicationStuck, formatLater
        // The reports of workers, and keys of another type.
        case reportOfNobody, structureDamaged
        // The groups of dead jobs, and the bytes of a tenant.
        case deadMiscounted, storedMiscounted
        // The server.
        case serverUnsafe
        // Batches.
        case batchMiscounted, batchHolesMiscounted, batchUnlisted, batchNotCompleted
        case batchCompletedEarly, laneSurplus, laneUnopened, memberLost, memberUncounted
    }

    public let kind: Kind
    /// The affected job, flow (`<priority>:<tenant>`), tenant or batch.
    public let subject: String
    /// The structure, field, asset or counts (`counted/true`) in question; empty if the kind says everything.
    public let detail: String
    /// Whether the violation has been repaired.
    public let isMended: Bool
}

extension Finding {
    /// Creates the fault of a server that may lose jobs.
    init(unsafe refusal: String) {
        self.init(kind: .serverUnsafe, subject: "redis", detail: refusal, isMended: false)
    }

    /// A sentence that states the violation and its consequence.
    public var sentence: String {
        switch kind {
        case .notInPlace: "job \(subject) is not in \(detail), where its state says it is."
        case .inWrongPlace: "\(subject) is in \(detail), but its state names another place."
        case .memberWithoutRecord: "\(detail) contains \(subject), which has no record."
        case .recordIncomplete:
            "the record of \(subject) has no valid \(detail); the job cannot continue."
        case .partWithoutRecord:
            "\(detail) of \(subject) exists, but the record of \(subject) does not."
        case .holderWrong: "asset \(detail) is given to job \(subject), which does not need it."
        case .assetNotHeld:
            "job \(subject) does not hold its asset \(detail): another job could edit the asset at the same time."
        case .assetHeldTwice:
            "job \(subject) and another job both hold asset \(detail)."
        case .parkedBehindNobody:
            "job \(subject) waits for asset \(detail), which no job holds: it would wait forever."
        case .flowUnserved: "\(detail) ready jobs of \(subject) are not served."
        case .flowTwice: "\(subject) is served and waits for its cap at the same time."
        case .flowEmpty: "\(subject) is served and has no job."
        case .flowNotFinished: "\(subject) counts as finished and has jobs."
        case .flowHeldBack: "\(detail) ready jobs of \(subject) wait for a cap that is not reached."
        case .runningMiscounted:
            "tenant \(subject) counts \(halves.counted) running jobs; its leases are \(halves.true)."
        case .leasesOverdue:
            "\(detail) leases expired long ago, and no worker has taken their jobs back."
        case .timeImpossible:
            "the time of \(subject) in \(detail) lies further ahead than it can: the clock of the Redis server was set back."
        case .publicationStuck:
            "job \(subject) is stuck: its version could not be published and it holds asset \(detail)."
        case .formatLater:
            "the record of job \(subject) is of format \(detail); this minilab reads up to "
                + "\(JobRecord.formatKnown). Use a newer minilab to process and inspect the job."
        case .reportOfNobody:
            "\(detail) has a report of \(subject), which is no worker: nothing removes it."
        case .structureDamaged:
            "key \(subject) is not \(detail): somebody wrote to it, and no worker can use it."
        case .deadMiscounted:
            "the groups of \(subject) jobs count \(halves.counted); \(halves.true) are dead. Jobs that died under an earlier "
                + "release are in no group: minilab doctor --repair counts them in."
        case .storedMiscounted:
            "tenant \(subject) counts \(halves.counted) bytes of Redis; its jobs take \(halves.true)."
        case .serverUnsafe: detail
        case .batchMiscounted:
            "batch \(subject) counts \(halves.counted) ended jobs; its bitmap has \(halves.true)."
        case .batchHolesMiscounted:
            "batch \(subject) counts \(halves.counted) jobs as cancelled in its stream; its bitmap has "
                + "\(halves.true)."
        case .batchUnlisted: "batch \(subject) is missing from \(detail)."
        case .batchNotCompleted:
            "all jobs of batch \(subject) have ended, but no event announced it."
        case .batchCompletedEarly:
            "batch \(subject) counts as completed with \(halves.counted) of \(halves.true) jobs ended."
        case .laneSurplus:
            "the stream of batch \(subject) has \(detail) entries that will never be jobs: the batch was "
                + "sealed or cancelled without them. Send them in a batch of their own."
        case .laneUnopened:
            "the stream of batch \(subject) has \(detail) entries, but no batch of this name was opened."
        case .memberLost: "job \(subject) of batch \(detail) has not ended, and it has no record."
        case .memberUncounted: "job \(subject) has ended, and batch \(detail) has not counted it."
        }
    }

    /// Whether the queue itself is correct: the fault is a producer's, a newer minilab is needed, or only a displayed count is
    /// wrong.
    var isWarning: Bool {
        kind == .laneSurplus || kind == .formatLater || kind == .deadMiscounted
    }

    /// The action that a person can take; nil if `--repair` alone suffices.
    public var advice: String? {
        switch kind {
        case .recordIncomplete:
            "Was Redis restored from a backup, or written to by hand? Cancel the job and send it again."
        case .assetHeldTwice:
            "Wait: fences let only one of them publish at a time. Then run minilab doctor again."
        case .publicationStuck:
            "Remove the cause; then run minilab replay \(subject) to publish it, or --repair to publish all such "
                + "jobs. Or run minilab cancel \(subject) to give it up."
        case .laneUnopened:
            "Open the batch to run them, or use --repair to remove them. The name of a batch that has ended cannot "
                + "be used again for one to two days."
        case .timeImpossible:
            "Start a worker: any worker corrects it within a second. Then check the clock of the Redis server."
        case .leasesOverdue: "Start a worker: any worker takes them back."
        case .structureDamaged:
            "Use --repair: it removes the key, and puts the jobs back whose records say that they were there."
        case .batchMiscounted, .batchCompletedEarly, .memberLost:
            "Redis lost writes. Compare the batch's assets with its list of jobs, and send the missing jobs again."
        default: nil
        }
    }

    private var halves: (counted: Substring, true: Substring) {
        let parts = detail.split(separator: "/", maxSplits: 1)
        return (parts.first ?? "?", parts.last ?? "?")
    }
}

/// The result of `minilab doctor`.
public struct Diagnosis: Sendable, Codable, Equatable {
    /// The faults that were repaired; at most ``findingsMax``.
    public var mended: [Finding] = []
    /// The faults that remain; at most ``findingsMax``.
    public var open: [Finding] = []
    /// Conditions that are valid but may have a cost.
    public var warnings: [String] = []
    /// The number of places of jobs that were inspected. A job is inspected once for each key that has its name.
    public var places = 0
    /// The number of flows that were inspected.
    public var flows = 0
    /// The number of batches that were inspected.
    public var batches = 0

    /// The maximum number of findings kept of each kind. The walk continues beyond it, to repair the rest.
    public static let findingsMax = 1000

    /// Whether no fault remains.
    public var isHealthy: Bool { open.isEmpty }

    mutating func add(_ finding: Finding) {
        if finding.isMended {
            if mended.count < Self.findingsMax { mended.append(finding) }
        } else if finding.isWarning {
            if warnings.count < Self.findingsMax { warnings.append(finding.sentence) }
        } else if open.count < Self.findingsMax, !open.contains(finding) {
            open.append(finding)
        }
    }
}

/// Passes the candidates of a walk to the scripts and collects their findings.
struct Examination {
    /// An id, and the structure in which it was seen.
    typealias Candidate = (structure: String, id: String)

    /// The maximum number of leases that are counted: more than the slots of any queue.
    static let leasesMax = 10_000
    /// The maximum number of batch members of one call.
    static let membersMax = 200
    /// The maximum number of impossible times of each structure that are named.
    static let timesMax = 100
    /// The number of lease durations after which an expired lease counts as neglected: no worker reaps.
    static let leasesOverdue = 3

    let queue: JobQueue
    let repair: Bool
    var diagnosis = Diagnosis()

    init(queue: JobQueue, repair: Bool) {
        self.queue = queue
        self.repair = repair
    }

    mutating func inspect(_ candidates: [Candidate]) async throws(QueueError) {
        if candidates.isEmpty { return }
        diagnosis.places += candidates.count
        try await add(
            QueueScript.inspect, queue.settings.lease,
            candidates.flatMap { [$0.structure, $0.id] })
    }

    mutating func inspect(flows: ArraySlice<String>) async throws(QueueError) {
        diagnosis.flows += flows.count
        try await add(QueueScript.inspectFlows, 0, flows)
    }

    /// Compares the groups of dead jobs with the dead jobs.
    mutating func inspectGroups() async throws(QueueError) {
        try await add(QueueScript.inspectGroups)
    }

    /// The maximum number of tenants of one call.
    static let tenantsMax = 500

    /// Compares the bytes of tenants with what a walk has summed up, unless something has changed meanwhile.
    mutating func inspect(_ stored: StoredWalk) async throws(QueueError) {
        let pairs = stored.arguments
        for start in stride(from: 0, through: max(0, pairs.count - 1), by: 2 * Self.tenantsMax) {
            let some = pairs[start..<min(start + 2 * Self.tenantsMax, pairs.count)]
            try await add(QueueScript.inspectStored, stored.turn, some)
        }
    }

    /// Counts the running jobs and reports expired leases that no worker reaps.
    mutating func inspectLeases() async throws(QueueError) {
        try await add(QueueScript.inspectFlows, Self.leasesMax)
        let now = try await queue.now()
        let limit = now - Self.leasesOverdue * queue.settings.lease.milliseconds
        let overdue = try await queue.send("ZCOUNT", queue.name.keys.lease, "-inf", "(\(limit)")
        if let overdue = overdue.int, overdue > 0 {
            diagnosis.add(
                Finding(
                    kind: .leasesOverdue, subject: queue.name.string, detail: "\(overdue)",
                    isMended: false))
        }
    }

    /// Reports what waits for a time that no clock can have given.
    mutating func inspectTimes() async throws(QueueError) {
        let dutyMax = Duty.allCases.map(\.lease.milliseconds).max() ?? 0
        try await add(
            QueueScript.inspectTimes, queue.settings.lease, queue.settings.retry.cap, dutyMax,
            Self.timesMax)
    }

    /// Reports a structure of another type, which every script refuses. The repair removes it: the records of the jobs say what was in
    /// it, and the walks after it put them back.
    mutating func report(
        damaged structure: String, needing type: String
    ) async throws(QueueError) {
        if repair {
            _ = try await queue.send("UNLINK", queue.name.keys.prefix + structure)
        }
        diagnosis.add(
            Finding(
                kind: .structureDamaged, subject: structure, detail: type, isMended: repair))
    }

    mutating func inspect(batch: String) async throws(QueueError) {
        diagnosis.batches += 1
        var member = 0
        while member >= 0 {
            let (reply, script) = try await run(
                QueueScript.inspectBatch,
                [batch, member, Self.membersMax, queue.settings.unopenedStreamGrace])
            guard let parts = reply.array, parts.count == 2, let next = parts[0].int else {
                throw queue.unexpected(reply, of: script)
            }
            try add(parts[1], of: script)
            member = Int(next)
        }
    }

    private func run(
        _ inspection: QueueScript.Inspection, _ arguments: [any Arguments]
    ) async throws(QueueError) -> (RedisReply, RedisScript) {
        let script = repair ? inspection.mend : inspection.look
        let all = RedisArgument.list([repair] + arguments)
        return (try await queue.run(script, all), script)
    }

    private mutating func add(
        _ inspection: QueueScript.Inspection, _ arguments: any Arguments...
    ) async throws(QueueError) {
        let (reply, script) = try await run(inspection, arguments)
        try add(reply, of: script)
    }

    private mutating func add(
        _ reply: RedisReply, of script: RedisScript
    ) throws(QueueError) {
        guard let rows = reply.array else { throw queue.unexpected(reply, of: script) }
        for row in rows {
            guard let fields = row.array?.map(\.string), fields.count == 4,
                let kind = fields[0].flatMap(Finding.Kind.init), let subject = fields[1],
                let detail = fields[2]
            else { throw queue.unexpected(row, of: script) }
            diagnosis.add(
                Finding(kind: kind, subject: subject, detail: detail, isMended: fields[3] == "1"))
        }
    }
}
