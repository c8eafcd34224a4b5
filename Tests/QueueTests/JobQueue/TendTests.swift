import Edits
import Redis
import Testing

@testable import JobQueue

/// What workers end because nobody else does.
@Suite("Idle batches and batch streams that nobody opened") struct TendTests {
    private func settings(_ change: (inout QueueSettings) -> Void) -> QueueSettings {
        var settings = QueueSettings()
        settings.tendPace = .zero
        change(&settings)
        return settings
    }

    /// Does all of a round: the keys of the server, which other tests fill, are scanned in steps.
    private func tendAll(_ q: QueueFixture) async throws -> (sealed: Int, removed: Int) {
        var (sealed, removed) = (0, 0)
        repeat {
            let tended = try await q.queue.tend()
            sealed += tended.sealed
            removed += tended.removed
        } while try await q.field("tendScan", of: "virtual") != "0"
        return (sealed, removed)
    }

    @Test func `a batch to which nothing came for so long is sealed at what it has, and ends`()
        async throws
    {
        let q = try await QueueFixture(settings: settings { $0.batchIdleMax = .zero })
        let batch = try await q.open("b", members: 2)
        try await q.open("empty", members: 0)
        try await q.open("sealed", members: 1, sealed: 3)
        _ = try await q.queue.admit()
        #expect(try await tendAll(q).sealed == 2)
        let record = try #require(try await q.queue.record(of: batch))
        #expect(record.sealed == 2)
        #expect(record.sealedBecause?.hasPrefix("nothing was added since 20") == true)
        for claim in try await q.claim(3) { try await q.finish(claim) }
        let events = try await q.events()
        #expect(events.map(\.name).filter { $0 == "sealed" }.count == 2)
        guard case .batchSealed(let reported) = events.first(where: { $0.name == "sealed" })?.data
        else {
            Issue.record("\(events)")
            return
        }
        #expect(reported.batch == "b" && reported.jobs == 2)
        let completed = events.compactMap {
            if case .batchCompleted(let data) = $0.data { data } else { nil }
        }
        #expect(completed.map(\.batch).sorted() == ["b", "empty"])
        #expect(try await q.queue.status().counters["batchesExpired"] == 2)
        #expect(try await tendAll(q).sealed == 0)
        #expect(
            try await q.queue.add([.init(asset: AssetPath("x"))], to: batch, from: 2)
                == .sealed(at: 2))
        try await q.expectHealthy()
    }

    @Test func `a batch to which something came lately is left open`() async throws {
        let q = try await QueueFixture(settings: settings { _ in })
        try await q.open("b", members: 2)
        _ = try await q.queue.admit()
        // Fed by a version that did not write down when, long after it was opened.
        try await q.harm(["HSET batch:b opened 1000", "HDEL batch:b fed"])
        #expect(try await tendAll(q) == (0, 0))
        #expect(try await q.queue.record(of: BatchID("b"))?.sealed == nil)
        #expect(try await tendAll(q) == (0, 0))
        // Since a day it is known that nothing came.
        let fed = try #require(try await q.field("fed", of: "batch:b"))
        let aDayAgo = try await q.queue.now() - 24 * 3_600_000
        try await q.setField("idle", of: "batch:b", "\(fed) \(aDayAgo)")
        #expect(try await tendAll(q).sealed == 1)
    }

    @Test func `a lane that nobody opened is removed after a time, told and counted`() async throws
    {
        let young = try await QueueFixture(settings: settings { _ in })
        try await young.addToBatchStream(of: "m", ["asset": "a"])
        #expect(try await tendAll(young).removed == 0)

        let q = try await QueueFixture(settings: settings { $0.unopenedStreamMax = .zero })
        for asset in ["a", "b"] { try await q.addToBatchStream(of: "m", ["asset": asset]) }
        try await q.open("n", members: 1)
        #expect(try await tendAll(q).removed == 0, "an entry of the ingress may open it")
        _ = try await q.queue.admit()
        #expect(try await tendAll(q).removed == 1)
        guard case .streamHarmed(let harm) = try await q.events().last?.data else {
            Issue.record("\(try await q.events())")
            return
        }
        #expect(harm.kind == .unopened && harm.stream == "lane:m" && harm.entries == 2)
        #expect(try await q.queue.status().counters["membersDropped"] == 2)
        #expect(try await q.claim().job == "n:0")
        try await q.expectHealthy()
    }

    @Test func `the doctor finds a lane that nobody opened, and a repair ends it`() async throws {
        var settings = QueueSettings()
        settings.unopenedStreamGrace = .zero
        let q = try await QueueFixture(settings: settings)
        try await q.addToBatchStream(of: "m", ["asset": "a"])
        let found = try await q.queue.diagnose().open
        #expect(found.map(\.kind) == [.laneUnopened])
        let words = "the stream of batch m has 1 entries, but no batch of this name was opened."
        #expect(found.first?.sentence == words)
        let repaired = try await q.queue.diagnose(repair: true)
        #expect(repaired.open.isEmpty && repaired.mended.map(\.kind) == [.laneUnopened])
        let stream = RedisArgument(q.queue.name.keys.batchStream("m"))
        #expect(try await q.redis.send(["EXISTS", stream]).int == 0)
        #expect(try await q.queue.status().counters["membersDropped"] == 1)
        // A batch stream that is filled ahead of its batch is none of these.
        let ahead = try await QueueFixture()
        try await ahead.addToBatchStream(of: "m", ["asset": "a"])
        try await ahead.expectHealthy()
    }

    @Test func `the name of a lane that nobody opened forges nothing in its event`() async throws {
        let q = try await QueueFixture(settings: settings { $0.unopenedStreamMax = .zero })
        let name = "evil\",\"kind\":\"renewed\",\"x\":\"/\u{1B}[31m"
        try await q.addToBatchStream(of: name, ["asset": "a"])
        #expect(try await tendAll(q).removed >= 1)
        let harm = try await q.events().compactMap { event in
            if case .streamHarmed(let harm) = event.data { harm } else { nil }
        }
        #expect(harm.map(\.stream) == ["lane:" + name])
        #expect(harm.map(\.kind) == [.unopened])
        #expect(try await q.events()[0].id.contains("lane:evil___kind") == true)
    }

    @Test func `a lane whose name no batch can have is removed at once, and its event is short`()
        async throws
    {
        let q = try await QueueFixture(settings: settings { _ in })
        // Escaped in JSON, each character takes six bytes; a name may have as many as a reply of Redis.
        for length in [200, 2_000_000] {
            let name = String(repeating: "\u{1}", count: length)
            try await q.addToBatchStream(of: name, ["asset": "a"])
            #expect(try await tendAll(q).removed == 1)
        }
        var reader = EventReader(queue: q.queue.name, redis: q.redis)
        let entries = try await reader.next()
        #expect(entries.count == 2)
        #expect(entries.allSatisfy { $0.json.utf8.count < 5_000 })
        try await q.expectHealthy()
    }

    @Test func `entries that were dropped from an idle lane are found, and its batch ends`()
        async throws
    {
        let q = try await QueueFixture(settings: settings { _ in })
        try await q.open("b", members: 1, sealed: 2)
        while try await q.queue.admit().admitted > 0 {}
        let stream = RedisArgument(q.queue.name.keys.batchStream("b"))
        _ = try await q.redis.send(["XADD", stream, "MAXLEN", "0", "1-2", "asset", "x"])
        #expect(try await q.queue.admit().admitted == 0)
        try await q.finish(q.claim())
        _ = try await tendAll(q)
        _ = try await q.queue.admit()
        #expect(try await q.events().map(\.name) == ["completed", "harmed", "completed"])
    }

    @Test func `the work is done once in a pace, however many workers ask`() async throws {
        var settings = QueueSettings()
        settings.batchIdleMax = .zero
        settings.tendPace = .seconds(3600)
        let q = try await QueueFixture(settings: settings)
        for name in ["a", "b"] {
            try await q.open(name, members: 0)
            _ = try await q.queue.admit()
            _ = try await q.queue.tend()
        }
        #expect(try await q.queue.record(of: BatchID("a"))?.sealed == 0)
        #expect(try await q.queue.record(of: BatchID("b"))?.sealed == nil)
    }
}
