public import Edits
import Redis

/// The reason for a job's state: a closed set of codes with their numbers. `Operations` has the texts.
///
/// Times are ms since 1970 by Redis' clock; spans are ms. `ahead` is the number of jobs that are likely to run first; `about` is
/// the time that they take, nil while it is unknown.
public enum JobReason: Sendable, Equatable {
    // The job waits.
    /// The job's record has a format that a newer minilab wrote.
    case laterFormat(state: String, format: Int)
    /// The job's batch was cancelled; the job ends when its turn comes.
    case batchCancelled(reason: String)
    /// All jobs, or all jobs of the tenant, are stopped.
    case stopped(by: Stop, at: Position)
    /// Workers died while they ran the job; it waits for a worker that holds no other job.
    case quarantined(crashes: Int, ahead: Int)
    /// The tenant has reached its limit of running jobs.
    case tenantCap(tenant: String, cap: Int, ahead: Int, about: Int?)
    /// The machines of some workers cannot do the job; it waits for another one. `able` is the number of those that run and may be able,
    /// nil while it is unknown.
    case ableWorker(unable: Int, able: Int?, needs: String?, ahead: Int, about: Int?)
    /// All slots are in use.
    case freeSlot(ahead: Int, about: Int?)
    case inBatchStream(batch: String, ahead: Int, about: Int?)
    case incoming(entries: Int, hasWorkers: Bool, hold: AdmissionLimit?)
    /// The job will be retried. `wait` is 0 or less if the retry is due.
    case retryAt(due: Int, wait: Int, failures: Int, error: Failing)
    /// The job does not start before a given time.
    case notBefore(due: Int, wait: Int)
    /// An earlier job of the same asset comes first.
    case behindAsset(asset: String, holder: Holder?)
    /// The job has not begun before its deadline, which passed `ago` ms ago: it fails when its turn comes. `stop` keeps that from coming.
    case deadlinePassed(at: Int, ago: Int, stop: Stop?)

    // A worker holds the job.
    case running(worker: String, since: Int?, stage: Stage?, attempt: Int)
    /// The job was cancelled and its worker notified.
    case beingStopped(worker: String, reason: String)
    /// The job's worker has sent no heartbeat since its lease expired.
    case leaseLost(worker: String, ago: Int, hasWorkers: Bool)
    case publishing(worker: String, version: Version)
    /// The job's version could not be published; another attempt follows.
    case publishingAgain(version: Version, error: Failing, hasWorkers: Bool)

    // An operator must act, or the job has ended.
    /// The job's version could not be published in all permitted attempts.
    case stuck(since: Int?, version: Version, error: Failing)
    case cancelled(at: Int?, reason: String?)
    /// Renditions were made, and no version.
    case rendered(at: Int?)
    /// `reason` is the sentence of the event; nil while Redis has none.
    case unchanged(at: Int?, reason: String?)
    /// An edit that arrived later was published first.
    case superseded(at: Int?, asset: String)
    case drafted(at: Int?, version: Version)
    case published(at: Int?, worker: String, version: Version)
    case dead(at: Int?, error: Failing, advice: Advice)
    /// The job failed, and Redis has only its name: it was moved to one of these places of the library, or discarded.
    case moved(places: String?)
    /// The job was done so long ago that only its name is left.
    case dropped
    /// The queue does not know the job. One that failed long ago is at one of the places.
    case unknown(entries: Int, hasWorkers: Bool, hold: AdmissionLimit?, places: String?)
    /// The batch has no such job.
    case unknownMember(batch: String, Absence)

    /// The reason why a batch has no job of a number.
    public enum Absence: Sendable, Equatable {
        /// The batch is sealed at fewer jobs: an entry beyond them never becomes a job.
        case beyondSeal(jobs: Int)
        /// The stream has had no such entry yet.
        case notSent
        /// A producer dropped the entry unread; the batch counts it as cancelled.
        case trimmed
        /// Redis lost the record.
        case lost
        /// The stream has entries, but no batch of this name was opened.
        case unopened
        /// The batch ended, and its record was dropped.
        case batchDropped
    }

    /// A condition that stops jobs that could run.
    public enum Stop: Sendable, Equatable {
        case queuePaused(reason: String)
        case tenantPaused(String)
        /// No worker runs.
        case noWorker
        /// No worker claims jobs; this is the trouble of one of them.
        case workersInTrouble(Int, trouble: String)
    }

    /// The position at which a stopped job waits.
    public enum Position: Sendable, Equatable {
        /// Among the jobs of its tenant.
        case ready(ahead: Int)
        /// Nowhere yet: its time has come, and nobody has noticed.
        case due
        case batchStream(batch: String, ahead: Int)
    }

    public struct Failing: Sendable, Equatable {
        /// The code, for programs; `?` if Redis has lost it.
        public let code: String
        public let message: String
    }

    public struct Holder: Sendable, Equatable {
        public let job: String
        public let state: String
        /// The number of further jobs of the asset that come before.
        public let ahead: Int
    }

    public struct Stage: Sendable, Equatable {
        /// The worker's name for the stage.
        public let name: String
        /// The rendered part of a movie.
        public let progress: JobProgress?
    }

    public struct Version: Sendable, Equatable {
        public let name: String
        public let asset: String
    }

    public enum Advice: String, Sendable {
        /// The job has nothing to run: send a correct request.
        case sendAgain
        /// A process crashed: report it, then replay.
        case reportAndReplay
        /// Replay, because a replay has no deadline.
        case replayWithoutDeadline
        /// Replay when the cause is fixed.
        case replay
        /// Send an edit that fits the asset's versions, or replay once they fit this one.
        case fitState
        /// Replay with another edit, or send another job.
        case changeEdit
    }

    /// The code of the reason: stable, for programs.
    public var code: String {
        switch self {
        case .laterFormat: "laterFormat"
        case .batchCancelled: "batchCancelled"
        case .stopped(.queuePaused, _): "queuePaused"
        case .stopped(.tenantPaused, _): "tenantPaused"
        case .stopped(.noWorker, _): "noWorker"
        case .stopped(.workersInTrouble, _): "workersInTrouble"
        case .quarantined: "quarantined"
        case .tenantCap: "tenantCap"
        case .ableWorker: "ableWorker"
        case .freeSlot: "freeSlot"
        case .inBatchStream: "inLane"
        case .incoming: "incoming"
        case .retryAt: "retryAt"
        case .notBefore: "notBefore"
        case .behindAsset: "behindAsset"
        case .deadlinePassed: "deadlinePassed"
        case .running: "running"
        case .beingStopped: "beingStopped"
        case .leaseLost: "leaseLost"
        case .publishing: "publishing"
        case .publishingAgain: "publishingAgain"
        case .stuck: "stuck"
        case .cancelled: "cancelled"
        case .rendered: "rendered"
        case .unchanged: "unchanged"
        case .superseded: "superseded"
        case .drafted: "drafted"
        case .published: "published"
        case .dead: "dead"
        case .moved: "moved"
        case .dropped: "dropped"
        case .unknownMember(_, .beyondSeal): "beyondSeal"
        case .unknownMember(_, .notSent): "notSent"
        case .unknownMember(_, .trimmed): "trimmed"
        case .unknownMember(_, .lost): "lost"
        case .unknownMember(_, .unopened): "unopened"
        case .unknown, .unknownMember(_, .batchDropped): "unknown"
        }
    }
}

/// The facts that explain a job's state, read at one moment except for the number of workers.
public struct JobFacts: Sendable, Equatable {
    public let job: String
    /// All facts by name, as the script `explain` returns them.
    package let fields: [String: String]

    package init(job: String, _ fields: [String: String]) {
        self.job = job
        self.fields = fields
    }

    public var state: JobState { fields["state"].flatMap(JobState.init) ?? .unknown }
    /// Whether the queue knows the job, perhaps in a state of a later version.
    public var isKnown: Bool { fields["state"] ?? "unknown" != "unknown" }

    /// Whether the job ended without success, as far as the name of a dropped one tells.
    public var hasFailed: Bool {
        state == .dead || state == .dropped && fields["endedAs"] == "dropped"
    }

    func text(_ name: String) -> String? { fields[name] }
    func number(_ name: String) -> Int? { fields[name].flatMap { Int($0) } }
    func has(_ name: String) -> Bool { fields[name] != nil }
}

extension JobFacts {
    /// The reason why entries stay in the ingress stream.
    var hold: AdmissionLimit? {
        guard let entries = number("holdEntries"), let jobs = number("holdJobs"),
            let bytes = number("holdBytes")
        else { return nil }
        return AdmissionLimit(
            entries: entries, jobs: jobs, bytes: bytes, memory: number("holdMemory"))
    }
}

extension JobQueue {
    /// The maximum number of flows that the script inspects.
    private static let explainFlowsMax = 1000

    /// Returns the facts of a job, whether the job is known or not.
    ///
    /// - Parameter known: the workers that sent a heartbeat recently; nil: they are read, which costs more than all other facts.
    public func facts(
        of job: String, among known: [WorkerInfo]? = nil
    ) async throws(QueueError) -> JobFacts {
        let reply = try await run(QueueScript.explain, job, Self.explainFlowsMax)
        guard var fields = reply.pairs else { throw unexpected(reply, of: QueueScript.explain) }
        // Read outside the script: the records of a thousand workers are too many to read while Redis waits.
        let workers: [WorkerInfo]
        if let known { workers = known } else { workers = try await self.workers() }
        fields["workers"] = "\(workers.count)"
        let troubled = workers.filter { $0.trouble != nil }
        fields["slots"] = "\(workers.reduce(0) { $0 + ($1.trouble == nil ? $1.slots : 0) })"
        if let unable = fields.removeValue(forKey: "unableWorkers") {
            let need = fields["needs"].flatMap { MachineNeed($0) }
            let able = workers.filter { worker in
                !unable.contains("\n\(worker.name)\t\(worker.startedAt)\n")
                    && need?.isMet(by: worker) != false
            }
            fields["able"] = "\(able.count)"
            fields["ableSlots"] = "\(able.reduce(0) { $0 + ($1.trouble == nil ? $1.slots : 0) })"
        }
        if let first = troubled.first {
            fields["troubled"] = "\(troubled.count)"
            fields["trouble"] = "\(first.name): \(first.trouble ?? "")"
        }
        if fields["incoming"] != nil, let hold = try await ingressHold() {
            fields["hold"] = hold.sentence
            fields["holdEntries"] = "\(hold.entries)"
            fields["holdJobs"] = "\(hold.jobs)"
            fields["holdBytes"] = "\(hold.bytes)"
            fields["holdMemory"] = hold.memory.map { "\($0)" }
        }
        let facts = JobFacts(job: job, fields)
        guard facts.state == .unknown || facts.state == .dropped && facts.hasFailed,
            let places = try await lastPlaces()
        else { return facts }
        fields["places"] = places
        return JobFacts(job: job, fields)
    }
}

extension JobFacts {
    /// The reason for the job's present state.
    public var reason: JobReason {
        if let format = number("format"), format > JobRecord.formatKnown {
            return .laterFormat(state: text("state") ?? "?", format: format)
        }
        if let missedDeadline { return missedDeadline }
        return switch state {
        case .ready: waiting
        case .lane: inBatchStream
        case .incoming: .incoming(entries: entries, hasWorkers: hasWorkers, hold: hold)
        case .delayed: delayed
        case .parked: .behindAsset(asset: asset, holder: holder)
        case .active: running
        case .committing: publishing
        case .stuck: .stuck(since: number("since"), version: version, error: error)
        case .done: done
        case .dead: .dead(at: number("ended"), error: error, advice: advice)
        case .dropped: hasFailed ? .moved(places: text("places")) : .dropped
        case .unknown: unknown
        }
    }

    private var asset: String { text("asset") ?? "?" }
    private var worker: String { text("worker") ?? "a worker" }
    private var tenant: String { text("tenant") ?? "default" }
    private var now: Int { number("now") ?? 0 }
    private var rank: Int { number("rank") ?? 0 }
    private var entries: Int { number("incoming") ?? 0 }
    private var hasWorkers: Bool { number("workers") != 0 }
    private var failures: Int { (number("attempts") ?? 0) + (number("crashes") ?? 0) }
    private var version: JobReason.Version {
        JobReason.Version(name: text("version") ?? "?", asset: asset)
    }
    private var error: JobReason.Failing {
        JobReason.Failing(code: text("code") ?? "?", message: text("message") ?? "")
    }

    // The condition that stops all jobs, or all jobs of the tenant.
    private var stop: JobReason.Stop? {
        if let reason = text("paused") { return .queuePaused(reason: reason) }
        if number("cap") == 0 { return .tenantPaused(tenant) }
        guard hasWorkers else { return .noWorker }
        guard let troubled = number("troubled"), troubled == number("workers") else { return nil }
        return .workersInTrouble(troubled, trouble: text("trouble") ?? "?")
    }

    // Only a worker to which the job comes ends it.
    private var missedDeadline: JobReason? {
        guard [.ready, .delayed, .parked].contains(state), let at = number("deadline"), at < now
        else { return nil }
        let (ago, isTooLong) = now.subtractingReportingOverflow(at)
        return .deadlinePassed(at: at, ago: isTooLong ? .max : ago, stop: stop)
    }

    private var waiting: JobReason {
        if let reason = text("batchCancel") { return .batchCancelled(reason: reason) }
        if let stop { return .stopped(by: stop, at: .ready(ahead: rank)) }
        if text("priority") == "alone" {
            return .quarantined(crashes: number("crashes") ?? 0, ahead: rank)
        }
        let slots = number("slots") ?? 1
        if has("capped"), let cap = number("cap") {
            return .tenantCap(
                tenant: tenant, cap: cap, ahead: rank,
                about: about(rank, atATime: min(cap, slots), mean: "ownMean"))
        }
        let before = number("before") ?? rank
        if let unable = number("unable") {
            return .ableWorker(
                unable: unable, able: number("able"), needs: text("needs"), ahead: before,
                about: turn(after: before, atATime: number("ableSlots") ?? slots))
        }
        return .freeSlot(ahead: before, about: turn(after: before, atATime: slots))
    }

    // The jobs of its own tenant may run as many at a time as the tenant's cap allows, now or as soon as some more run.
    private func turn(after before: Int, atATime slots: Int) -> Int? {
        guard let all = about(before, atATime: slots) else { return nil }
        guard let cap = number("cap"), cap > 0 else { return all }
        return about(rank, atATime: min(cap, slots), mean: "ownMean").map { max(all, $0) }
    }

    // The job's own turn counts as well: a running job must end before this one begins.
    private func about(_ jobs: Int, atATime slots: Int, mean name: String = "mean") -> Int? {
        guard let mean = number(name) ?? number("mean"), slots > 0 else { return nil }
        let (sum, isTooMany) = jobs.addingReportingOverflow(slots)
        let (span, isTooLong) = (sum / slots).multipliedReportingOverflow(by: mean)
        return isTooMany || isTooLong ? nil : span
    }

    private var inBatchStream: JobReason {
        let batch = text("batch") ?? "?"
        if let stop { return .stopped(by: stop, at: .batchStream(batch: batch, ahead: rank)) }
        let (before, isTooMany) = rank.addingReportingOverflow(number("open") ?? 0)
        let limits = [number("slots") ?? 1, number("cap"), number("batchCap")].compactMap(\.self)
        return .inBatchStream(
            batch: batch, ahead: rank,
            about: isTooMany ? nil : about(before, atATime: limits.min() ?? 1))
    }

    private var delayed: JobReason {
        let due = number("due") ?? now
        // Only a worker notices that its time has come.
        if due <= now, let stop { return .stopped(by: stop, at: .due) }
        guard failures > 0, has("code") else { return .notBefore(due: due, wait: due - now) }
        return .retryAt(due: due, wait: due - now, failures: failures, error: error)
    }

    private var holder: JobReason.Holder? {
        text("holder").map {
            JobReason.Holder(job: $0, state: text("holderState") ?? "there", ahead: rank)
        }
    }

    private var running: JobReason {
        if let reason = text("cancel") ?? text("batchCancel") {
            return .beingStopped(worker: worker, reason: reason)
        }
        if let lost { return lost }
        return .running(
            worker: worker, since: number("claimed").map { now - $0 },
            stage: text("stage").map { JobReason.Stage(name: $0, progress: progress) },
            attempt: failures + 1)
    }

    private var lost: JobReason? {
        guard let ends = number("leaseEnds"), ends < now else { return nil }
        return .leaseLost(worker: worker, ago: now - ends, hasWorkers: hasWorkers)
    }

    private var progress: JobProgress? {
        guard let frames = number("frames"), let done = number("framesDone") else { return nil }
        return JobProgress(framesDone: done, frames: frames)
    }

    private var publishing: JobReason {
        has("handedOn") && has("code")
            ? .publishingAgain(version: version, error: error, hasWorkers: hasWorkers)
            : lost ?? .publishing(worker: worker, version: version)
    }

    private var done: JobReason {
        let at = number("ended")
        return switch text("outcome") {
        case "cancelled": .cancelled(at: at, reason: text("reason"))
        case "rendered": .rendered(at: at)
        case "unchanged": .unchanged(at: at, reason: text("reason"))
        case "superseded": .superseded(at: at, asset: asset)
        case "drafted": .drafted(at: at, version: version)
        default: .published(at: at, worker: worker, version: version)
        }
    }

    private var advice: JobReason.Advice {
        if has("malformed") { return .sendAgain }
        // A code of a later release has an advice that this one does not know.
        return text("code").flatMap(FailureCode.init).map(JobReason.Advice.init) ?? .changeEdit
    }

    private var unknown: JobReason {
        guard let batch = text("batch"), let absence else {
            return .unknown(
                entries: entries, hasWorkers: hasWorkers, hold: hold, places: text("places"))
        }
        return .unknownMember(batch: batch, absence)
    }

    private var absence: JobReason.Absence? {
        switch text("absent") {
        case "beyondSeal": .beyondSeal(jobs: number("sealed") ?? 0)
        case "notSent": .notSent
        case "trimmed": .trimmed
        case "lost": .lost
        case "unopened": .unopened
        case "batchDropped": .batchDropped
        default: nil
        }
    }
}

extension JobReason.Advice {
    /// The advice to an operator about a job that died of a code.
    init(_ code: FailureCode) {
        self =
            switch code {
            case .renderCrashed, .untrustedRender, .workerLost: .reportAndReplay
            case .deadlinePassed: .replayWithoutDeadline
            // Until someone brings what the message names: a photo, a resource, a font, a limit, a package, a right.
            case .missingAsset, .missingResource, .badResource, .missingGlyph, .damagedVersion,
                .emptyFile, .unsupportedFormat, .unsupportedMediaType, .damagedPhoto,
                .damagedVideo, .pairMismatch, .tooManyPixels, .exceedsLimit,
                .exceedsMemoryBudget, .formatUnavailable, .unconfined, .rendererUnavailable,
                .renderTimedOut, .outOfMemory, .noSpace, .ioFailure, .storeUnavailable,
                .laterFormat, .revisionConflict, .internalError:
                .replay
            case .noSuchStep, .missingVersion, .missingDraft, .staleDraft, .overtaken: .fitState
            case .malformedJSON, .unknownField, .missingField, .invalidValue, .oversizedField,
                .unknownFilter, .unknownParameter, .parameterOutOfRange, .missingValue,
                .noSuchBatch, .assetOutsideLibrary, .cannotHandleAdjustmentData,
                .adjustmentDataUndecodable, .adjustmentDataNotEncodable, .badSidecar, .hdrNotKept,
                .cannotFit:
                .changeEdit
            }
    }
}
