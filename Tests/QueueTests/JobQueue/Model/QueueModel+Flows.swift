// Start-time fair queuing, and one job of an asset at a time.
extension QueueModel {
    static let priorities = ["interactive", "normal", "bulk", "alone"]

    func ready(_ flow: Flow) -> [Job] { jobs(.ready) { $0.flow == flow } }

    mutating func enter(_ flow: Flow) {
        guard tags[flow] == nil else { return }
        tags[flow] = max(virtual[flow.priority] ?? 0, finished.removeValue(forKey: flow) ?? 0)
    }

    /// Remembers what a flow has used up that has no jobs any more.
    mutating func retireIfEmpty(_ flow: Flow) {
        guard ready(flow).isEmpty, let tag = tags.removeValue(forKey: flow) else { return }
        capped.remove(flow)
        finished[flow] = tag
    }

    mutating func uncap(_ tenant: String) {
        for flow in capped where flow.tenant == tenant {
            capped.remove(flow)
            tags[flow] = max(virtual[flow.priority] ?? 0, tags[flow] ?? 0)
        }
    }

    private static let aDay = 86_400_000

    /// Notes that a job took another time than its flow was charged for.
    mutating func correct(_ job: Job, took milliseconds: Int? = nil) {
        guard let charge = job.charge, job.carries == 0 else { return }
        func time(_ units: Int) -> Int { (units + charge.weight - 1) / charge.weight }
        let took = milliseconds ?? (job.tookADay ? Self.aDay : 1)
        corrections[Flow(priority: charge.priority, tenant: job.tenant), default: 0] +=
            time(took * 1000) - time(charge.units)
    }

    /// Moves flows on, or back to the virtual time of now at most, wherever their times are kept.
    mutating func settleCorrections() {
        for (flow, by) in corrections where by != 0 {
            let now = virtual[flow.priority] ?? 0
            if let tag = tags[flow] {
                tags[flow] = max(now, tag + by)
            } else if let tag = finished[flow] ?? (by > 0 ? now : nil) {
                finished[flow] = max(now, tag + by)
            }
        }
        corrections = [:]
    }

    static let urgencies = ["interactive": 3, "normal": 2, "bulk": 1]

    /// Makes a job wait for a worker, or for the holder of its asset; then it makes all that are
    /// ahead of it as urgent as itself.
    mutating func makeReady(_ id: String) {
        guard var job = jobs[id] else { return }
        jobs[id]?.notBefore = nil
        let holder = assets[job.asset] ?? id
        assets[job.asset] = holder
        if holder == id {
            jobs[id]?.state = .ready
            enter(job.flow)
            return
        }
        jobs[id]?.state = .parked
        for behind in jobs(.parked, where: { $0.asset == job.asset })
        where behind.arrival ?? 0 > job.arrival ?? 0
            && Self.urgencies[behind.priority] ?? 0 > Self.urgencies[job.priority] ?? 9
        {
            job.priority = behind.priority
        }
        jobs[id]?.priority = job.priority
        let urgency = Self.urgencies[job.priority] ?? 0
        for ahead in jobs(.parked, where: { $0.asset == job.asset })
        where ahead.arrival ?? 0 < job.arrival ?? 0
            && Self.urgencies[ahead.priority] ?? 9 < urgency
        {
            jobs[ahead.id]?.priority = job.priority
        }
        guard let old = jobs[holder], urgency > Self.urgencies[old.priority] ?? 9 else { return }
        jobs[holder]?.priority = job.priority
        if old.state == .ready {
            retireIfEmpty(old.flow)
            enter(Flow(priority: job.priority, tenant: old.tenant))
        }
    }

    /// Lets the next job of an asset be ready; the caller's has another state already.
    mutating func leaveAsset(_ asset: String) {
        assets[asset] = nil
        if let next = jobs(.parked, where: { $0.asset == asset }).first { makeReady(next.id) }
    }
}
