import Edits
import MinilabTesting
import Testing

@testable import JobQueue

@Suite("Progress of long renders") struct ProgressTests {
    private func beat(_ q: QueueFixture, _ claim: Claim, _ done: Int, of frames: Int) async throws {
        let beat = Beat(
            hold: claim.hold, stage: "rendering",
            progress: JobProgress(framesDone: done, frames: frames))
        #expect(try await q.queue.beat([beat], by: QueueFixture.worker).replies == [.held])
    }

    private func reported(_ q: QueueFixture) async throws -> [Int] {
        try await q.events().compactMap { event in
            guard case .progressed(let data) = event.data else { return nil }
            return data.framesDone
        }
    }

    @Test func `each tenth of a movie is told once, the last of them by the end of the job`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("a")
        let claim = try await q.claim()
        for done in 0...240 { try await beat(q, claim, done, of: 240) }
        #expect(try await reported(q) == [24, 48, 72, 96, 120, 144, 168, 192, 216])
        try await q.finish(claim)
        #expect(try await q.events().map(\.name).last == "completed")
    }

    @Test func `beats that are far apart tell the last of the tenths that they passed`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("a")
        let claim = try await q.claim()
        for done in [3, 55, 58, 99] { try await beat(q, claim, done, of: 100) }
        let events = try await q.events()
        #expect(events.map(\.id) == [5, 9].map { "\(q.queue.name)/a/1/progressed/\($0)" })
        guard case .progressed(let data) = events.first?.data else {
            Issue.record("\(events)")
            return
        }
        #expect(data.worker == QueueFixture.worker.name && data.attempt == 1 && data.frames == 100)
    }

    @Test func `an attempt that begins anew tells only what was not told`() async throws {
        let q = try await QueueFixture(settings: QueueFixture.expiredAtOnce)
        try await q.admit("a")
        try await beat(q, q.claim(), 60, of: 100)
        _ = try await q.queue.reap(by: "other")
        let heir = try await q.claim(by: "heir")
        for done in [0, 20, 60, 71] { try await beat(q, heir, done, of: 100) }
        #expect(try await reported(q) == [60, 71])
    }

    @Test func `a replayed job tells its progress again`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        let claim = try await q.claim()
        try await beat(q, claim, 60, of: 100)
        _ = try await q.queue.fail(claim, by: "w", Failure(.missingAsset, "gone"), random: 1)
        _ = try await q.queue.replay(["a"])
        #expect(try await q.queue.record(of: "a")?.progress == nil)
        try await beat(q, q.claim(), 30, of: 100)
        #expect(try await reported(q) == [60, 30])
    }

    @Test func `explain and the job's record say how far it is`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        try await beat(q, q.claim(), 1032, of: 2400)
        #expect(
            try await q.queue.record(of: "a")?.progress
                == JobProgress(framesDone: 1032, frames: 2400))
        let reason = try await q.queue.facts(of: "a").reason
        guard case .running(_, _, let stage, _) = reason else {
            Issue.record("\(reason)")
            return
        }
        #expect(stage?.name == "rendering")
        #expect(stage?.progress?.description == "43 %, 1032 of 2400 frames")
    }
}
