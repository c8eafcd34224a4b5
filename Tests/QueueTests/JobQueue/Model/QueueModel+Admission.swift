import Edits

// From entries of streams to jobs and batches.
extension QueueModel {
    typealias Field = QueueCommand.Field
    static let costMax = 86_400_000
    /// The two times that sequences use: one has passed, one will not come.
    static let past = "2001-09-09T01:46:40Z"
    static let future = "2100-01-01T00:00:00Z"
    private static let times = [past: 1_000_000_000_000, future: 4_102_444_800_000]

    /// Why an entry is wrong, or nil.
    static func fault(_ f: [String: String], known: [String]) -> String? {
        if f.keys.contains(where: { !known.contains($0) }) { return "unknownField" }
        if f["fields"].map({ $0.utf8.count > ContractLimits.fieldsBytesMax }) == true {
            return "oversizedField"
        }
        if let cost = f["cost"], !(1...costMax).contains(Int(cost) ?? 0) { return "invalidValue" }
        return nil
    }

    private static func ingressFault(_ f: [String: String]) -> String? {
        let jobs = ["asset", "id", "notBefore", "deadline", "replace", "traceparent", "fields"]
        let batches = ["batch", "seal", "cap", "total"]
        let both = ["edit", "tenant", "priority", "cost"]
        if let code = fault(f, known: jobs + batches + both) { return code }
        if ["id", "batch", "tenant"].contains(where: { f[$0]?.contains(" ") == true })
            || f["priority"].map({ !priorities.dropLast().contains($0) }) == true
        {
            return "invalidValue"
        }
        if f["batch"] != nil {
            if jobs.contains(where: { f[$0] != nil }) { return "unknownField" }
            if f["edit"] == nil && f["seal"] == nil { return "missingField" }
            return f["seal"] == "0" || f["cap"] == "0" ? "invalidValue" : nil
        }
        if batches.contains(where: { f[$0] != nil }) { return "unknownField" }
        if f["asset"] == nil || f["edit"] == nil { return "missingField" }
        if ["notBefore", "deadline"].contains(where: { f[$0].map { times[$0] == nil } == true })
            || f["replace"].map({ $0 != "waiting" && $0 != "running" }) == true
        {
            return "invalidValue"
        }
        return nil
    }

    static func named(_ fields: [Field]) -> [String: String] {
        Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    }

    mutating func enqueue(_ fields: [Field], isUrgent: Bool) {
        ingressLast += 1
        let entry = Entry(id: "\(ingressLast)-0", fields: fields)
        if isUrgent {
            urgent.append(entry)
            urgentCount += 1
        } else {
            ingress.append(entry)
            ingressCount += 1
        }
    }

    mutating func addToBatchStream(_ batch: String, _ number: Int, _ fields: [Field]) -> Bool {
        let last = batchStreams[batch]?.last ?? 0
        guard number > last else { return false }
        hasSkippedNumbers = hasSkippedNumbers || number > last + 1
        batchStreams[batch, default: BatchStream()].last = number
        batchStreams[batch]?.entries.append((number, fields))
        return true
    }

    mutating func admit(_ most: Int) -> [String] {
        let first = urgent.prefix(min(most, room(2)))
        urgent.removeFirst(first.count)
        admit(first, "-i", "interactive", arrivingSince: emptyAt[true])
        let then = ingress.prefix(min(most, room(1)))
        ingress.removeFirst(then.count)
        admit(then, "", nil, arrivingSince: emptyAt[false])
        takeTime()
        if urgent.isEmpty { emptyAt[true] = reached }
        if ingress.isEmpty { emptyAt[false] = reached }
        isHeld = room(1) == 0 && !ingress.isEmpty
        // Jobs that ended here may have made room for a batch stream.
        settle()
        let isFeedDue = batches.values.contains { $0.isFedNext || $0.fedAt == Self.idle }
        let delayed = jobs(.delayed)
        let isLooked =
            !delayed.isEmpty || batches.values.contains { $0.fedAt == Self.idle }
        return [
            "\(first.count + then.count)", isFeedDue ? "1" : "0", isHeld ? "1" : "",
            delayed.contains { $0.over != nil } ? "now" : isLooked ? "later" : "none",
        ]
    }

    /// Single jobs that have not ended and do not wait for their time.
    var jobsAhead: Int {
        jobs.values.count { job in
            job.batch == nil && job.parent == nil && job.notBefore == nil && !job.isMalformed
                && ![.done, .dead].contains(job.state)
        }
    }

    /// Those of them that were passed on.
    var jobsApart: Int {
        jobs.values.count { job in
            job.batch == nil && job.parent == nil && !job.unable.isEmpty
                && ![.done, .dead].contains(job.state)
        }
    }

    /// How many more jobs may be admitted ahead of the workers.
    private func room(_ share: Int) -> Int {
        let room = share * rules.aheadMax - jobsAhead
        if room > 0 { return room }
        let held =
            jobs(.ready) { self.capped.contains($0.flow) }.count + jobs(.parked) { _ in true }.count
            + jobsApart
        return max(0, room + min(held, 10 * rules.aheadMax))
    }

    /// - Parameter priority: when the entry names none.
    private mutating func admit(
        _ entries: ArraySlice<Entry>, _ suffix: String, _ priority: String?,
        arrivingSince empty: Int?
    ) {
        var next = sequence
        sequence += entries.count
        for entry in entries {
            let name = entry.id + suffix
            var f = Self.named(entry.fields)
            f["priority"] = f["priority"] ?? priority
            if let code = Self.ingressFault(f) {
                deadLetter(name, f, code)
            } else if let batch = f["batch"] {
                admitBatch(name, batch, f)
            } else {
                let isAnew = offset < max(empty ?? floor, floor)
                admitJob(name, f, &next, arrivedAt: isAnew ? arrivesNow() : Self.arrival(name))
            }
        }
    }

    private mutating func deadLetter(_ entry: String, _ f: [String: String], _ code: String) {
        var id = entry
        if let given = f["id"], !given.contains(" "), jobs[given] == nil, seenNew[given] == nil,
            seenOld[given] == nil
        {
            id = given
        }
        var job = Job(id: id, state: .dead, asset: f["asset"] ?? "")
        if let tenant = f["tenant"], !tenant.contains(" ") { job.tenant = tenant }
        buryMalformed(job, code)
    }

    /// Puts among the dead what never was a job; the oldest of them may go.
    mutating func buryMalformed(_ job: Job, _ code: String) {
        jobs[job.id] = job
        jobs[job.id]?.isMalformed = true
        bury(job.id, code, "\(code) 0")
        malformed.append(job.id)
        guard malformed.count > rules.malformedMax else { return }
        let old = malformed.removeFirst()
        guard let job = jobs[old], job.isMalformed else { return }
        jobs[old] = nil
        if let name = job.batch { memberGone(name) }
        hasForgottenNames = true
        count("malformedDropped")
    }

    /// A dead member is dropped; a batch without any to replay is dropped as others are.
    mutating func memberGone(_ name: String) {
        guard let batch = batches[name] else { return }
        batches[name]?.gone += 1
        if batch.isComplete, batch.gone + 1 >= batch.counts["dead"] ?? 0 {
            batches[name]?.isOld = false
        }
    }

    private mutating func conflict(
        _ entry: String, job id: String, _ asset: String, _ traceparent: Traceparent?
    ) {
        count("conflicts")
        events.append(
            Event(
                id: "\(id)/conflict/\(entry)", type: "job.conflict", subject: asset,
                detail: Self.shown(traceparent)))
    }

    private mutating func conflict(_ entry: String, batch: String, _ detail: String = "") {
        count("conflicts")
        events.append(
            Event(
                id: "batch/\(batch)/conflict/\(entry)", type: "batch.conflict", detail: detail))
    }

    /// Removes a batch stream that has no batch; how many entries it had.
    mutating func endStream(_ batch: String) -> Int {
        let entries = batchStreams.removeValue(forKey: batch)?.entries.count ?? 0
        count("membersDropped", entries)
        return entries
    }

    private mutating func admitJob(
        _ entry: String, _ f: [String: String], _ next: inout Int, arrivedAt arrival: Int
    ) {
        let traceparent = f["traceparent"].flatMap { Traceparent($0) }
        let id = f["id"] ?? entry
        let (asset, edit) = (f["asset"] ?? "", f["edit"] ?? "")
        var generation = 1
        if jobs[id]?.isMalformed == true {
            // What never was a job gives its id to the one that is sent in its stead.
            jobs[id] = nil
            generation = 2
        } else if f["id"] != nil {
            let known = jobs[id].map(Self.remembered) ?? seenNew[id] ?? seenOld[id]
            if known == Self.digest(asset, edit, f["fields"]) { return count("duplicates") }
            if known != nil { return conflict(entry, job: id, asset, traceparent) }
        }
        if let which = f["replace"] {
            replace(asset, which, arrival, "replaced by job \(id)")
        }
        next += 1
        let due = f["notBefore"].flatMap { Self.times[$0] }
        var job = Job(id: id, state: .delayed, asset: asset, edit: edit)
        job.tenant = f["tenant"] ?? "default"
        job.priority = f["priority"] ?? "normal"
        job.cost = f["cost"].flatMap { Int($0) }
        job.isNamed = f["id"] != nil
        job.deadline = f["deadline"].flatMap { Self.times[$0] }
        job.traceparent = traceparent
        job.fields = f["fields"]
        job.sequence = next
        job.arrival = arrival
        job.generation = generation
        if due == Self.times[Self.future] { job.notBefore = due }
        takeIn(job)
    }

    /// When an entry of the ingress stream arrived: its id is a time in ms.
    static func arrival(_ entry: String) -> Int {
        (Int(entry.split(separator: "-").first ?? "") ?? 0) * 1000
    }

    mutating func takeIn(_ job: Job) {
        jobs[job.id] = job
        count("admitted")
        if job.notBefore == nil { makeReady(job.id) }
    }

    private mutating func replace(
        _ asset: String, _ which: String, _ arrival: Int, _ reason: String
    ) {
        func isOlder(_ job: Job) -> Bool { job.asset == asset && job.arrival ?? 0 < arrival }
        for job in jobs(.parked, where: isOlder) { cancel(job.id, reason) }
        let later = jobs(.delayed) { isOlder($0) && $0.notBefore != nil }
        for job in later.sorted(by: { $0.arrival ?? 0 < $1.arrival ?? 0 }) {
            cancel(job.id, reason)
        }
        guard let holder = assets[asset], let job = jobs[holder], isOlder(job) else { return }
        if [.ready, .delayed, .stuck].contains(job.state) {
            cancel(holder, reason)
        } else if job.state == .active && which == "running" {
            jobs[holder]?.cancel = reason
            control.append("job \(holder)")
        }
    }

    private mutating func admitBatch(_ entry: String, _ name: String, _ f: [String: String]) {
        if batches[name] == nil, seenNew["batch:\(name)"] ?? seenOld["batch:\(name)"] != nil {
            let dropped = endStream(name)
            guard f["edit"] != nil || dropped > 0 else { return count("duplicates") }
            return conflict(entry, batch: name, "\(dropped)")
        }
        if let edit = f["edit"] {
            if let batch = batches[name] {
                guard batch.edit == edit else { return conflict(entry, batch: name) }
                count("duplicates")
            } else {
                batches[name] = Batch(
                    edit: edit, tenant: f["tenant"] ?? "default", priority: f["priority"] ?? "bulk",
                    cost: f["cost"].flatMap { Int($0) }, cap: f["cap"].flatMap { Int($0) },
                    fedAt: 0)
            }
        } else if batches[name] == nil {
            return deadLetter(entry, f.filter { $0.key == "tenant" }, "noSuchBatch")
        }
        guard let seal = f["seal"].flatMap({ Int($0) }) else { return }
        if let sealed = batches[name]?.sealed {
            if sealed == seal { return count("duplicates") }
            return conflict(entry, batch: name)
        }
        let given = (batches[name]?.admitted ?? 0) + (batchStreams[name]?.entries.count ?? 0)
        guard given <= seal else { return conflict(entry, batch: name) }
        batches[name]?.sealed = seal
        feedNext(name)
        batches[name]?.total = f["total"]
        touchedBatches.insert(name)
    }
}
