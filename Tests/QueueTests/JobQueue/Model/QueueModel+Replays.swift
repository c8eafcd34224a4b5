// How a job that has ended starts again.
extension QueueModel {
    mutating func restore(
        _ id: String, _ generation: Int, _ f: [String: String], _ isOfThisDeath: Bool
    ) -> String {
        if let there = jobs[id] {
            if there.state == .dead, there.generation == generation, isOfThisDeath { return "DEAD" }
            return there.generation > generation ? "THERE" : "OTHER"
        }
        if let before = seenNew[id] ?? seenOld[id],
            !before.hasSuffix(Self.dropped(generation))
        {
            return "THERE"
        }
        sequence += 1
        var job = Job(id: id, state: .delayed, asset: f["asset"] ?? "", edit: f["edit"])
        job.tenant = f["tenant"] ?? "default"
        job.priority = f["priority"] ?? "normal"
        job.cost = f["cost"].flatMap { Int($0) }
        job.isNamed = true
        job.fields = f["fields"]
        job.sequence = sequence
        job.arrival = arrivesNow()
        job.generation = generation + 1
        takeIn(job)
        takeTime()
        count("replayed")
        return "OK"
    }

    mutating func replay(_ id: String, _ edit: String) -> String {
        guard let job = jobs[id] else { return "GONE" }
        if job.state == .stuck {
            guard edit.isEmpty else { return "STUCK" }
            resume(id)
            return "OK"
        }
        guard job.state == .dead else { return "NOTDEAD" }
        if job.isMalformed { return "MALFORMED" }
        sequence += 1
        var again = nextGeneration(of: job)
        again.fields = job.fields
        again.arrival = arrivesNow()
        if !edit.isEmpty {
            again.edit = edit
            again.hasOwnEdit = true
        }
        reopenBatch(of: &again, "dead")
        jobs[id] = again
        makeReady(id)
        count("replayed")
        return "OK"
    }

    /// A job that starts again.
    private func nextGeneration(of job: Job) -> Job {
        var again = Job(id: job.id, state: .delayed, asset: job.asset, edit: job.edit)
        again.tenant = job.tenant
        again.priority = job.was ?? job.priority
        again.batch = job.batch
        again.cost = job.cost
        again.traceparent = job.traceparent
        again.isNamed = job.isNamed
        again.hasOwnEdit = job.hasOwnEdit
        again.sequence = sequence
        again.arrival = job.arrival
        again.generation = job.generation + 1
        again.history = job.history
        again.fence = job.fence
        again.worker = job.worker
        again.charge = job.charge
        again.confirmed = job.confirmed
        return again
    }

    /// Opens the batch of a member that ended as `how` once more; one whose batch does not count it is no member any more.
    private mutating func reopenBatch(of job: inout Job, _ how: String) {
        guard let name = job.batch else { return }
        guard let batch = batches[name], batch.ended.contains(job.number) else {
            job.batch = nil
            return
        }
        batches[name]?.ended.remove(job.number)
        batches[name]?.counts[how, default: 0] -= 1
        batches[name]?.costEnded -= job.cost ?? 0
        if batch.isComplete {
            batches[name]?.generation += 1
            batches[name]?.cancel = nil
            batches[name]?.isOld = false
        }
    }

    mutating func replayLost(
        _ id: String, _ version: String, _ asset: String, _ highest: Int
    ) -> String {
        told[asset] = max(told[asset] ?? 0, highest)
        guard let job = jobs[id] else { return "SHED" }
        let isMade = job.outcome == "completed" || job.outcome == "drafted"
        guard job.state == .done, isMade, job.version == version else { return "AGAIN" }
        let isShared = job.batch != nil && !job.hasOwnEdit
        // Of a job with fields the digest is left.
        if job.fields != nil || isShared && job.batch.flatMap({ batches[$0] }) == nil {
            return "SHED"
        }
        sequence += 1
        if let last = done.lastIndex(of: id) { done.remove(at: last) }
        var again = nextGeneration(of: job)
        reopenBatch(of: &again, "done")
        jobs[id] = again
        makeReady(id)
        count("replayed")
        return "OK"
    }

    /// The end of what is remembered of a job whose record was moved to the library.
    private static func dropped(_ generation: Int) -> String { " lost \(generation)" }

    mutating func spill(_ ids: [String], _ age: Int) -> String {
        var removed = 0
        for id in ids {
            // What never was a job is not moved.
            guard let job = jobs[id], job.state == .dead, !job.isMalformed, age == 0 else {
                continue
            }
            if let name = job.batch { memberGone(name) }
            seenNew[id] =
                Self.digest(job.asset, job.edit, job.fields) + Self.dropped(job.generation)
            jobs[id] = nil
            removed += 1
        }
        if removed > 0 {
            count("deadSpilled", removed)
            spilled += removed
        }
        return "\(removed)"
    }
}
