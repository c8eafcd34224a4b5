import Edits
import Redis
import Testing

@testable import JobQueue

extension QueueFixture {
    /// Admits many jobs, each of an asset of its own.
    ///
    /// - Parameter fields: what all of them have, beside asset and edit.
    func admit(_ count: Int, _ fields: [String: String]) async throws {
        let name = "\(UInt64.random(in: 0...UInt64.max))"
        let more = fields.flatMap { [RedisArgument($0.key), RedisArgument($0.value)] }
        for start in stride(from: 0, to: count, by: 500) {
            let commands = (start..<min(count, start + 500)).map { number in
                [
                    "XADD", RedisArgument(queue.name.keys.ingress), "*", "asset",
                    RedisArgument("\(name)/\(number)"), "edit", RedisArgument(Self.recipe),
                ] + more
            }
            for result in await redis.sendAll(commands) { _ = try result.get() }
        }
        while try await queue.admit().admitted > 0 {}
    }

    /// Claims so many jobs and keeps them.
    func claim(_ count: Int, atOnce: Int = 5, isIdle: Bool = false) async throws -> [Claim] {
        var claims: [Claim] = []
        _ = try await queue.promote()
        while claims.count < count {
            let some = try await queue.claim(
                by: "w", count: min(atOnce, count - claims.count), isIdle: isIdle)
            if some.jobs.isEmpty { break }
            claims += some.jobs
        }
        return claims
    }

    /// Opens a batch and adds members of assets of their own to its stream.
    @discardableResult
    func open(
        _ name: String, members: Int, sealed: Int? = nil, cap: Int? = nil
    ) async throws -> BatchID {
        let batch = try BatchID(name)
        try await queue.open(
            BatchRequest(id: batch, edit: Edit(json: Self.recipe), cap: cap))
        if members > 0 { try await add(0..<members, to: batch) }
        if let sealed { try await queue.seal(batch, jobs: sealed) }
        return batch
    }

    func add(_ members: Range<Int>, to batch: BatchID) async throws {
        _ = try await queue.add(
            members.map { .init(asset: try AssetPath("\(batch)/\($0)")) }, to: batch,
            from: members.lowerBound)
    }

    /// A field of a key of the queue.
    func field(_ field: String, of key: String) async throws -> String? {
        try await redis.send([
            "HGET", RedisArgument(queue.name.keys.prefix + key), RedisArgument(field),
        ]).string
    }

    func setField(_ field: String, of key: String, _ value: String) async throws {
        _ = try await redis.send([
            "HSET", RedisArgument(queue.name.keys.prefix + key), RedisArgument(field),
            RedisArgument(value),
        ])
    }

    /// The score of a member of a zset of the queue.
    func score(of member: String, in zset: String) async throws -> Int? {
        try await redis.send([
            "ZSCORE", RedisArgument(queue.name.keys.prefix + zset), RedisArgument(member),
        ]).string.flatMap { Int($0) }
    }

    /// Fails a claimed job for good.
    func bury(_ claim: Claim) async throws {
        #expect(
            try await queue.fail(claim, by: "w", Failure(.missingAsset, "no"), random: 0) == .held)
    }

    /// Says that everything in the queue is as it must be.
    func expectHealthy(_ comment: Comment? = nil) async throws {
        #expect(try await queue.diagnose().open == [], comment)
    }
}
