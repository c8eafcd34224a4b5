import Edits
import Redis

/// One walk over all keys of a queue, in bounded steps.
///
/// The walk sees each key or member that exists during the whole walk (`SCAN` promises this). It may or may not see one that is
/// added or removed meanwhile; the scripts check each candidate again.
struct DoctorWalk {
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
    mutating func run() async throws(QueueError) -> Diagnosis {
        try await walkDone()
        // The groups come before the dead jobs, because a repair may count the groups again.
        try await examination.inspectGroups()
        // The holders of assets come before the jobs that wait for assets, so that no job receives an asset out of turn.
        try await walkMembers(of: "lease")
        try await findFlows()
        for flow in flows.sorted() { try await walkMembers(of: "ready:\(flow)") }
        for structure in ["stuck", "delayed", "parked", "dead"] {
            try await walkMembers(of: structure)
        }
        try await walk("HSCAN", "assets", by: 2) { walk, pair throws(QueueError) in
            guard let asset = pair[0].string, let holder = pair[1].string else { return }
            try await walk.see(holder, in: "assets:\(asset)")
        }
        try await walkFields(of: "reserved")
        try await walkKeys()
        try await flush()
        try await inspectFlows()
        try await walkBatches()
        try await stored.add(jobs: jobs)
        try await examination.inspect(stored)
        try await examination.inspectLeases()
        try await examination.inspectTimes()
        return examination.diagnosis
    }

    private mutating func see(_ id: String, in structure: String) async throws(QueueError) {
        members.append((structure: structure, id: id))
        if members.count == Self.idsMax { try await flush() }
    }

    private mutating func flush() async throws(QueueError) {
        try await examination.inspect(members)
        try await examination.inspect(unlisted)
        members.removeAll(keepingCapacity: true)
        unlisted.removeAll(keepingCapacity: true)
    }

    /// Done jobs are dropped at the head meanwhile, so the walk may skip some; `inspect` searches for those.
    private mutating func walkDone() async throws(QueueError) {
        var start = 0
        while true {
            let ids = try await queue.send([
                "LRANGE", RedisArgument(queue.name.keys.done), RedisArgument(start),
                RedisArgument(start + Self.step - 1),
            ])
            guard let ids = ids.array?.compactMap(\.string), !ids.isEmpty else { return }
            for id in ids {
                listed.insert(id)
                try await see(id, in: "done")
            }
            start += ids.count
        }
    }

    private mutating func walkMembers(of structure: String) async throws(QueueError) {
        try await walk("ZSCAN", structure, by: 2) { walk, pair throws(QueueError) in
            if let id = pair[0].string { try await walk.see(id, in: structure) }
        }
    }

    private mutating func walkFields(of structure: String) async throws(QueueError) {
        try await walk("HSCAN", structure, by: 2) { walk, pair throws(QueueError) in
            if let id = pair[0].string { try await walk.see(id, in: structure) }
        }
    }

    private mutating func walkKeys() async throws(QueueError) {
        let prefix = queue.name.keys.prefix
        try await walk("SCAN", nil, by: 1) { walk, key throws(QueueError) in
            guard let key = key[0].string, key.hasPrefix(prefix) else { return }
            let name = key.dropFirst(prefix.count)
            guard let colon = name.firstIndex(of: ":") else { return }
            try await walk.see(
                key: String(name), kind: name[..<colon],
                rest: String(name[name.index(after: colon)...]))
        }
    }

    private mutating func see(
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
            try await walk("HSCAN", key, by: 2) { walk, pair throws(QueueError) in
                guard let id = pair[0].string else { return }
                walk.stored.add(entry: pair[1].string ?? "", of: rest)
                try await walk.see(id, in: key)
            }
        case "parked": try await walkMembers(of: key)
        case "ready":
            if flows.insert(rest).inserted { try await walkMembers(of: key) }
        case "batch", "lane": batches.insert(String(rest.prefix { $0 != ":" }))
        default: break
        }
    }

    private mutating func findFlows() async throws(QueueError) {
        for priority in ["interactive", "normal", "bulk", "alone"] {
            for key in ["flows:\(priority)", "finished:\(priority)"] {
                try await walk("ZSCAN", key, by: 2) { walk, pair in
                    if let tenant = pair[0].string { walk.flows.insert("\(priority):\(tenant)") }
                }
            }
        }
        try await walk("HSCAN", "capped", by: 2) { walk, pair in
            if let flow = pair[0].string { walk.flows.insert(flow) }
        }
    }

    private mutating func inspectFlows() async throws(QueueError) {
        let all = flows.sorted()
        for start in stride(from: 0, to: all.count, by: Self.idsMax) {
            try await examination.inspect(flows: all[start..<min(start + Self.idsMax, all.count)])
        }
    }

    private mutating func walkBatches() async throws(QueueError) {
        for zset in ["batches", "batches:ended", "lanes"] {
            try await walk("ZSCAN", zset, by: 2) { walk, pair in
                if let batch = pair[0].string { walk.batches.insert(batch) }
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
    private mutating func walk(
        _ command: String, _ name: String?, by width: Int,
        _ body: (inout DoctorWalk, [RedisReply]) async throws(QueueError) -> Void
    ) async throws(QueueError) {
        var cursor = "0"
        repeat {
            let key = name.map { [RedisArgument("\(queue.name.keys.prefix)\($0)")] } ?? []
            // A queue's name contains no character that is special in a pattern.
            let match: [RedisArgument] =
                name == nil ? ["MATCH", RedisArgument("\(queue.name.keys.prefix)*")] : []
            let reply = try await queue.send(
                [RedisArgument(command)] + key + [RedisArgument(cursor)] + match
                    + ["COUNT", RedisArgument(Self.step)])
            guard let parts = reply.array, parts.count == 2, let next = parts[0].string,
                let elements = parts[1].array, elements.count % width == 0
            else {
                throw QueueError(
                    .unexpectedReply, "\(command) of queue \(queue.name) answered \(reply).")
            }
            for start in stride(from: 0, to: elements.count, by: width) {
                let element = Array(elements[start..<start + width])
                try await body(&self, element)
            }
            cursor = next
        } while cursor != "0"
    }
}

/// Sums up the bytes that each tenant takes, from the records that state them (`Scripts/Shared/base.lua`).
struct StoredWalk {
    /// The tenants that have a count at the begin of the walk.
    private let tenants: [String]
    /// The number of changes at the begin of the walk, as text.
    let turn: RedisArgument
    private var sums: [String: Int] = [:]
    /// The jobs that were seen: `SCAN` may return one twice.
    private var seen: Set<Int> = []
    private let queue: JobQueue

    init(queue: JobQueue) async throws(QueueError) {
        self.queue = queue
        let turn = try await queue.send([
            "HGET", RedisArgument(queue.name.keys.virtual), "storedTurn",
        ])
        self.turn = RedisArgument(turn.string ?? "0")
        let counts = try await queue.send(["HGETALL", RedisArgument(queue.name.keys.stored)])
        tenants = (counts.pairs ?? [:]).map(\.key)
    }

    mutating func add(jobs ids: [String]) async throws(QueueError) {
        let new = ids.filter { seen.insert($0.hashValue).inserted }
        try await add(
            new.map { ["HMGET", RedisArgument(queue.name.keys.job($0)), "tenant", "stored"] })
    }

    mutating func add(batch: String) async throws(QueueError) {
        try await add([
            [
                "HMGET", RedisArgument(queue.name.keys.batch(batch)), "tenant", "stored",
                "laneBytes",
            ]
        ])
    }

    /// Adds an entry that is not yet a job, with the value of its id in the tenant's backlog; `1` for what is no such entry.
    mutating func add(entry bytes: String, of tenant: String) {
        if bytes != "1", let bytes = Int(bytes) { sums[tenant, default: 0] += bytes }
    }

    /// The tenants, each with its sum.
    var arguments: [RedisArgument] {
        Set(tenants).union(sums.keys).sorted().flatMap {
            [RedisArgument($0), RedisArgument(sums[$0] ?? 0)]
        }
    }

    /// Adds the replies to commands. A key that somebody damaged is no hash, and counts nothing.
    private mutating func add(_ commands: [[RedisArgument]]) async throws(QueueError) {
        for result in await queue.redis.sendAll(commands) {
            switch result {
            case .success(let reply): add(reply.array ?? [])
            case .failure(let error):
                guard error.serverError?.prefix == "WRONGTYPE" else {
                    throw QueueError(.redis, "queue \(queue.name): \(error)", cause: error)
                }
            }
        }
    }

    private mutating func add(_ fields: [RedisReply]) {
        let bytes = fields.dropFirst().reduce(0) { $0 + ($1.string.flatMap { Int($0) } ?? 0) }
        if bytes > 0 { sums[fields.first?.string ?? "default", default: 0] += bytes }
    }
}
