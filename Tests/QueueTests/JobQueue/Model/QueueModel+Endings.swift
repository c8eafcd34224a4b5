// The ways in which a job ends that several commands share.
extension QueueModel {
    /// What a worker's loss of a job frees.
    mutating func freed(_ job: Job) { freedTenants.insert(job.tenant) }

    /// The same when the worker itself ends its hold: then it is known what the job took.
    mutating func endHold(_ job: Job) {
        freed(job)
        correct(job)
    }

    mutating func memberEnded(_ job: Job, _ how: String) {
        guard let batch = job.batch, batches[batch]?.ended.insert(job.number).inserted == true
        else { return }
        batches[batch]?.counts[how, default: 0] += 1
        batches[batch]?.costEnded += job.cost ?? 0
        touchedBatches.insert(batch)
    }

    /// Ends a job well; it holds nothing any more.
    mutating func finish(_ id: String, _ outcome: String, _ detail: String = "") {
        guard let job = jobs[id] else { return }
        if job.parent != nil { return endPart(job) }
        endParts(id)
        jobs[id]?.state = .done
        jobs[id]?.hasEnded = true
        jobs[id]?.outcome = outcome
        jobs[id]?.over = nil
        count(outcome)
        if ["completed", "drafted"].contains(outcome), job.carries == 0 { countRender(job) }
        memberEnded(job, outcome == "cancelled" ? "cancelled" : "done")
        emit(job, outcome, "\(job.generation)/\(outcome)", detail)
        done.append(id)
        if done.count > rules.doneMax { for _ in 1...2 { forgetOldest() } }
    }

    /// Counts what a render cost: only the stated cost, for the real one is the clock's.
    private mutating func countRender(_ job: Job) {
        renders.jobs += 1
        renders.stated += job.cost ?? 0
        guard let batch = job.batch, batches[batch]?.ended.contains(job.number) == false else {
            return
        }
        batches[batch]?.renders.jobs += 1
        batches[batch]?.renders.stated += job.cost ?? 0
    }

    mutating func forgetOldest() {
        guard !done.isEmpty, let job = jobs.removeValue(forKey: done.removeFirst()) else { return }
        if job.isNamed || job.generation > 1 { seenNew[job.id] = Self.remembered(job) }
    }

    /// The text that a job is known by: one that did not end well is not the same as one that is sent again.
    static func remembered(_ job: Job) -> String {
        let isLost = job.state == .dead || job.outcome == "cancelled" && job.state == .done
        return digest(job.asset, job.edit, job.fields) + (isLost ? " lost" : "")
    }

    static func digest(_ asset: String, _ edit: String?, _ fields: String? = nil) -> String {
        "\(asset) \(edit ?? "")" + (fields.map { " \($0)" } ?? "")
    }

    /// Ends a job that nobody wants any more.
    mutating func cancel(_ id: String, _ reason: String) {
        guard let job = jobs[id] else { return }
        jobs[id]?.state = .done
        switch job.state {
        case .active: endHold(job)
        case .ready: retireIfEmpty(job.flow)
        default: break
        }
        var reason = reason
        if job.state == .stuck {
            reason +=
                "; its version \(job.version ?? "?") could not be published: \(job.code ?? "?")"
        }
        jobs[id]?.result = reason
        jobs[id]?.notBefore = nil
        if assets[job.asset] == id { leaveAsset(job.asset) }
        finish(id, "cancelled", reason)
    }

    /// Gives up to publish a job's version; it keeps its asset.
    mutating func getStuck(_ id: String, _ code: String) {
        guard let job = jobs[id] else { return }
        freed(job)
        jobs[id]?.state = .stuck
        jobs[id]?.code = code
        jobs[id]?.isHandedOn = false
        jobs[id]?.over = nil
        count("stuck")
        emit(
            job, "stuck", "\(job.generation)/stuck/\(job.fence ?? 0)", "\(code) \(job.carries)")
    }

    /// Has the version of a job that is stuck published once more.
    mutating func resume(_ id: String) {
        let now = tick()
        jobs[id]?.state = .committing
        jobs[id]?.code = nil
        jobs[id]?.carries = 0
        jobs[id]?.isHandedOn = true
        jobs[id]?.over = now
        count("replayed")
    }

    mutating func bury(_ id: String, _ code: String, _ detail: String = "") {
        guard let job = jobs[id] else { return }
        if job.parent != nil { return endPart(job) }
        endParts(id)
        jobs[id]?.state = .dead
        jobs[id]?.hasEnded = true
        jobs[id]?.code = code
        jobs[id]?.over = nil
        count("failed")
        memberEnded(job, "dead")
        emit(job, "failed", "\(job.generation)/failed", detail)
    }

    mutating func quarantine(_ id: String, _ why: String) {
        guard let job = jobs[id], job.priority != "alone" else { return }
        jobs[id]?.isQuarantinedForCrashes = why == "crashes"
        jobs[id]?.was = job.priority
        jobs[id]?.priority = "alone"
        count("quarantined")
    }

    /// What is looked at once at the end of a command.
    mutating func settle() {
        for name in touchedBatches.sorted() {
            refillBatch(name)
            completeBatch(name)
        }
        settleCorrections()
        for tenant in freedTenants { uncap(tenant) }
        touchedBatches = []
        freedTenants = []
    }

    /// Has the stream of a batch fed again that was full, when enough of its members have ended.
    private mutating func refillBatch(_ name: String) {
        guard let batch = batches[name], let most = batch.refill, placesTaken(name, most) <= most
        else { return }
        batches[name]?.refill = nil
        if batch.fedAt != nil { batches[name]?.fedAt = 0 }
    }

    private mutating func completeBatch(_ name: String) {
        guard let batch = batches[name], let sealed = batch.sealed, !batch.isComplete,
            batch.sum >= sealed
        else { return }
        batches[name]?.finished = batch.generation
        count("batches")
        let counts = ["done", "dead", "cancelled"].map { "\(batch.counts[$0] ?? 0)" }
        events.append(
            Event(
                id: "batch/\(name)/\(batch.generation)/completed", type: "batch.completed",
                detail: ([String(sealed)] + counts).joined(separator: " ")))
    }
}
