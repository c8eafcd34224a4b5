// Each command, and what it answers.
extension QueueModel {
    mutating func apply(_ command: QueueCommand) -> [String] {
        let answer = answer(command)
        settle()
        return answer
    }

    private mutating func answer(_ command: QueueCommand) -> [String] {
        switch command {
        case .enqueue(let fields, let isUrgent):
            enqueue(fields, isUrgent: isUrgent)
            return ["OK"]
        case .addToBatchStream(let batch, let number, let fields):
            return [addToBatchStream(batch, number, fields) ? "OK" : "REFUSED"]
        case .append(let batch, let first, let members, let edit, let mustBeOpen):
            return append(batch, first, members, edit, mustBeOpen)
        case .admit(let most): return admit(most)
        case .feed(let most): return feed(most)
        case .promote(let most): return promote(most)
        case .claim(let worker, let most, let isIdle):
            return claim(worker, most, isIdle: isIdle)
        case .beat(let worker, let holds, let stage, let percent):
            workers.insert(worker)
            silent.remove(worker)
            return holds.map { beat($0, stage, percent) } + ["0"]  // no two have one name
        case .pardon(let holds): return holds.map { pardon($0) }
        case .commit(let holds, let version, let outcome):
            return holds.map { commit($0, version, outcome) }
        case .finalize(let holds): return holds.map { finalize($0) }
        case .conclude(let hold, let outcome): return [conclude(hold, outcome)]
        case .preview(let hold): return [preview(hold)]
        case .handOn(let hold): return [handOn(hold)]
        case .giveBack(let hold): return [giveBack(hold)]
        case .passOn(let hold, let worker, let needs, let isForGood):
            return [passOn(hold, worker, needs, isForGood)]
        case .fail(let hold, let counts, let verdict): return [fail(hold, counts, verdict)]
        case .release(let hold, let reason): return [release(hold, reason)]
        case .split(let hold, let task, let numbers): return [split(hold, task, numbers)]
        case .claimPart(let hold, let number): return claimPart(hold, number)
        case .clockSteps(let seconds):
            offset += seconds
            // The time until which it need not be heard of is of the clock before.
            if seconds < 0 { asked?.isLate = true }
            return []
        case .reap(let worker, let most, let forgets): return reap(worker, most, forgets)
        case .replay(let ids, let edit):
            takeTime()
            return ids.map { replay($0, edit) }
        case .replayLost(let id, let version, let asset, let told):
            takeTime()
            return [replayLost(id, version, asset, told)]
        case .spill(let ids, let age): return [spill(ids, age)]
        case .restore(let id, let generation, let fields, let isOfThisDeath):
            return [restore(id, generation, Self.named(fields), isOfThisDeath)]
        case .cancel(let ids): return ids.map { cancelOne($0, "over") }
        case .cancelBatch(let batch, let most): return cancelBatch(batch, most)
        case .configure(let settings):
            for setting in settings {
                config[setting.name] = setting.value.isEmpty ? nil : setting.value
            }
            for setting in settings where setting.name.hasPrefix("cap:") {
                uncap(String(setting.name.dropFirst(4)))
            }
            if settings.contains(where: { $0.name == "cap" }) {
                for flow in capped { uncap(flow.tenant) }
            }
            control.append("config 1")
            return ["OK"]
        case .leaseRunsOut(let id):
            let now = tick()
            if jobs[id]?.isLeased == true { jobs[id]?.over = now }
            return []
        case .becomesDue(let id):
            let now = tick()
            if jobs[id]?.state == .delayed { jobs[id]?.over = now }
            return []
        case .askedWorkerIsLate:
            asked?.isLate = true
            return []
        case .takesADay(let id):
            // A version that waits to be published costs nothing.
            if jobs[id]?.state == .active { jobs[id]?.tookADay = true }
            return []
        case .fallsSilent(let worker):
            silent.insert(worker)
            return []
        }
    }

    private mutating func beat(
        _ hold: QueueCommand.Hold, _ stage: String, _ percent: Int?
    ) -> String {
        guard let job = jobs[hold.job] else { return hold.job.contains("+") ? "C" : "L" }
        guard refusal(hold) == nil else { return "L" }
        guard job.isLeased else { return job.state == .done || job.state == .stuck ? "E" : "L" }
        if job.isHandedOn { return "E" }
        jobs[hold.job]?.over = nil
        jobs[hold.job]?.confirmed = job.fence
        if !stage.isEmpty { jobs[hold.job]?.stage = stage }
        if let percent {
            jobs[hold.job]?.percent = percent
            let tenth = percent / 10
            if (1...9).contains(tenth), tenth > job.tenthTold ?? 0 {
                jobs[hold.job]?.tenthTold = tenth
                emit(job, "progressed", "\(job.generation)/progressed/\(tenth)")
            }
        }
        let reason = job.cancel ?? job.batch.flatMap { batches[$0]?.cancel }
        return reason != nil && job.state == .active ? "C" : "K"
    }

    private mutating func commit(
        _ hold: QueueCommand.Hold, _ version: String, _ outcome: String
    ) -> String {
        if let refused = refusal(hold) { return refused }
        guard let job = jobs[hold.job] else { return "GONE" }
        if job.state == .committing && job.version == version { return "OK" }
        guard job.state == .active else { return "GONE" }
        if job.cancel != nil || job.batch.flatMap({ batches[$0]?.cancel }) != nil {
            return "CANCELLED"
        }
        jobs[hold.job]?.state = .committing
        jobs[hold.job]?.version = version
        jobs[hold.job]?.outcome = outcome
        jobs[hold.job]?.result = "data"
        return "OK"
    }

    private mutating func finalize(_ hold: QueueCommand.Hold) -> String {
        if let refused = refusal(hold) { return refused }
        guard let job = jobs[hold.job], job.state != .done else { return "OK" }
        guard job.state == .committing, let outcome = job.outcome else { return "GONE" }
        end(job, outcome)
        let revision = job.version?.split(separator: "-").first.flatMap { Int($0) } ?? 0
        if outcome == "completed", let highest = told[job.asset], revision > highest {
            told[job.asset] = nil
        }
        return "OK"
    }

    private mutating func end(_ job: Job, _ outcome: String) {
        jobs[job.id]?.state = .done
        jobs[job.id]?.isHandedOn = false
        endHold(job)
        leaveAsset(job.asset)
        finish(job.id, outcome)
    }

    private mutating func conclude(_ hold: QueueCommand.Hold, _ outcome: String) -> String {
        if let refused = refusal(hold) { return refused }
        guard let job = jobs[hold.job], job.state != .done else { return "OK" }
        guard job.state == .active else { return "GONE" }
        if outcome == "cancelled" {
            let batch = job.batch.flatMap { batches[$0]?.cancel }
            cancel(job.id, job.cancel ?? batch ?? "cancelled")
        } else {
            jobs[job.id]?.result = "data"
            end(job, outcome)
        }
        return "OK"
    }

    private mutating func preview(_ hold: QueueCommand.Hold) -> String {
        if let refused = refusal(hold) { return refused }
        guard let job = jobs[hold.job], job.state == .active else { return "GONE" }
        emit(job, "previewed", "\(job.generation)/previewed/\(job.fence ?? 0)")
        return "OK"
    }

    private mutating func fail(
        _ hold: QueueCommand.Hold, _ counts: String, _ verdict: QueueCommand.Verdict
    ) -> String {
        if let refused = refusal(hold) { return refused }
        guard let job = jobs[hold.job], job.state == .active else { return "GONE" }
        jobs[job.id]?.history += 1
        if let reason = job.cancel {
            cancel(job.id, reason)
            return "OK"
        }
        endHold(job)
        if counts == "crashes" {
            jobs[job.id]?.crashes += 1
            count("crashed")
        } else {
            jobs[job.id]?.attempts += 1
        }
        if verdict == .dead {
            jobs[job.id]?.state = .dead
            leaveAsset(job.asset)
            bury(job.id, "code")
            return "OK"
        }
        jobs[job.id]?.state = .delayed
        jobs[job.id]?.over = nil
        jobs[job.id]?.code = "code"
        if verdict == .alone { quarantine(job.id, counts) }
        if job.parent == nil { count("retried") }
        emit(job, "retried", "\(job.generation)/retried/\(job.fence ?? 0)")
        return "OK"
    }

    private mutating func release(_ hold: QueueCommand.Hold, _ reason: String) -> String {
        if let refused = refusal(hold) { return refused }
        guard let job = jobs[hold.job], job.isLeased else { return "GONE" }
        jobs[job.id]?.state = .active
        jobs[job.id]?.over = nil
        if job.state == .committing {
            jobs[job.id]?.version = nil
            jobs[job.id]?.outcome = nil
            jobs[job.id]?.result = nil
            jobs[job.id]?.carries = 0
            jobs[job.id]?.isHandedOn = false
        }
        if let reason = job.cancel {
            cancel(job.id, reason)
            return "OK"
        }
        endHold(job)
        if reason == "rebase" { jobs[job.id]?.rebases += 1 }
        if reason == "pressure" { count("requeued") }
        makeReady(job.id)
        return "OK"
    }

    private mutating func handOn(_ hold: QueueCommand.Hold) -> String {
        if let refused = refusal(hold) { return refused }
        guard let job = jobs[hold.job] else { return "GONE" }
        if job.state == .stuck || job.isHandedOn { return "OK" }
        guard job.state == .committing else { return "GONE" }
        jobs[job.id]?.history += 1
        if job.carries >= rules.carriesMax {
            getStuck(job.id, "code")
        } else {
            jobs[job.id]?.code = "code"
            jobs[job.id]?.isHandedOn = true
            jobs[job.id]?.over = nil
        }
        return "OK"
    }

    private mutating func giveBack(_ hold: QueueCommand.Hold) -> String {
        if let refused = refusal(hold) { return refused }
        guard let job = jobs[hold.job] else { return "GONE" }
        if job.state == .stuck || job.isHandedOn { return "OK" }
        guard job.state == .committing else { return "GONE" }
        jobs[job.id]?.isHandedOn = true
        jobs[job.id]?.carries = max(0, job.carries - 1)
        jobs[job.id]?.over = nil
        return "OK"
    }

    private mutating func passOn(
        _ hold: QueueCommand.Hold, _ worker: String, _ needs: String, _ isForGood: Bool
    ) -> String {
        if let refused = refusal(hold) { return refused }
        guard let job = jobs[hold.job], job.state == .active else { return "GONE" }
        let known = job.unable.filter { workers.contains($0) }
        let unable = known.contains(worker) ? known : known + [worker]
        let isAble = hasAbleWorker(unable, needs)
        if job.cancel == nil, !isAble, !isForGood { return "NONE" }
        jobs[job.id]?.history += 1
        if let reason = job.cancel {
            cancel(job.id, reason)
            return "OK"
        }
        endHold(job)
        guard isAble else {
            jobs[job.id]?.attempts += 1
            jobs[job.id]?.state = .dead
            leaveAsset(job.asset)
            bury(job.id, "code")
            return "DEAD"
        }
        jobs[job.id]?.unable = unable
        if let batch = job.batch, job.unable.isEmpty { touchedBatches.insert(batch) }
        if !needs.isEmpty { jobs[job.id]?.needs = needs }
        jobs[job.id]?.over = nil
        makeReady(job.id)
        return "OK"
    }

    /// What a worker gets that carries a job on; nil when it is stuck.
    private mutating func carryOn(_ job: Job, by worker: String) -> String? {
        takeTime()
        guard job.carries < rules.carriesMax else {
            // Nobody is told this fence: whoever had the job is refused.
            let fence = tick()
            jobs[job.id]?.fence = fence
            getStuck(job.id, "workerLost")
            return nil
        }
        jobs[job.id]?.worker = worker
        jobs[job.id]?.carries += 1
        jobs[job.id]?.isHandedOn = false
        giveFence(job.id)
        return "\(job.id) \(job.asset) \(job.version ?? "?") \(job.generation) \(job.carries + 1) "
            + (job.traceparent.map { "\($0)" } ?? "")
    }

    private mutating func reap(_ worker: String, _ most: Int, _ forgets: Bool) -> [String] {
        var (ready, dead, carried) = (0, 0, [String]())
        let lost = jobs.values.filter { $0.isLeased && $0.over != nil }
            .sorted { ($0.over ?? 0) < ($1.over ?? 0) }
        // A part that ended with its job, in this call, is not lost.
        for job in lost.prefix(most) where jobs[job.id] != nil {
            jobs[job.id]?.over = nil
            if job.state == .committing {
                if !job.isHandedOn { count("crashed") }
                if let row = carryOn(job, by: worker) { carried.append(row) }
                continue
            }
            if let reason = job.cancel {
                cancel(job.id, reason)
                continue
            }
            let isBegun = job.confirmed == job.fence && job.stage != "fetching"
            if !isBegun, job.voids < rules.voidsMax {
                void(job)
                ready += 1
                continue
            }
            let crashes = job.crashes + 1
            if crashes >= rules.crashesMax, let worker = job.worker, isHeard(worker) { continue }
            count("crashed")
            freed(job)
            jobs[job.id]?.history += 1
            jobs[job.id]?.crashes = crashes
            if let fence = job.fence { jobs[job.id]?.blamed.append(fence) }
            if crashes >= rules.crashesMax {
                jobs[job.id]?.state = .dead
                leaveAsset(job.asset)
                bury(job.id, "workerLost", "workerLost \(job.attempts + crashes)")
                dead += 1
            } else {
                if crashes >= rules.crashesToQuarantine { quarantine(job.id, "crashes") }
                makeReady(job.id)
                ready += 1
            }
        }
        drop(forgets)
        // What was left to these may be what others can do: they look at all again.
        if !workers.isDisjoint(with: silent) { looks = [:] }
        workers.subtract(silent)
        silent = []
        return ["\(ready)", "\(dead)"] + carried
    }

    /// Drops what ended long ago, or is too much.
    private mutating func drop(_ forgets: Bool) {
        if forgets { while !done.isEmpty { forgetOldest() } }
        let ended = batches.filter { $0.value.isComplete && !$0.value.isOld }
        if forgets || ended.count > rules.batchesMax {
            for (name, batch) in ended {
                batches[name]?.isOld = true
                // Dead members may be replayed and need it.
                guard (batch.counts["dead"] ?? 0) - batch.gone <= 0 else { continue }
                seenNew["batch:\(name)"] = Self.digest("", batch.edit)
                batches[name] = nil
                _ = endStream(name)
            }
        }
        if forgets || !seenSince || seenNew.count >= rules.seenMax / 2 {
            if !seenOld.isEmpty { hasForgottenNames = true }
            if seenNew.isEmpty { seenOld = [:] } else { (seenOld, seenNew) = (seenNew, [:]) }
            seenSince = true
        }
    }
}
