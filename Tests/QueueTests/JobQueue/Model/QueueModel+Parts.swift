// Parts of a job that any worker may run.
extension QueueModel {
    mutating func split(_ hold: QueueCommand.Hold, _ task: String, _ numbers: [Int]) -> String {
        if let refused = refusal(hold) { return refused }
        guard let job = jobs[hold.job], job.state == .active, job.parent == nil else {
            return "GONE"
        }
        if parts[job.id]?.task != task { endParts(job.id) }
        guard job.priority != "alone" else { return "OK" }
        if parts[job.id] == nil { parts[job.id] = Parts(task: task) }
        jobs[job.id]?.isSplit = true
        for number in numbers where parts[job.id]?.ended[number] == nil {
            parts[job.id]?.ended[number] = false
            parts[job.id]?.order.append(number)
            let id = "\(job.id)+\(number)"
            var part = Job(id: id, state: .delayed, asset: "\u{1}" + id)
            part.parent = job.id
            part.tenant = job.tenant
            part.priority = job.priority
            part.sequence = job.sequence
            part.arrival = job.arrival
            part.generation = job.generation
            part.traceparent = job.traceparent
            part.cost = job.cost.map { max(1, $0 / numbers.count) }
            jobs[id] = part
            makeReady(id)
        }
        return "OK"
    }

    mutating func claimPart(_ hold: QueueCommand.Hold, _ number: Int) -> [String] {
        if let refused = refusal(hold) { return [refused] }
        guard let job = jobs[hold.job], job.state == .active else { return ["GONE"] }
        let part = jobs["\(job.id)+\(number)"]
        let isBusy = part?.state == .active
        if let part, !isBusy {
            removePart(part)
            parts[job.id]?.ended[number] = nil
            parts[job.id]?.order.removeAll { $0 == number }
        }
        let ended = parts[job.id]?.ended.filter(\.value).keys.map { "\($0)" } ?? []
        return [isBusy ? "BUSY" : "OURS"] + ended.sorted()
    }

    /// Removes a part in any state; a worker that runs it is told.
    private mutating func removePart(_ part: Job) {
        jobs[part.id] = nil
        assets[part.asset] = nil
        if part.isLeased {
            freed(part)
            control.append("job \(part.id)")
        }
        if part.state == .ready { retireIfEmpty(part.flow) }
    }

    /// Removes a part that ended; it is not made again.
    mutating func endPart(_ part: Job) {
        removePart(part)
        guard let parent = part.parent, let number = Int(part.id.split(separator: "+").last ?? "")
        else { return }
        parts[parent]?.ended[number] = true
    }

    /// Removes all parts of a job.
    mutating func endParts(_ job: String) {
        for number in parts[job]?.order ?? [] {
            if let part = jobs["\(job)+\(number)"] { removePart(part) }
        }
        parts[job] = nil
    }
}
