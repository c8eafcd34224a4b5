import MinilabTesting
import Redis
import Testing

@testable import JobQueue

/// Lua holds all that a script reads at once, and a producer may send fields of 100 MB.
@Suite("How much of a stream is read at once") struct AffordableTests {
    /// Two hundred nodes of a stream of small entries have less.
    private static let max = 1 << 20
    private static let script = QueueScript.script(
        "affordable",
        Array(
            """
            local key, most, bytes_max = KEYS[1], tonumber(ARGV[4]), tonumber(ARGV[5])
            return affordable(key, stream_state(key), most, bytes_max)
            """.utf8))

    private func affordable(_ q: QueueFixture, _ sizes: [Int], most: Int) async throws -> Int {
        let key = RedisArgument(q.queue.name.keys.ingress)
        _ = try await q.redis.send(["DEL", key])
        let commands: [[RedisArgument]] = sizes.map {
            ["XADD", key, "*", "edit", RedisArgument(String(repeating: "x", count: $0))]
        }
        for result in await q.redis.sendAll(commands) { _ = try result.get() }
        let reply = try await q.redis.run(
            Self.script, keys: [q.queue.name.keys.ingress],
            arguments: [RedisArgument(q.queue.name.keys.prefix), "1000", "1000"]
                + [RedisArgument(most), RedisArgument(Self.max)])
        return Int(try #require(reply.int))
    }

    @Test func `no arrangement of sizes makes a script read more than it may, but for one entry`()
        async throws
    {
        let q = try await QueueFixture()
        var random = SeededGenerator()
        random.printSeed()
        let sizes = [1, 500, 3000, 5000, 20_000, 60_000]
        for _ in 0..<8 {
            var stream: [Int] = []
            while stream.count < 250 {
                let size = sizes.randomElement(using: &random) ?? 1
                stream += Array(repeating: size, count: .random(in: 1...40, using: &random))
            }
            let most = Int.random(in: 1...220, using: &random)
            let taken = try await affordable(q, stream, most: most)
            #expect((1...most).contains(taken))
            let read = stream.prefix(taken).reduce(0, +)
            #expect(taken == 1 || read <= Self.max, "\(taken) of \(stream) have \(read) bytes")
        }
    }

    @Test func `small entries before large ones do not hide them`() async throws {
        let q = try await QueueFixture()
        let small = Array(repeating: 10, count: 6)
        let taken = try await affordable(
            q, small + Array(repeating: 300_000, count: 195), most: 200)
        #expect((1...10).contains(taken))
    }

    @Test func `small entries are read at once, whatever comes behind them`() async throws {
        let q = try await QueueFixture()
        #expect(try await affordable(q, Array(repeating: 100, count: 200), most: 200) == 200)
        #expect(try await affordable(q, Array(repeating: 100, count: 9000), most: 200) == 200)
        #expect(try await affordable(q, [2 << 20], most: 200) == 1)
        #expect(try await affordable(q, [], most: 200) == 0)
    }
}
