public import Edits
import Redis

/// The facts that explain a job's state, read at one moment except for the number of workers.
public struct JobFacts: Sendable, Equatable {
    public let job: String
    /// All facts by name, as the script `explain` returns them.
    package let fields: [String: String]

    package init(job: String, _ fields: [String: String]) {
        self.job = job
        self.fields = fields
    }

    /// The job's state; `incoming` or `lane` for an entry that is not yet a job, `dropped` for a job of which only the name is
    /// left, or `unknown`.
    public var state: String { fields["state"] ?? "unknown" }

    func text(_ name: String) -> String? { fields[name] }
    func number(_ name: String) -> Int? { fields[name].flatMap { Int($0) } }
    func has(_ name: String) -> Bool { fields[name] != nil }
}

extension JobFacts {
    /// The reason why entries stay in the ingress stream.
    var hold: IngressHold? {
        guard let entries = number("holdEntries"), let jobs = number("holdJobs"),
            let bytes = number("holdBytes")
        else { return nil }
        return IngressHold(entries: entries, jobs: jobs, bytes: bytes)
    }
}

extension JobQueue {
    /// The maximum number of flows that the script inspects.
    private static let explainFlowsMax = 1000

    /// Returns the facts of a job, whether the job is known or not.
    public func facts(of job: String) async throws(QueueError) -> JobFacts {
        let reply = try await run(
            QueueScript.explain, [RedisArgument(job), RedisArgument(Self.explainFlowsMax)])
        guard var fields = reply.pairs else { throw unexpected(reply, of: QueueScript.explain) }
        // Read outside the script: the records of a thousand workers are too many to read while Redis waits.
        let workers = try await workers()
        fields["workers"] = "\(workers.count)"
        let troubled = workers.filter { $0.trouble != nil }
        fields["slots"] = "\(workers.reduce(0) { $0 + ($1.trouble == nil ? $1.slots : 0) })"
        if let first = troubled.first {
            fields["troubled"] = "\(troubled.count)"
            fields["trouble"] = "\(first.name): \(first.trouble ?? "")"
        }
        if fields["incoming"] != nil, let hold = try await ingressHold() {
            fields["hold"] = hold.sentence
            fields["holdEntries"] = "\(hold.entries)"
            fields["holdJobs"] = "\(hold.jobs)"
            fields["holdBytes"] = "\(hold.bytes)"
        }
        return JobFacts(job: job, fields)
    }
}

extension JobFacts {
    /// The reason for the job's present state.
    public var reason: JobReason {
        if let format = number("format"), format > JobRecord.formatKnown {
            return .laterFormat(state: state, format: format)
        }
        return switch state {
        case "ready": waiting
        case "lane": inBatchStream
        case "incoming": .incoming(entries: entries, hasWorkers: hasWorkers, hold: hold)
        case "delayed": delayed
        case "parked": .behindAsset(asset: asset, holder: holder)
        case "active": running
        case "committing": publishing
        case "stuck": .stuck(since: number("since"), version: version, error: error)
        case "done": done
        case "dead": .dead(at: number("ended"), error: error, advice: advice)
        case "dropped": .dropped
        default: unknown
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

    private var waiting: JobReason {
        if let reason = text("batchCancel") { return .batchCancelled(reason: reason) }
        if let stop { return .stopped(by: stop, at: .ready(ahead: rank)) }
        if text("priority") == "alone" {
            return .quarantined(crashes: number("crashes") ?? 0, ahead: rank)
        }
        let slots = number("slots") ?? 1
        if has("capped"), let cap = number("cap") {
            return .tenantCap(
                tenant: tenant, cap: cap, ahead: rank, about: about(rank, atATime: min(cap, slots)))
        }
        let before = number("before") ?? rank
        if let unable = number("unable") {
            return .ableWorker(
                unable: unable, ahead: before, about: about(before, atATime: slots))
        }
        return .freeSlot(ahead: before, about: about(before, atATime: slots))
    }

    // The job's own turn counts as well: a running job must end before this one begins.
    private func about(_ jobs: Int, atATime slots: Int) -> Int? {
        guard let mean = number("mean"), slots > 0 else { return nil }
        let (sum, isTooMany) = jobs.addingReportingOverflow(slots)
        let (span, isTooLong) = (sum / slots).multipliedReportingOverflow(by: mean)
        return isTooMany || isTooLong ? nil : span
    }

    private var inBatchStream: JobReason {
        let batch = text("batch") ?? "?"
        if let stop { return .stopped(by: stop, at: .batchStream(batch: batch, ahead: rank)) }
        return .inBatchStream(
            batch: batch, ahead: rank, about: about(rank, atATime: number("slots") ?? 1))
    }

    private var delayed: JobReason {
        let due = number("due") ?? now
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
        if let ends = number("leaseEnds"), ends < now {
            return .leaseLost(worker: worker, ago: now - ends)
        }
        return .running(
            worker: worker, since: number("claimed").map { now - $0 },
            stage: text("stage").map { JobReason.Stage(name: $0, progress: progress) },
            attempt: failures + 1)
    }

    private var progress: JobProgress? {
        guard let frames = number("frames"), let done = number("framesDone") else { return nil }
        return JobProgress(framesDone: done, frames: frames)
    }

    private var publishing: JobReason {
        has("handedOn") && has("code")
            ? .publishingAgain(version: version, error: error)
            : .publishing(worker: worker, version: version)
    }

    private var done: JobReason {
        let at = number("ended")
        return switch text("outcome") {
        case "cancelled": .cancelled(at: at, reason: text("reason"))
        case "unchanged": .unchanged(at: at)
        case "superseded": .superseded(at: at, asset: asset)
        case "drafted": .drafted(at: at, version: version)
        default: .published(at: at, worker: worker, version: version)
        }
    }

    private var advice: JobReason.Advice {
        if has("malformed") { return .sendAgain }
        let code = text("code").flatMap(FailureCode.init)
        return switch code {
        case .renderCrashed, .untrustedRender, .workerLost: .reportAndReplay
        case .deadlinePassed: .replayWithoutDeadline
        // Permanent, until someone brings what the message names.
        case .missingAsset, .missingResource, .badResource, .damagedVersion: .replay
        default: code?.isPermanent == false ? .replay : .changeEdit
        }
    }

    private var unknown: JobReason {
        guard let batch = text("batch"), let absence else {
            return .unknown(entries: entries, hasWorkers: hasWorkers, hold: hold)
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
