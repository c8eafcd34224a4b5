import Redis

/// Passes the candidates of a walk to the scripts and collects their findings.
struct Examination {
    /// An id, and the structure in which it was seen.
    typealias Candidate = (structure: String, id: String)

    /// The maximum number of leases that are counted: more than the slots of any queue.
    static let leasesMax = 10_000
    /// The maximum number of batch members of one call.
    static let membersMax = 200
    /// The maximum number of impossible times of each structure that are named.
    static let timesMax = 100
    /// The number of lease durations after which an expired lease counts as neglected: no worker reaps.
    static let leasesOverdue = 3

    let queue: JobQueue
    let repair: Bool
    var diagnosis = Diagnosis()

    init(queue: JobQueue, repair: Bool) {
        self.queue = queue
        self.repair = repair
    }

    mutating func inspect(_ candidates: [Candidate]) async throws(QueueError) {
        if candidates.isEmpty { return }
        diagnosis.places += candidates.count
        let reply = try await queue.run(
            QueueScript.inspect,
            [flag, RedisArgument(queue.settings.lease.milliseconds)]
                + candidates.flatMap { [RedisArgument($0.structure), RedisArgument($0.id)] })
        try add(reply, of: QueueScript.inspect)
    }

    mutating func inspect(flows: ArraySlice<String>) async throws(QueueError) {
        diagnosis.flows += flows.count
        let reply = try await queue.run(
            QueueScript.inspectFlows, [flag, "0"] + flows.map { RedisArgument($0) })
        try add(reply, of: QueueScript.inspectFlows)
    }

    /// Compares the groups of dead jobs with the dead jobs.
    mutating func inspectGroups() async throws(QueueError) {
        try add(
            try await queue.run(QueueScript.inspectGroups, [flag]), of: QueueScript.inspectGroups)
    }

    /// The maximum number of tenants of one call.
    static let tenantsMax = 500

    /// Compares the bytes of tenants with what a walk has summed up, unless something has changed meanwhile.
    mutating func inspect(_ stored: StoredWalk) async throws(QueueError) {
        let pairs = stored.arguments
        for start in stride(from: 0, through: max(0, pairs.count - 1), by: 2 * Self.tenantsMax) {
            let some = pairs[start..<min(start + 2 * Self.tenantsMax, pairs.count)]
            try add(
                try await queue.run(QueueScript.inspectStored, [flag, stored.turn] + some),
                of: QueueScript.inspectStored)
        }
    }

    /// Counts the running jobs and reports expired leases that no worker reaps.
    mutating func inspectLeases() async throws(QueueError) {
        let counted = try await queue.run(
            QueueScript.inspectFlows, [flag, RedisArgument(Self.leasesMax)])
        try add(counted, of: QueueScript.inspectFlows)
        let now = try await queue.now()
        let limit = now - Self.leasesOverdue * queue.settings.lease.milliseconds
        let overdue = try await queue.send([
            "ZCOUNT", RedisArgument(queue.name.keys.lease), "-inf", RedisArgument("(\(limit)"),
        ])
        if let overdue = overdue.int, overdue > 0 {
            diagnosis.add(
                Finding(
                    kind: .leasesOverdue, subject: queue.name.string, detail: "\(overdue)",
                    isMended: false))
        }
    }

    /// Reports what waits for a time that no clock can have given.
    mutating func inspectTimes() async throws(QueueError) {
        let dutyMax = Duty.allCases.map(\.lease.milliseconds).max() ?? 0
        try add(
            try await queue.run(
                QueueScript.inspectTimes,
                [
                    flag, RedisArgument(queue.settings.lease.milliseconds),
                    RedisArgument(queue.settings.retry.cap.milliseconds), RedisArgument(dutyMax),
                    RedisArgument(Self.timesMax),
                ]), of: QueueScript.inspectTimes)
    }

    mutating func inspect(batch: String) async throws(QueueError) {
        diagnosis.batches += 1
        var member = 0
        while member >= 0 {
            let reply = try await queue.run(
                QueueScript.inspectBatch,
                [
                    flag, RedisArgument(batch), RedisArgument(member),
                    RedisArgument(Self.membersMax),
                    RedisArgument(queue.settings.unopenedStreamGrace.milliseconds),
                ])
            guard let parts = reply.array, parts.count == 2, let next = parts[0].int else {
                throw queue.unexpected(reply, of: QueueScript.inspectBatch)
            }
            try add(parts[1], of: QueueScript.inspectBatch)
            member = Int(next)
        }
    }

    private var flag: RedisArgument { repair ? "1" : "" }

    private mutating func add(
        _ reply: RedisReply, of script: RedisScript
    ) throws(QueueError) {
        guard let rows = reply.array else { throw queue.unexpected(reply, of: script) }
        for row in rows {
            guard let fields = row.array?.map(\.string), fields.count == 4,
                let kind = fields[0].flatMap(Finding.Kind.init), let subject = fields[1],
                let detail = fields[2]
            else { throw queue.unexpected(row, of: script) }
            diagnosis.add(
                Finding(kind: kind, subject: subject, detail: detail, isMended: fields[3] == "1"))
        }
    }
}
