import Redis

@testable import JobQueue

/// A queue as large as one gets, on a Redis of its own, that counts the commands of a script.
struct LargeWorld: Sendable {
    let q: QueueFixture

    /// A million commands a second, of which a script may have five milliseconds.
    static let commandsMax = 5000

    init(_ q: QueueFixture) async throws {
        self.q = q
        _ = try await q.redis.send(["CONFIG", "SET", "slowlog-log-slower-than", "0"])
    }

    /// Makes tenants that have one ready job each: the records that admission would have made.
    func addTenants(_ count: Int) async throws {
        try await fill(
            count,
            """
            local id, tenant = 'job' .. i, 'tenant' .. i
            redis.call('HSET', P .. 'job:' .. id, 'state', 'ready', 'format', '2', 'asset', id, 'sequence', i,
              'enqueued', '1', 'tenant', tenant, 'cost', '1')
            redis.call('HSET', P .. 'assets', id, id)
            redis.call('ZADD', P .. 'ready:normal:' .. tenant, i, id)
            redis.call('ZADD', P .. 'flows:normal', '0', tenant)
            """)
    }

    /// Makes open batches with an entry each.
    func addBatches(_ count: Int) async throws {
        try await fill(
            count,
            """
            local batch = 'batch' .. i
            redis.call('HSET', P .. 'batch:' .. batch, 'tenant', 'default', 'priority', 'bulk', 'generation', '1',
              'finished', '0', 'admitted', '0', 'opened', '1')
            redis.call('SET', P .. 'batch:' .. batch .. ':edit', '{}')
            redis.call('ZADD', P .. 'batches', '1', batch)
            redis.call('ZADD', P .. 'lanes', '0', batch)
            redis.call('XADD', P .. 'lane:' .. batch, '1-1', 'asset', batch)
            """)
    }

    /// Makes workers that have been heard of.
    func addWorkers(_ count: Int) async throws {
        try await fill(
            count,
            """
            redis.call('HSET', P .. 'workers:info', 'worker' .. i,
              '{"name":"worker' .. i .. '","slots":2,"busy":0,"version":"0","startedAt":"2026-01-01T00:00:00Z"}')
            redis.call('ZADD', P .. 'workers', redis.call('TIME')[1] * 1000, 'worker' .. i)
            """)
    }

    private func fill(_ count: Int, _ body: String) async throws {
        let source =
            "local P = ARGV[1] for i = tonumber(ARGV[2]), tonumber(ARGV[3]) do \(body) end"
        for first in stride(from: 1, through: count, by: 2000) {
            _ = try await q.redis.send([
                "EVAL", RedisArgument(source), "0", RedisArgument(q.queue.name.keys.prefix),
                RedisArgument(first), RedisArgument(min(count, first + 1999)),
            ])
        }
    }

    /// Runs something that calls one script once, and returns how many commands that ran; its time is printed.
    func commands<Result>(
        _ what: String, _ run: () async throws -> Result
    ) async throws -> (count: Int, result: Result) {
        _ = try await q.redis.send(["CONFIG", "RESETSTAT"])
        _ = try await q.redis.send(["SLOWLOG", "RESET"])
        let result = try await run()
        let stats = try await q.redis.send(["INFO", "commandstats"]).string ?? ""
        var count = 0
        for line in stats.split(whereSeparator: \.isNewline) where line.hasPrefix("cmdstat_") {
            let name = line.dropFirst(8).prefix { $0 != ":" }
            let ours = ["config|resetstat", "slowlog|reset", "info", "evalsha", "script|load"]
            guard !ours.contains(String(name)) else { continue }
            count += line.firstMatch(of: /calls=(\d+)/).flatMap { Int($0.1) } ?? 0
        }
        let slow = try await q.redis.send(["SLOWLOG", "GET", "20"]).array ?? []
        let time = slow.compactMap { entry -> Int64? in
            let name = entry.array?[3].array?.first?.string
            return name == "EVALSHA" ? entry.array?[2].int : nil
        }.max()
        print("\(what): \(count) commands, \(time ?? 0) µs")
        return (count, result)
    }
}
