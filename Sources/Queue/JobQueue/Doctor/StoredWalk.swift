import Redis

/// Sums up the bytes that each tenant takes, from the records that state them (`Scripts/Shared/stored.lua`).
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

    /// Adds jobs.
    mutating func add(jobs ids: [String]) async throws(QueueError) {
        let new = ids.filter { seen.insert($0.hashValue).inserted }
        try await add(
            new.map { ["HMGET", RedisArgument(queue.name.keys.job($0)), "tenant", "stored"] })
    }

    /// Adds a batch.
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
