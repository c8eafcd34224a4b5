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
        /// The last job that it has looked past, by flow.
        var skipped: [Flow: Int] = [:]
        /// Where it goes on in a flow, as far as it has asked; nil: at the first job.
        var behind: [Flow: Int?] = [:]
        /// Flows that stand aside because it has looked past all of them.
        var aside: Set<Flow> = []
        /// How many flows stand before the first one that it looks at, by priority.
        var first: [String: Int] = [:]
        /// Whether the round that it goes on with was interrupted, by priority.
        var rounds: [String: Bool] = [:]
        /// The last flow of which nothing is left to look at, by priority.
        var seen: [String: (tag: Int, tenant: String)] = [:]
        /// Whether it has looked at everything.
        var hasEnded = false
    }

    /// Where a worker goes on in its next claim. A position holds while the clock is not set: sequences take no time.
    struct Looks {
        var jobs: [Flow: JobPosition] = [:]
        var flows: [String: FlowPosition] = [:]

        struct JobPosition {
            let last: Int
            /// How many jobs stand up to the last one; more of them mean that one came back.
            var before: Int
            let offset: Int
        }

        struct FlowPosition {
            let tag: Int
            let tenant: String
            var isInterrupted: Bool
            let offset: Int
        }
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
                } else if !mayGetAlone(c) {
                    quarantined = false
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
                c.hasEnded = c.capped < rules.cappedMax && c.passed < rules.passedMax
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
        let hasMore = keepPositions(c, most)
        if !wanted.isEmpty { return wanted }
        if hasMore { return "again" }
        return c.left.isEmpty && c.aside.isEmpty && c.rounds.isEmpty ? "" : "left"
    }

    /// Keeps where the worker goes on. Returns whether it has to do that at once.
    private mutating func keepPositions(_ c: Claiming, _ most: Int) -> Bool {
        var looks = looks[c.worker] ?? Looks()
        let stopped =
            c.given.count < most
            && (c.capped >= rules.cappedMax || c.passed >= rules.passedMax)
        if stopped {
            for (flow, last) in c.skipped {
                looks.jobs[flow] = Looks.JobPosition(
                    last: last, before: ready(flow).count { $0.rank <= last }, offset: offset)
            }
        }
        var isDue = stopped
        for priority in Self.priorities {
            let round = c.rounds[priority]
            let isInterrupted = !stopped || round == true
            if c.hasEnded {
                if round != nil { looks.flows[priority] = nil }
                isDue = isDue || round == true
            } else if let last = c.seen[priority], stopped || round != nil {
                looks.flows[priority] = Looks.FlowPosition(
                    tag: last.tag, tenant: last.tenant, isInterrupted: isInterrupted,
                    offset: offset)
            } else if round != nil, isInterrupted {
                looks.flows[priority]?.isInterrupted = true
            }
        }
        self.looks[c.worker] = looks
        return isDue
    }

    /// Whether a job in quarantine is not for others. A worker looks at ten tenants and at ten jobs of each.
    private func mayGetAlone(_ c: Claiming) -> Bool {
        let flows = openFlows(c, "alone").map(\.key)
        return flows.count >= 10
            || flows.contains { flow in
                if isAtCap(flow.tenant) { return false }
                let jobs = ready(flow)
                return jobs.count >= 10 || jobs.contains { !isForOthers($0, c.worker) }
            }
    }

    /// The flows of a priority that may be served, in their order.
    private func openFlows(
        _ c: Claiming, _ priority: String
    ) -> [(key: Flow, value: Int)] {
        tags.filter {
            $0.key.priority == priority && !capped.contains($0.key) && !c.aside.contains($0.key)
        }
        .sorted { ($0.value, $0.key.tenant) < ($1.value, $1.key.tenant) }
    }

    /// How many flows stand before those that the claim looks at.
    private func firstFlow(_ c: inout Claiming, _ priority: String) -> Int {
        if let known = c.first[priority] { return known }
        var number = 0
        if let last = looks[c.worker]?.flows[priority], last.offset == offset {
            c.rounds[priority] = last.isInterrupted
            number = openFlows(c, priority).count {
                ($0.value, $0.key.tenant) <= (last.tag, last.tenant)
            }
        }
        c.first[priority] = number
        return number
    }

    /// The job behind which the worker goes on in a flow; nil: it begins at the first.
    private mutating func behindSkipped(_ c: inout Claiming, _ flow: Flow) -> Int? {
        if let known = c.behind[flow] { return known }
        var last: Int?
        if let position = looks[c.worker]?.jobs[flow], position.offset == offset {
            let before = ready(flow).count { $0.rank <= position.last }
            if before <= position.before {
                looks[c.worker]?.jobs[flow]?.before = before
                last = position.last
            }
        }
        c.behind[flow] = .some(last)
        return last
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
        guard let (flow, start) = c.serving.removeValue(forKey: priority) else { return }
        if tags[flow] == nil, c.skipped[flow] != nil, finished[flow] == start {
            c.seen[priority] = (start, flow.tenant)
        }
        guard tags[flow] != nil && isAtCap(flow.tenant) else { return }
        capped.insert(flow)
        c.capped += 1
    }

    /// Takes the next job of a priority out of its flow: that of the least virtual time. A flow that is
    /// being served goes on before others of the same time.
    private mutating func nextJob(_ c: inout Claiming, _ priority: String) -> String? {
        while c.capped < rules.cappedMax && c.passed < rules.passedMax {
            let first = firstFlow(&c, priority)
            guard let best = openFlows(c, priority).dropFirst(first).first else {
                stopServing(&c, priority)
                return nil
            }
            if let flow = c.serving[priority]?.flow, tags[flow] ?? .max > best.value {
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
                continue
            }
            let last = behindSkipped(&c, flow)
            if let next = ready(flow).first(where: { $0.rank > last ?? .min }) { return next.id }
            // The worker has looked past all of it.
            if let start = c.serving[priority]?.start, tags[flow] == start {
                c.seen[priority] = (start, flow.tenant)
            }
            stopServing(&c, priority)
            c.aside.insert(flow)
            c.passed += 1
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
            c.skipped[job.flow] = job.rank
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
