import Edits
import FoundationEssentials
import Redis

/// One walk over all keys of a queue, in bounded steps.
///
/// The walk sees each key or member that exists during the whole walk (`SCAN` promises this). It may or may not see one that is
/// added or removed meanwhile; the scripts check each candidate again.
final class DoctorWalk {
    /// The maximum number of ids of one call of `inspect`.
    static let idsMax = 200
    /// The maximum number of ids of one call that may make the script search the list of done jobs.
    static let unlistedMax = 20
    /// The number of elements that Redis inspects in one step.
    static let step = 500

    var examination: Examination
    private let queue: JobQueue
    /// The done jobs that were seen in their list. The list's limit bounds their number.
    private var listed: Set<String> = []
    private var members: [Examination.Candidate] = []
    private var unlisted: [Examination.Candidate] = []
    private var flows: Set<String> = []
    private var batches: Set<String> = []
    private var jobs: [String] = []
    private var stored: StoredWalk

    init(queue: JobQueue, repair: Bool) async throws(QueueError) {
        self.queue = queue
        stored = try await StoredWalk(queue: queue)
        examination = Examination(queue: queue, repair: repair)
    }

    /// Walks over all keys and returns the findings.
    func run() async throws(QueueError) -> Diagnosis {
        try await walkDone()
        // The groups come before the dead jobs, because a repair may count the groups again.
        try await examination.inspectGroups()
        // The holders of assets come before the jobs that wait for assets, so that no job receives an asset out of turn.
        try await walkMembers(of: "lease")
        try await findFlows()
        for flow in flows.sorted() { try await walkMembers(of: "ready:\(flow)") }
        let listed = JobState.all(in: .listed)
        for state in listed.filter({ $0.isIn(.holdsAsset) })
            + listed.filter({ !$0.isIn(.holdsAsset) })
        {
            try await walkMembers(of: state.rawValue)
        }
        try await walk("HSCAN", "assets", by: 2) { pair throws(QueueError) in
            guard let asset = pair[0].string, let holder = pair[1].string else { return }
            try await self.see(holder, in: "assets:\(asset)")
        }
        try await walkMembers(of: "reserved", "HSCAN")
        try await walkMembers(of: "workers:info", "HSCAN")
        try await walkKeys()
        try await flush()
        try await inspectFlows()
        try await walkBatches()
        try await stored.add(jobs: jobs)
        try await examination.inspect(stored)
        try await examination.inspectLeases()
        try await examination.inspectTimes()
        var diagnosis = examination.diagnosis
        if let warning = stored.late.warning { diagnosis.warnings.append(warning) }
        return diagnosis
    }

    private func see(_ id: String, in structure: String) async throws(QueueError) {
        members.append((structure: structure, id: id))
        if members.count == Self.idsMax { try await flush() }
    }

    private func flush() async throws(QueueError) {
        try await examination.inspect(members)
        try await examination.inspect(unlisted)
        members.removeAll(keepingCapacity: true)
        unlisted.removeAll(keepingCapacity: true)
    }

    /// Done jobs are dropped at the head meanwhile, so the walk may skip some; `inspect` searches for those.
    private func walkDone() async throws(QueueError) {
        var start = 0
        while true {
            let ids = try await queue.send(
                "LRANGE", queue.name.keys.done, start, start + Self.step - 1)
            guard let ids = ids.array?.compactMap(\.string), !ids.isEmpty else { return }
            for id in ids {
                listed.insert(id)
                try await see(id, in: "done")
            }
            start += ids.count
        }
    }

    private func walkMembers(
        of structure: String, _ command: String = "ZSCAN"
    ) async throws(QueueError) {
        try await walk(command, structure, by: 2) { pair throws(QueueError) in
            if let id = pair[0].string { try await self.see(id, in: structure) }
        }
    }

    private func walkKeys() async throws(QueueError) {
        let prefix = queue.name.keys.prefix
        try await walk("SCAN", nil, by: 1) { key throws(QueueError) in
            guard let key = key[0].string, key.hasPrefix(prefix) else { return }
            let name = key.dropFirst(prefix.count)
            guard let colon = name.firstIndex(of: ":") else { return }
            try await self.see(
                key: String(name), kind: name[..<colon],
                rest: String(name[name.index(after: colon)...]))
        }
    }

    private func see(
        key: String, kind: Substring, rest: String
    ) async throws(QueueError) {
        switch kind {
        case "job":
            jobs.append(rest)
            if jobs.count == Self.idsMax {
                try await stored.add(jobs: jobs)
                jobs.removeAll(keepingCapacity: true)
            }
            if listed.contains(rest) { return }
            unlisted.append((structure: "unlisted", id: rest))
            if unlisted.count == Self.unlistedMax { try await flush() }
        case "edit", "result", "attempts", "parts": try await see(rest, in: String(kind))
        case "backlog":
            try await walk("HSCAN", key, by: 2) { pair throws(QueueError) in
                guard let id = pair[0].string else { return }
                self.stored.add(entry: id, pair[1].string ?? "", of: rest)
                try await self.see(id, in: key)
            }
        case "parked": try await walkMembers(of: key)
        case "ready":
            if flows.insert(rest).inserted { try await walkMembers(of: key) }
        case "batch", "lane": batches.insert(String(rest.prefix { $0 != ":" }))
        default: break
        }
    }

    private func findFlows() async throws(QueueError) {
        for priority in JobQueue.priorities {
            for key in ["flows:\(priority)", "finished:\(priority)"] {
                try await walk("ZSCAN", key, by: 2) { pair in
                    if let tenant = pair[0].string { self.flows.insert("\(priority):\(tenant)") }
                }
            }
        }
        try await walk("HSCAN", "capped", by: 2) { pair in
            if let flow = pair[0].string { self.flows.insert(flow) }
        }
    }

    private func inspectFlows() async throws(QueueError) {
        let all = flows.sorted()
        for start in stride(from: 0, to: all.count, by: Self.idsMax) {
            try await examination.inspect(flows: all[start..<min(start + Self.idsMax, all.count)])
        }
    }

    private func walkBatches() async throws(QueueError) {
        for zset in ["batches", "batches:ended", "lanes"] {
            try await walk("ZSCAN", zset, by: 2) { pair in
                if let batch = pair[0].string { self.batches.insert(batch) }
            }
        }
        for batch in batches.sorted() {
            try await examination.inspect(batch: batch)
            try await stored.add(batch: batch)
        }
    }

    /// Iterates over a structure, or over the keys of the queue.
    ///
    /// - Parameters:
    ///   - name: The structure, without the prefix of the queue; nil for the keys.
    ///   - width: The number of replies that make one element.
    private func walk(
        _ command: String, _ name: String?, by width: Int,
        _ body: ([RedisReply]) async throws(QueueError) -> Void
    ) async throws(QueueError) {
        if let name, try await isDamaged(name, command) { return }
        try await queue.scan(
            command, name.map { queue.name.keys.prefix + $0 }, count: Self.step
        ) { elements throws(QueueError) in
            for start in stride(from: 0, to: elements.count - width + 1, by: width) {
                try await body(Array(elements[start..<start + width]))
            }
        }
    }

    /// Returns whether a structure is of another type, and reports it. One such key must not keep the doctor from all others. It is asked
    /// about by a command of its own: an error within a walk may be about any other key.
    private func isDamaged(_ name: String, _ command: String) async throws(QueueError) -> Bool {
        let isHash = command == "HSCAN"
        do throws(QueueError) {
            _ = try await queue.send(
                isHash ? "HLEN" : "ZCARD", queue.name.keys.prefix + name)
            return false
        } catch {
            guard error.serverError?.prefix == "WRONGTYPE" else { throw error }
            try await examination.report(damaged: name, needing: isHash ? "a hash" : "a sorted set")
            return true
        }
    }
}

/// The jobs that wait and whose deadlines have passed. Each fails when a worker comes to it, which may be long after.
struct LateJobs {
    private(set) var jobs = 0
    /// The deadline that passed first, ms since 1970.
    private var first = Int.max
    private let now: Int

    /// - Parameter now: the time by which a worker that starts now would judge, ms since 1970.
    init(at now: Int) { self.now = now }

    mutating func add(_ state: JobState?, deadline: Int?) {
        guard let state, [.ready, .delayed, .parked].contains(state), let deadline, deadline < now
        else { return }
        jobs += 1
        first = min(first, deadline)
    }

    /// The sentence of the doctor; nil if there is none.
    var warning: String? {
        guard jobs > 0 else { return nil }
        let since = Date(timeIntervalSince1970: Double(first) / 1000).formatted(.iso8601)
        return
            "\(jobs) waiting jobs did not begin before their deadlines, the first of which passed at \(since). Each fails as "
            + "deadlinePassed when a worker comes to it: start more workers, or resume what is paused; or cancel them."
    }
}

/// Sums up what the records of jobs and batches state: the bytes that each tenant takes (`Scripts/Shared/records.lua`), and the jobs
/// that are late.
struct StoredWalk {
    /// The tenants that have a count at the begin of the walk.
    private let tenants: [String]
    /// The number of changes at the begin of the walk, as text.
    let turn: String
    private(set) var late: LateJobs
    private var sums: [String: Int] = [:]
    /// The jobs and entries that were seen: `SCAN` may return one twice, also while nothing of this queue changes.
    private var seen: Set<Int> = []
    private let queue: JobQueue

    init(queue: JobQueue) async throws(QueueError) {
        self.queue = queue
        late = LateJobs(at: try await queue.dueTime())
        let turn = try await queue.send("HGET", queue.name.keys.virtual, "storedTurn")
        self.turn = turn.string ?? "0"
        let counts = try await queue.send("HGETALL", queue.name.keys.stored)
        tenants = (counts.pairs ?? [:]).map(\.key)
    }

    mutating func add(jobs ids: [String]) async throws(QueueError) {
        let new = ids.filter { seen.insert($0.hashValue).inserted }
        let replies = try await add(
            new.map {
                ["HMGET", queue.name.keys.job($0), "tenant", "stored", "state", "deadline"]
            },
            bytes: 1..<2)
        for fields in replies {
            late.add(
                fields[2].string.flatMap { JobState(rawValue: $0) },
                deadline: fields[3].int.map { Int($0) })
        }
    }

    mutating func add(batch: String) async throws(QueueError) {
        _ = try await add(
            [["HMGET", queue.name.keys.batch(batch), "tenant", "stored", "laneBytes"]],
            bytes: 1..<3)
    }

    /// Adds an entry that is not yet a job, with the value of its id in the tenant's backlog; `1` for what is no such entry.
    mutating func add(entry id: String, _ bytes: String, of tenant: String) {
        guard bytes != "1", let bytes = Int(bytes),
            seen.insert("\(tenant) \(id)".hashValue).inserted
        else { return }
        sums[tenant, default: 0] += bytes
    }

    /// The tenants, each with its sum.
    var arguments: [String] {
        Set(tenants).union(sums.keys).sorted().flatMap { [$0, "\(sums[$0] ?? 0)"] }
    }

    /// Adds the bytes of the replies to commands: the sum of these fields, of the tenant in the first one. A key that somebody damaged is
    /// no hash, and counts nothing.
    ///
    /// - Returns: the fields of each hash.
    private mutating func add(
        _ commands: [[String]], bytes: Range<Int>
    ) async throws(QueueError) -> [[RedisReply]] {
        var replies: [[RedisReply]] = []
        for result in await queue.redis.sendAll(commands.map { RedisArgument.list($0) }) {
            switch result {
            case .success(let reply):
                guard let fields = reply.array, fields.count >= bytes.upperBound else { continue }
                let sum = fields[bytes].reduce(0) { $0 + ($1.string.flatMap { Int($0) } ?? 0) }
                if sum > 0 { sums[fields[0].string ?? "default", default: 0] += sum }
                replies.append(fields)
            case .failure(let error):
                guard error.serverError?.prefix == "WRONGTYPE" else {
                    throw QueueError(.redis, "queue \(queue.name): \(error)", cause: error)
                }
            }
        }
        return replies
    }
}
