extension QueueModel {
    /// All that Redis has to hold, one fact a line, as the script `queueContents` writes it: key, place in it, value. What
    /// depends on the clock is `*`.
    var lines: [String] {
        var lines: [String] = []
        func say(_ words: String...) { lines.append(words.joined(separator: " ")) }
        for job in jobs.values { lines += Self.lines(job) }
        for (name, batch) in batches { lines += Self.lines(name, batch) }
        for name in batches.keys where apart(name) > 0 {
            say("batch:\(name)", "apart", "\(apart(name))")
        }
        for (flow, tag) in tags {
            if capped.contains(flow) {
                say("capped", "\(flow.priority):\(flow.tenant)", "\(tag)")
            } else {
                say("flows:\(flow.priority)", flow.tenant, "\(tag)")
            }
        }
        for (flow, tag) in finished { say("finished:\(flow.priority)", flow.tenant, "\(tag)") }
        for (priority, time) in virtual { say("virtual", priority, "\(time)") }
        if let nextCheck {
            say("virtual laneNext", "\(nextCheck)")
            say("virtual laneTurn *")
        }
        if let turn { say("virtual turn", "\(turn)") }
        if renders.jobs > 0 {
            say("virtual costJobs", "\(renders.jobs)")
            say("virtual costStated", "\(renders.stated)")
        }
        for (job, parts) in parts {
            say("parts:\(job) task", parts.task)
            for (number, hasEnded) in parts.ended {
                say("parts:\(job) \(number)", hasEnded ? "ended" : "open")
            }
        }
        if jobsAhead > 0 { say("virtual aheadJobs", "\(jobsAhead)") }
        if jobsApart > 0 { say("virtual apartJobs", "\(jobsApart)") }
        if isHeld { say("virtual held 1") }
        if let asked {
            say("virtual aloneWorker", asked.worker)
            say("virtual aloneUntil *")
        }
        if seenSince {
            say("virtual seenSince *")
            say("virtual seenKeep *")
        }
        for (asset, job) in assets { say("assets", asset, job) }
        for (tenant, jobs) in Dictionary(grouping: jobs.values.filter(\.isLeased), by: \.tenant) {
            say("running", tenant, "\(jobs.count)")
        }
        let stored = storedBytes
        for (tenant, bytes) in stored { say("stored", tenant, "\(bytes)") }
        let all = stored.values.reduce(0, +)
        if all > 0 { say("virtual storedBytes", "\(all)") }
        for entry in ingress { say("in", entry.id) }
        for entry in urgent { say("in:interactive", entry.id) }
        for (name, batchStream) in batchStreams {
            for entry in batchStream.entries { say("lane:\(name) 1-\(entry.number)") }
        }
        let (gone, urgentGone) = (ingressCount - ingress.count, urgentCount - urgent.count)
        if gone > 0 { say("ingress gone", "\(gone)") }
        if urgentGone > 0 { say("ingress:interactive gone", "\(urgentGone)") }
        for (group, jobs) in deadGroups { say("dead:groups", group, "\(jobs)") }
        if sequence > 0 { say("sequence", "\(sequence)") }
        if spilled > 0 { say("spilled", "file", "\(spilled)") }
        for (asset, revision) in told { say("told", asset, "\(revision)") }
        for (index, id) in done.enumerated() { say("done \(index)", id) }
        for (index, id) in malformed.enumerated() { say("malformed \(index)", id) }
        for id in seenNew.keys { say("seen:new", id, "*") }
        for id in seenOld.keys { say("seen:old", id, "*") }
        for worker in workers {
            say("workers", worker, "*")
            say("workers:info", worker, Self.info(of: worker))
        }
        for (name, value) in config { say("config", name, value) }
        for (name, value) in counters where value != 0 { say("counters", name, "\(value)") }
        for (index, message) in control.enumerated() { say("control \(index)", message) }
        return lines + eventLines
    }

    /// The bytes of each tenant.
    private var storedBytes: [String: Int] {
        var bytes: [String: Int] = [:]
        for job in jobs.values where job.stored > 0 {
            bytes[job.tenant, default: 0] += job.stored
        }
        for batch in batches.values {
            bytes[batch.tenant, default: 0] += batch.stored + batch.streamBytes
        }
        return bytes
    }

    /// Dead jobs by cause: code, tenant, and whether there is an edit; one row for each edit.
    private var deadGroups: [(String, Int)] {
        let dead = jobs.values.filter { $0.state == .dead }
        let groups = Dictionary(grouping: dead) { job in
            let edit = job.edit ?? job.batch.flatMap { batches[$0]?.edit } ?? ""
            return [Self.group(job), job.isMalformed ? "" : edit]
        }
        return groups.map { ($0.key[0], $0.value.count) }
    }

    private static func group(_ job: Job) -> String {
        "\(job.code ?? "?"):\(job.tenant):\(job.isMalformed ? "-" : "*")"
    }

    /// Batches that end in one script do so in no order.
    private var eventLines: [String] {
        var lines: [String] = []
        var (index, completions) = (0, [String: Int]())
        for event in events {
            var at = "\(index)"
            if event.type == "batch.completed" {
                completions[event.id, default: 0] += 1
                at = "time \(completions[event.id] ?? 0)"
            } else {
                index += 1
            }
            // What may happen to a job again; its fence, by which the events differ, is the clock's.
            let id =
                ["job.stuck", "job.retried", "job.previewed"].contains(event.type)
                ? event.id.split(separator: "/").dropLast().joined(separator: "/") + "/*" : event.id
            lines.append("events \(at) \(id) \(event.type) \(event.subject) \(event.detail)")
        }
        return lines
    }

    private static func shown(_ arrival: Int) -> String {
        arrival > clockArrival ? "*" : "\(arrival)"
    }

    private static func lines(_ job: Job) -> [String] {
        var lines: [String] = []
        let key = "job:\(job.id)"
        func say(_ name: String, _ value: String?, unless usual: String = "") {
            if let value, value != usual { lines.append("\(key) \(name) \(value)") }
        }
        say("state", job.state.rawValue)
        lines.append("\(key) asset \(job.asset)")
        say("enqueued", "*")
        say("tenant", job.tenant, unless: "default")
        say("priority", job.priority, unless: "normal")
        say("batch", job.batch)
        say("cost", job.cost.map { "\($0)" })
        say("named", job.isNamed ? "1" : nil)
        say("own", job.hasOwnEdit ? "1" : nil)
        say("malformed", job.isMalformed ? "1" : nil)
        say("deadline", job.deadline.map { "\($0)" })
        say("traceparent", job.traceparent.map { "\($0)" })
        say(
            job.state == .done ? "digest" : "fields",
            job.state == .done ? job.fields.map { _ in "*" } : job.fields)
        say("sequence", job.sequence.map { "\($0)" })
        say("arrival", job.arrival.map(Self.shown))
        say("notBefore", job.notBefore.map { "\($0)" })
        say("generation", "\(job.generation)", unless: "1")
        say("attempts", "\(job.attempts)", unless: "0")
        say("crashes", "\(job.crashes)", unless: "0")
        say("rebases", "\(job.rebases)", unless: "0")
        say("carries", "\(job.carries)", unless: "0")
        say("charge", job.charge.map { "\($0.priority):\($0.units):\($0.weight)" })
        say("voids", "\(job.voids)", unless: "0")
        say("confirmed", job.confirmed.map { _ in "*" })
        say("blamed", job.blamed.isEmpty ? nil : "\(job.blamed.count)")
        say("aloneFor", job.isQuarantinedForCrashes ? "crashes" : nil)
        say("handedOn", job.isHandedOn ? "1" : nil)
        say("format", job.parent != nil ? "3" : job.fields == nil ? "2" : "4")
        say("parent", job.parent)
        say("split", job.isSplit ? "1" : nil)
        say("stored", job.parent == nil && job.state != .done ? "\(job.stored)" : nil)
        say("fence", job.fence.map { _ in "*" })
        say("claimed", job.fence.map { _ in "*" })
        say("worker", job.worker)
        say("cancel", job.cancel)
        say("stage", job.stage)
        say("framesDone", job.percent.map { "\($0)" })
        say("frames", job.percent.map { _ in "100" })
        say("tenthTold", job.tenthTold.map { "\($0)" })
        say("outcome", job.outcome)
        say("version", job.version)
        say("code", job.code)
        say("group", job.state == .dead ? "1 \(group(job))" : nil)
        say("message", job.code.map { _ in "*" })
        say("ended", job.hasEnded ? "*" : nil)
        say("was", job.was)
        say("needs", job.needs)
        say("unable", job.unable.isEmpty ? nil : ",\(job.unable.joined(separator: ",")),")
        if let edit = job.edit { lines.append("edit:\(job.id) \(edit)") }
        if job.result != nil { lines.append("result:\(job.id) *") }
        if job.history > 0 { lines.append("attempts:\(job.id) \(job.history)") }
        let at = job.over == nil ? "*" : "over"
        let rank = "\(job.sequence ?? 0)"
        let arrival = Self.shown(job.arrival ?? 0)
        switch job.state {
        case .ready: lines.append("ready:\(job.priority):\(job.tenant) \(job.id) \(rank)")
        case .delayed:
            lines.append("delayed \(job.id) \(at)")
            if job.notBefore != nil {
                lines.append("later:\(job.asset) \(job.id) \(arrival)")
            } else {
                lines.append("retrying \(job.id) *")
            }
        case .parked:
            lines += ["parked \(job.id) \(arrival)", "parked:\(job.asset) \(job.id) \(arrival)"]
        case .active, .committing: lines.append("lease \(job.id) \(at)")
        case .stuck: lines.append("stuck \(job.id) *")
        case .dead: lines.append("dead \(job.id) *")
        case .done: break
        }
        return lines
    }

    private static func lines(_ name: String, _ batch: Batch) -> [String] {
        var lines: [String] = []
        let key = "batch:\(name)"
        func say(_ name: String, _ value: String?) {
            if let value, value != "0" { lines.append("\(key) \(name) \(value)") }
        }
        say("tenant", batch.tenant)
        say("priority", batch.priority)
        say("cost", batch.cost.map { "\($0)" })
        say("cap", batch.cap.map { "\($0)" })
        say("costTotal", batch.total)
        say("sealed", batch.sealed.map { "\($0)" })
        say("admitted", "\(batch.admitted)")
        for (how, count) in batch.counts { say(how, "\(count)") }
        say("costEnded", "\(batch.costEnded)")
        say("costJobs", "\(batch.renders.jobs)")
        say("costStated", "\(batch.renders.stated)")
        say("generation", "\(batch.generation)")
        say("finished", "\(batch.finished)")
        say("gone", "\(batch.gone)")
        say("cancel", batch.cancel)
        say("inLane", batch.uncountedInStream.map { "\($0)" })
        say("opened", "*")
        say("stored", "\(batch.stored)")
        say("laneBytes", "\(batch.streamBytes)")
        say("ended", batch.isComplete ? "*" : nil)
        lines.append("\(key):edit \(batch.edit)")
        lines += batch.ended.map { "\(key):ended \($0)" }
        lines.append("batches \(name) *")
        if batch.isComplete && !batch.isOld { lines.append("batches:ended \(name) *") }
        if batch.wasFed { say("fed", "*") }
        if let refill = batch.refill { lines.append("\(key) refill \(refill)") }
        if let fedAt = batch.fedAt {
            let words = [0: "new", QueueModel.idle: "idle", QueueModel.full: "full"]
            lines.append("lanes \(name) \(words[fedAt] ?? "*")")
        }
        return lines
    }
}
