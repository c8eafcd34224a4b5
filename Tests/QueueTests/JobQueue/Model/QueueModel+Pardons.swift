// Leases that ran out while their workers lived, and claims that no worker has heard of.
extension QueueModel {
    /// Whether a worker has said lately that it lives.
    func isHeard(_ worker: String) -> Bool { workers.contains(worker) && !silent.contains(worker) }

    /// Takes back a claim that no heartbeat has confirmed, or with which its worker had not begun.
    mutating func void(_ job: Job) {
        freed(job)
        correct(job, took: 1)
        jobs[job.id]?.voids += 1
        jobs[job.id]?.history += 1
        count("voided")
        makeReady(job.id)
    }

    mutating func pardon(_ hold: QueueCommand.Hold) -> String {
        guard let job = jobs[hold.job], let fence = fence(hold) else { return "NOTHING" }
        if fence == job.fence, job.state == .active || job.state == .committing && !job.isHandedOn {
            release(job)
            return "RELEASED"
        }
        guard let index = job.blamed.firstIndex(of: fence), job.state != .dead, job.state != .done
        else { return "NOTHING" }
        jobs[job.id]?.blamed.remove(at: index)
        jobs[job.id]?.crashes -= 1
        count("pardoned")
        if job.crashes - 1 < rules.crashesToQuarantine, job.isQuarantinedForCrashes {
            leaveQuarantine(job)
        }
        return "PARDONED"
    }

    private mutating func release(_ job: Job) {
        if job.state == .committing {
            let now = tick()
            jobs[job.id]?.isHandedOn = true
            jobs[job.id]?.carries = max(0, job.carries - 1)
            jobs[job.id]?.over = now
        } else if let reason = job.cancel {
            cancel(job.id, reason)
        } else {
            jobs[job.id]?.over = nil
            freed(job)
            makeReady(job.id)
        }
    }

    /// Lets a job be as urgent as it was, or as the first one that is parked behind it.
    private mutating func leaveQuarantine(_ job: Job) {
        var priority = job.was ?? "normal"
        if let behind = jobs(.parked, where: { $0.asset == job.asset }).first,
            Self.urgencies[behind.priority] ?? 0 > Self.urgencies[priority] ?? 9
        {
            priority = behind.priority
        }
        jobs[job.id]?.priority = priority
        jobs[job.id]?.was = nil
        jobs[job.id]?.isQuarantinedForCrashes = false
        guard job.state == .ready else { return }
        retireIfEmpty(job.flow)
        enter(Flow(priority: priority, tenant: job.tenant))
    }
}
