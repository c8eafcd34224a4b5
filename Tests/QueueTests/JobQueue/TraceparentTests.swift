import Edits
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("A job's place in a trace") struct TraceparentTests {
    private static let sample = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    private func admit(_ q: QueueFixture, traceparent: String) async throws {
        try await q.xadd([
            "id": "a", "asset": "a", "edit": QueueFixture.recipe, "traceparent": traceparent,
        ])
        _ = try await q.queue.admit()
    }

    /// The `traceparent` of each event, in order.
    private func traceparents(_ q: QueueFixture) async throws -> [String?] {
        var reader = EventReader(
            queue: q.queue.name, redis: q.redis, after: EventReader.beginning)
        return try await reader.next().map { $0.event.traceparent?.description }
    }

    @Test func `it goes from the entry to the claim and to every event of the job`() async throws {
        let q = try await QueueFixture()
        try await admit(q, traceparent: Self.sample)
        let first = try await q.claim()
        #expect(first.traceparent?.description == Self.sample)
        _ = try await q.queue.fail(first, by: "w", Failure(.noSpace, "full"), random: 0)
        #expect(try await traceparents(q) == [Self.sample])
    }

    @Test func `a published job's event has it`() async throws {
        let q = try await QueueFixture()
        try await admit(q, traceparent: Self.sample)
        try await q.finish(q.claim())
        #expect(try await traceparents(q) == [Self.sample])
    }

    @Test func `a job without one has events without one`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        let claim = try await q.claim()
        #expect(claim.traceparent == nil)
        try await q.finish(claim)
        #expect(try await traceparents(q) == [nil])
    }

    @Test func `a job that is carried on has it`() async throws {
        let q = try await QueueFixture(settings: QueueFixture.expiredAtOnce)
        try await admit(q, traceparent: Self.sample)
        let claim = try await q.claim()
        _ = try await q.queue.commit(claim, q.event(claim), isDraft: false)
        let carried = try await q.queue.reap(by: "b").carried
        #expect(carried.map(\.traceparent?.description) == [Self.sample])
    }

    @Test func `the parts of a job have it`() async throws {
        let q = try await QueueFixture()
        try await admit(q, traceparent: Self.sample)
        _ = try await q.queue.split(q.claim(), task: "task", into: [1])
        #expect(try await q.claim(by: "b").traceparent?.description == Self.sample)
    }

    @Test func `the scripts and Swift read the same, and nothing of it fails a job`() async throws {
        let q = try await QueueFixture()
        let digits = Array("00-ff0aAg-\u{e9} ")
        var random = SeededGenerator(seed: 20_261_123)
        var texts = ["", Self.sample, "cc" + Self.sample.dropFirst(2) + "-x", Self.sample + "-"]
        for _ in 0..<300 {
            var text = Array(Self.sample)
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                text[Int.random(in: 0..<text.count, using: &random)] =
                    digits.randomElement(using: &random) ?? "0"
            }
            if Bool.random(using: &random) {
                text.append(digits.randomElement(using: &random) ?? "0")
            }
            texts.append(String(text))
        }
        for (index, text) in texts.enumerated() {
            try await q.xadd([
                "id": "j\(index)", "asset": "a\(index)", "edit": QueueFixture.recipe,
                "traceparent": text,
            ])
        }
        while try await q.queue.admit().admitted > 0 {}
        for (index, text) in texts.enumerated() {
            let stored = try await q.redis.send([
                "HGET", RedisArgument(q.queue.name.keys.job("j\(index)")), "traceparent",
            ]).string
            #expect(stored == Traceparent(text)?.description, "\(text)")
            #expect(try await q.state(of: "j\(index)") == "ready")
        }
    }
}
