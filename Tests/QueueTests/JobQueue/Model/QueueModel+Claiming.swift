// Who is given which jobs.
extension QueueModel {
    private static let shares = [
        2: "normal", 7: "normal", 12: "normal", 5: "bulk", 13: "bulk", 15: "alone",
    ]

    /// What one claim has done so far.
    private struct Claiming {
        let worker: String
        /// The flow that is served at each priority, and the virtual time at which its last job starts.
        var serving: [String: (flow: Flow, start: Int)] = [:]
        var passed = 0
        /// Flows at their caps that it has put out of the way.
        var capped = 0
        var given: [String] = []
        /// Jobs that this worker cannot do, and another one perhaps can.
        var left: [String] = []
    }

    mutating func promote(_ most: Int) -> [String] {
        let due = jobs(.delayed) { $0.over != nil }.sorted { ($0.over ?? 0) < ($1.over ?? 0) }
        for job in due.prefix(most) {
            jobs[job.id]?.over = nil
            makeReady(job.id)
        }
        return ["\(min(due.count, most))", "0"]
    }

    mutating func claim(_ worker: String, _ most: Int, isIdle: Bool) -> [String] {
        var c = Claiming(worker: worker)
        var wanted = ""
        if config["paused"] == nil {
            wanted = serve(&c, most, isIdle)
        } else {
            wanted = "paused"
        }
        return [wanted] + c.given
    }

    private mutating func serve(_ c: inout Claiming, _ most: Int, _ isIdle: Bool) -> String {
        var quarantined = tags.keys.contains { $0.priority == "alone" && !capped.contains($0) }
        var turn = turn ?? 0
        let asked = quarantined ? self.asked : nil
        var wanted = ""
        if isIdle, asked?.worker == c.worker { turn = 15 }
        serving: while c.given.count < most && c.passed < rules.passedMax {
            let mine = Self.shares[turn % 16]
            turn += 1
            var next: (priority: String, id: String)?
            if mine == "alone" && quarantined {
                if isIdle && c.given.isEmpty {
                    if let id = nextJob(&c, "alone") {
                        self.asked = nil
                        give(&c, id, "alone")
                        if !c.given.isEmpty { break }
                    } else {
                        quarantined = false
                    }
                } else if asked.map({ mayAskAnother($0, than: c.worker) }) ?? true {
                    self.asked = (c.worker, false)
                    wanted = "alone"
                    break
                }
            } else if let mine, mine != "alone" {
                next = nextJob(&c, mine).map { (mine, $0) }
            }
            for priority in ["interactive", "normal", "bulk"] where next == nil {
                next = nextJob(&c, priority).map { (priority, $0) }
            }
            if let next {
                give(&c, next.id, next.priority)
            } else if mine != "alone" && quarantined {
                // Nothing else is there: then it is the turn of what has to be alone.
                turn += 15 - turn % 16
            } else {
                break serving
            }
        }
        for priority in Self.priorities {
            guard c.serving[priority] != nil else { continue }
            stopServing(&c, priority)
            finished = finished.filter {
                $0.key.priority != priority || $0.value >= virtual[priority] ?? 0
            }
        }
        for id in c.left {
            guard let job = jobs[id] else { continue }
            jobs[id]?.state = .ready
            enter(job.flow)
        }
        if !c.given.isEmpty {
            self.turn = turn % 16
            takeTime()
        }
        if wanted.isEmpty, !c.left.isEmpty { return "left" }
        let hasMore =
            c.given.count < most
            && (c.capped >= rules.cappedMax || c.passed >= rules.passedMax)
        return wanted.isEmpty && hasMore ? "again" : wanted
    }

    /// A worker that was asked to become idle stays asked while it is heard of.
    private func mayAskAnother(_ asked: (worker: String, isLate: Bool), than worker: String) -> Bool
    {
        asked.worker == worker || asked.isLate && !isHeard(asked.worker)
    }

    private func isAtCap(_ tenant: String) -> Bool {
        guard let cap = config["cap:\(tenant)"] ?? config["cap"] else { return false }
        return running(tenant) >= Int(cap) ?? 0
    }

    private mutating func stopServing(_ c: inout Claiming, _ priority: String) {
        guard let (flow, _) = c.serving.removeValue(forKey: priority) else { return }
        guard tags[flow] != nil && isAtCap(flow.tenant) else { return }
        capped.insert(flow)
        c.capped += 1
    }

    /// Takes the next job of a priority out of its flow: that of the least virtual time. A flow that is
    /// being served goes on before others of the same time.
    private mutating func nextJob(_ c: inout Claiming, _ priority: String) -> String? {
        while c.capped < rules.cappedMax {
            let open = tags.filter { $0.key.priority == priority && !capped.contains($0.key) }
            guard
                let best = open.min(by: { ($0.value, $0.key.tenant) < ($1.value, $1.key.tenant) })
            else {
                stopServing(&c, priority)
                return nil
            }
            if let flow = c.serving[priority]?.flow, open[flow] ?? .max > best.value {
                stopServing(&c, priority)
                continue
            }
            let flow = c.serving[priority]?.flow ?? best.key
            if c.serving[priority] == nil {
                c.serving[priority] = (flow, best.value)
                virtual[priority] = best.value
            }
            if isAtCap(flow.tenant) {
                stopServing(&c, priority)
            } else {
                return ready(flow).first?.id
            }
        }
        return nil
    }

    /// A job that is not given lets the next one of its asset wait for a worker, whose turn may be now.
    private mutating func passOver(_ c: inout Claiming) {
        c.passed += 1
        for priority in Self.priorities { stopServing(&c, priority) }
    }

    /// Gives a job to the worker, or ends it when it was cancelled or is late.
    private mutating func give(_ c: inout Claiming, _ id: String, _ priority: String) {
        guard let job = jobs[id] else { return }
        if isForOthers(job, c.worker) {
            // It is in no flow until the claim ends.
            jobs[id]?.state = .parked
            c.left.append(id)
            retireIfEmpty(job.flow)
            return passOver(&c)
        }
        let batch = job.batch.flatMap { batches[$0] }
        if let reason = batch?.cancel {
            cancel(id, reason)
            return passOver(&c)
        }
        if job.deadline == 1_000_000_000_000 {
            jobs[id]?.state = .dead
            retireIfEmpty(job.flow)
            leaveAsset(job.asset)
            bury(id, "deadlinePassed", "deadlinePassed \(job.attempts + job.crashes)")
            return passOver(&c)
        }
        let weight = config["weight:\(job.tenant)"].flatMap { Int($0) } ?? 1
        let start = tags[job.flow] ?? 0
        virtual[priority] = start
        let units = (job.cost ?? 1) * 1000
        tags[job.flow] = start + (units + weight - 1) / weight
        jobs[id]?.charge = (priority, units, weight)
        jobs[id]?.tookADay = false
        jobs[id]?.state = .active
        jobs[id]?.worker = c.worker
        giveFence(id)
        retireIfEmpty(job.flow)
        let task = job.parent.flatMap { parts[$0]?.task }
        let edit = task ?? (job.batch == nil || job.hasOwnEdit ? job.edit : batch?.edit)
        c.given.append(
            [
                id, job.parent == nil ? job.asset : id, edit ?? "", "\(job.generation)",
                "\(job.attempts)", "\(job.crashes)",
                "\(job.rebases)", job.batch ?? "", job.tenant, priority == "alone" ? "1" : "",
                job.traceparent.map { "\($0)" } ?? "", job.fields ?? "",
                "\(told[job.asset] ?? 0)",
            ].joined(separator: " "))
    }
}
