import Edits
import FoundationEssentials
import Redis
import Testing

@testable import JobQueue

@Suite("Arrival of edits") struct ArrivalTests {
    private func xadd(
        _ q: QueueFixture, _ stream: String, _ id: String, _ fields: KeyValuePairs<String, String>
    ) async throws {
        _ = try await q.redis.send(
            ["XADD", RedisArgument("\(q.queue.name.keys.prefix)\(stream)"), RedisArgument(id)]
                + fields.flatMap { [RedisArgument($0.key), RedisArgument($0.value)] })
    }

    /// The server's time in µs.
    private func now(_ q: QueueFixture) async throws -> Int {
        let time = try await q.redis.send(["TIME"]).array?.compactMap { $0.string }
        let parts = (time ?? []).compactMap { Int($0) }
        return (parts.first ?? 0) * 1_000_000 + (parts.last ?? 0)
    }

    @Test func `a job arrives at its entry's time, whenever it is admitted`() async throws {
        let q = try await QueueFixture()
        let entry = try await q.xadd(["asset": "a", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        let parts = entry.split(separator: "-").compactMap { Int($0) }
        #expect(try await q.claim().arrival == parts[0] * 1000 + parts[1])
    }

    @Test func `an id of a far future is no arrival in the future`() async throws {
        let q = try await QueueFixture()
        try await xadd(q, "in", "18446744073709551000-7", ["asset": "a", "edit": "{}"])
        _ = try await q.queue.admit()
        let arrival = try await q.claim().arrival
        #expect(arrival <= (try await now(q)))
    }

    @Test func `an id of the next hour does not make later edits older`() async throws {
        let q = try await QueueFixture()
        let soon = try await now(q) / 1000 + 50 * 60 * 1000
        for (number, asset) in ["a", "b"].enumerated() {
            try await xadd(q, "in", "\(soon)-\(number)", ["asset": asset, "edit": "{}"])
        }
        _ = try await q.queue.admit()
        let first = try await q.queue.claim(by: "w", count: 2).jobs.map(\.arrival)
        #expect(first.count == 2 && first[0] < first[1])
        try await xadd(q, "in:interactive", "*", ["asset": "c", "edit": "{}"])
        _ = try await q.queue.admit()
        #expect(try await q.claim().arrival >= (first.last ?? 0) / 1000 * 1000)
    }

    @Test func `a member arrives when it was added, not when it is fed`() async throws {
        let q = try await QueueFixture()
        let before = try await now(q)
        let batch = try BatchID("m")
        let members = try ["a", "b"].map { JobQueue.Member(asset: try AssetPath($0)) }
        #expect(try await q.queue.add(members, to: batch, from: 0) == .added(2))
        let after = try await now(q)
        try await xadd(q, "lane:m", "1-3", ["asset": "c"])
        try await xadd(q, "lane:m", "1700000000000-5", ["asset": "d"])
        try await xadd(q, "lane:m", "1700000000000-6", ["asset": "e", "arrived": "17"])
        try await q.xadd(["batch": "m", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        let arrivals = try await q.queue.claim(by: "w", count: 5).jobs.map(\.arrival)
        #expect(before < arrivals[0] && arrivals[0] < arrivals[1] && arrivals[1] < after)
        // A plain XADD with an id that is no time: when it was fed.
        #expect(arrivals[2] > after)
        #expect(arrivals[3] == 1_700_000_000_000_005)
        #expect(arrivals[4] == 17)
    }

    @Test(arguments: ["soon", "-1", "12345678901234567", "1.5"])
    func `a member whose arrival is no time dies with a sentence`(text: String) async throws {
        let q = try await QueueFixture()
        try await xadd(q, "lane:m", "1-1", ["asset": "a", "arrived": text])
        try await q.xadd(["batch": "m", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        let dead = try #require(try await q.queue.dead(offset: 0, count: 1).first)
        #expect(dead.code == .invalidValue)
        #expect(dead.message?.contains("arrived \"\(text)\"") == true)
    }

    @Test func `edits that wait for one asset follow in the order of their arrival`() async throws {
        let q = try await QueueFixture()
        try await q.xadd(["id": "first", "asset": "x", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        let first = try await q.claim()
        let batch = try BatchID("m")
        _ = try await q.queue.add(
            [JobQueue.Member(asset: try AssetPath("x"))], to: batch, from: 0)
        try await q.passMillisecond()
        try await q.xadd(["id": "single", "asset": "x", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        // Fed after the single job was parked.
        try await q.xadd(["batch": "m", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        try await q.finish(first)
        #expect(try await q.claim().job == "m:0")
        try await q.expectHealthy()
    }

    @Test func `a replayed job arrives anew, and one that is tried again does not`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a", "b")
        let claims = try await q.queue.claim(by: "w", count: 2).jobs
        _ = try await q.queue.release(job: "a", fence: claims[0].fence, .rebase)
        #expect(try await q.claim().arrival == claims[0].arrival)
        _ = try await q.queue.fail(
            claims[1], by: "w", Failure(.missingAsset, "gone."), random: 0)
        #expect(try await q.queue.replay(["b"]) == [.replayed])
        #expect(try await q.claim().arrival > claims[1].arrival)
    }

    @Test func `a record of the version before arrives when it was admitted`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        try await q.harm(["HDEL job:a arrival"])
        let record = try #require(try await q.queue.record(of: "a"))
        #expect(try await q.claim().arrival == record.enqueued * 1000)
    }
}
