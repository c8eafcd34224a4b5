import Redis

/// Dead jobs are kept for an operator. Redis cannot keep them without limit, so workers move the oldest ones to a file.
extension JobQueue {
    /// The maximum number of dead jobs that one step moves.
    public static let spillMax = 100

    /// The maximum number of pages that one step inspects. Dead jobs that cannot be moved may be in front of those that can.
    static let spillPagesMax = 20

    /// Returns the next dead jobs that exceed the limits of number, size or age in Redis, the oldest first; an empty array if there
    /// are none. Of those with large edits, of which few stay, they are the oldest of the tenant with most. Ids of dead jobs whose records Redis has lost are removed from the lists. Records of a later format stay, and
    /// those behind them are inspected.
    public func surplusDead() async throws(QueueError) -> [SpilledJob] {
        let keys = name.keys
        let old = try await believedTime() - settings.keepDead.milliseconds
        // The number of dead jobs in front that stay.
        var first = 0
        for page in 0..<Self.spillPagesMax {
            let last = RedisArgument(first + Self.spillMax - 1)
            let firstLarge = page * Self.spillMax
            let replies = try await sendAll([
                ["ZCARD", RedisArgument(keys.dead)], ["ZCARD", RedisArgument(keys.largeDead)],
                ["ZRANGE", RedisArgument(keys.dead), RedisArgument(first), last, "WITHSCORES"],
            ])
            let count = Int(replies[0].int ?? 0)
            let surplusLarge = Int(replies[1].int ?? 0) - settings.deadLargeMax - firstLarge
            var ids: [String] = []
            let oldest = replies[2].array ?? []
            for index in stride(from: 0, to: oldest.count - 1, by: 2) {
                guard let id = oldest[index].string, let died = oldest[index + 1].string else {
                    continue
                }
                let isSurplus = first + index / 2 < count - settings.deadMax
                if isSurplus || Double(died) ?? 0 < Double(old) { ids.append(id) }
            }
            if surplusLarge > 0 {
                let large = try await largeDeadOfMost(firstLarge + min(surplusLarge, Self.spillMax))
                for id in large.dropFirst(firstLarge) where !ids.contains(id) { ids.append(id) }
            }
            if ids.isEmpty { return [] }
            let jobs = try await spilled(ids)
            if !jobs.isEmpty { return jobs }
            try await removeDead(ids.map { ($0, 0) })
            let left = try await send(["ZCARD", RedisArgument(keys.dead)]).int ?? 0
            first += max(0, ids.count - max(0, count - Int(left)))
        }
        return []
    }

    /// The maximum number of dead jobs with large edits among which one step chooses.
    private static let largeSeenMax = 2 * 1000

    /// Returns dead jobs with large edits, each the oldest of the tenant that then has most: a tenant's pushes out none of others.
    private func largeDeadOfMost(_ count: Int) async throws(QueueError) -> [String] {
        let ids =
            try await send([
                "ZRANGE", RedisArgument(name.keys.largeDead), "0",
                RedisArgument(Self.largeSeenMax - 1),
            ]).array?.compactMap(\.string) ?? []
        let tenants = try await sendAll(
            ids.map { ["HGET", RedisArgument(name.keys.job($0)), "tenant"] })
        var left = Dictionary(
            grouping: zip(ids, tenants), by: { $0.1.string ?? "default" }
        ).mapValues { $0.map(\.0)[...] }
        var chosen: [String] = []
        while chosen.count < count,
            let most = left.max(by: { ($0.value.count, $1.key) < ($1.value.count, $0.key) })?.key,
            let oldest = left[most]?.popFirst()
        { chosen.append(oldest) }
        return chosen
    }

    /// Returns dead jobs in the form that is written to a file. Jobs that are not dead, or whose record has a later format,
    /// are left out.
    func spilled(_ ids: [String]) async throws(QueueError) -> [SpilledJob] {
        let keys = name.keys
        let records = try await sendAll(
            ids.map { ["HGETALL", RedisArgument(keys.job($0))] }
        )
        .map { $0.pairs ?? [:] }
        var jobs: [SpilledJob] = []
        for (id, fields) in zip(ids, records) {
            let parts = try await sendAll([
                ["GET", RedisArgument(keys.edit(id))],
                ["GET", RedisArgument(keys.batchEdit(fields["batch"] ?? ""))],
                ["LRANGE", RedisArgument(keys.attempts(id)), "0", "-1"],
            ])
            let edit = fields["malformed"] == nil ? parts[0].bytes ?? parts[1].bytes : nil
            let history = parts[2].array?.compactMap(\.string) ?? []
            let text = edit.map { String(decoding: $0, as: UTF8.self) }
            if let job = SpilledJob(id, fields, edit: text, history: history) { jobs.append(job) }
        }
        return jobs
    }

    /// Removes dead jobs that are still dead in the given generation.
    ///
    /// - Parameter file: The file that the jobs were written to; nil if they are discarded.
    /// - Returns: The number of jobs that were removed.
    @discardableResult
    public func removeDead(
        _ jobs: [(job: String, generation: Int)], writtenTo file: String? = nil
    ) async throws(QueueError) -> Int {
        let reply = try await run(
            QueueScript.removeDead,
            [RedisArgument(file ?? "")]
                + jobs.flatMap { [RedisArgument($0.job), RedisArgument($0.generation)] })
        guard let removed = reply.int else { throw unexpected(reply, of: QueueScript.removeDead) }
        return Int(removed)
    }

    /// Returns the files on the machines of workers to which dead jobs were moved, and the number of jobs in each.
    public func spillFiles() async throws(QueueError) -> [(file: String, jobs: Int)] {
        let files = try await send(["HGETALL", RedisArgument(name.keys.spilled)]).pairs ?? [:]
        return files.sorted { $0.key < $1.key }.map { ($0.key, Int($0.value) ?? 0) }
    }
}
