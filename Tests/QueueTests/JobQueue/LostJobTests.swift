import Edits
import Redis
import Testing

@testable import JobQueue

@Suite("Done jobs of which a restored library lacks what they made") struct LostJobTests {
    /// A done job that published a revision of its asset.
    private func publish(
        _ claim: Claim, revision: Int, _ q: QueueFixture
    ) async throws -> LostJob {
        let version = "\(revision)-\(claim.fence)"
        let event = q.event(claim, version: version)
        #expect(try await q.queue.commit(claim, event, isDraft: false) == .held)
        #expect(try await q.queue.finalize(job: claim.job, fence: claim.fence) == .held)
        return LostJob(job: claim.job, asset: claim.asset, version: version, told: revision)
    }

    @Test func `each is ready again as the next generation, with the arrival that it had`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("a", "b")
        let first = [try await q.claim(), try await q.claim()]
        var lost: [LostJob] = []
        for claim in first { lost.append(try await publish(claim, revision: 2, q)) }
        #expect(try await q.queue.replay(lost: lost) == [.replayed, .replayed])
        try await q.expectHealthy()
        let again = [try await q.claim(), try await q.claim()]
        #expect(again.map(\.job) == ["a", "b"])
        #expect(again.map(\.generation) == [2, 2])
        #expect(again.map(\.arrival) == first.map(\.arrival))
        #expect(again.map(\.edit) == first.map(\.edit))
        for claim in again { _ = try await publish(claim, revision: claim.told + 1, q) }
        try await q.expectHealthy()
        #expect(try await q.queue.status().counters["completed"] == 4)
    }

    @Test func `the next version of such an asset is numbered after the highest that was told`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("x")
        let claim = try await q.claim()
        #expect(claim.told == 0)
        var lost = try await publish(claim, revision: 2, q)
        lost = LostJob(job: lost.job, asset: lost.asset, version: lost.version, told: 7)
        // A lower one that is told later takes nothing back.
        let lower = LostJob(job: "nobody", asset: "x", version: "1-1", told: 3)
        #expect(try await q.queue.replay(lost: [lost, lower]) == [.replayed, .notKept])
        try await q.xadd(["id": "newer", "asset": "x", "edit": .init(QueueFixture.recipe)])
        try await q.xadd(["id": "other", "asset": "y", "edit": .init(QueueFixture.recipe)])
        _ = try await q.queue.admit()
        let (again, other) = (try await q.claim(), try await q.claim())
        #expect(again.told == 7 && other.told == 0)
        // A draft, or a worker of an earlier release, tells no higher one.
        _ = try await publish(again, revision: 7, q)
        let newer = try await q.claim()
        #expect(newer.job == "newer" && newer.told == 7)
        _ = try await publish(newer, revision: 8, q)
        try await q.admit("x2")
        try await q.xadd(["id": "last", "asset": "x", "edit": .init(QueueFixture.recipe)])
        _ = try await q.queue.admit()
        #expect(try await q.claim().told == 0)
        #expect(try await q.claim().told == 0)
    }

    @Test func `what is asked twice is started once, and a job that was not lost stays as it is`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("a", "b", "c")
        let lost = try await publish(try await q.claim(), revision: 1, q)
        #expect(try await q.queue.replay(lost: [lost]) == [.replayed])
        #expect(try await q.queue.replay(lost: [lost]) == [.underWay])
        let other = LostJob(job: "b", asset: "b", version: "1-1", told: 1)
        #expect(try await q.queue.replay(lost: [other]) == [.underWay])
        #expect(try await q.state(of: "b") == "ready")
        try await q.expectHealthy()
    }

    @Test func `a job whose edit or fields are not kept is named, and its asset's number is kept`()
        async throws
    {
        let q = try await QueueFixture()
        let filter = #"{"name":"CISepiaTone","inputIntensity":0.8}"#
        let filters = Array(repeating: filter, count: 30).joined(separator: ",")
        let long = #"{"filters":[\#(filters)]}"#
        try await q.xadd(["id": "long", "asset": "long", "edit": .init(long)])
        try await q.xadd([
            "id": "named", "asset": "named", "edit": .init(QueueFixture.recipe),
            "fields": #"{"title":"A"}"#,
        ])
        _ = try await q.queue.admit()
        var lost: [LostJob] = []
        for _ in 0..<2 { lost.append(try await publish(try await q.claim(), revision: 1, q)) }
        lost.append(LostJob(job: "forgotten", asset: "forgotten", version: "1-1", told: 1))
        #expect(
            try await q.queue.replay(lost: lost) == [.notKept, .notKept, .notKept])
        #expect(try await q.queue.status()[.ready] == 0)
        for asset in ["long", "named", "forgotten"] {
            try await q.xadd([
                "id": .init("again-\(asset)"), "asset": .init(asset),
                "edit": .init(QueueFixture.recipe),
            ])
            _ = try await q.queue.admit()
            #expect(try await q.claim().told == 1, "\(asset)")
        }
    }

    @Test func `a member opens its batch again, which counts it once`() async throws {
        let q = try await QueueFixture()
        try await q.xadd(["batch": "b", "edit": .init(QueueFixture.recipe), "seal": "2"])
        _ = try await q.queue.admit()
        for asset in ["a", "b"] {
            try await q.addToBatchStream(of: "b", ["asset": .init(asset)])
        }
        _ = try await q.queue.admit()
        var lost: [LostJob] = []
        for _ in 0..<2 { lost.append(try await publish(try await q.claim(), revision: 1, q)) }
        #expect(try await q.queue.replay(lost: [lost[1]]) == [.replayed])
        try await q.expectHealthy()
        #expect(try await q.queue.record(of: BatchID("b"))?.generation == 2)
        #expect(try await q.queue.record(of: BatchID("b"))?.done == 1)
        let again = try await q.claim()
        #expect(again.edit == QueueFixture.recipe)
        _ = try await publish(again, revision: again.told + 1, q)
        #expect(try await q.queue.record(of: BatchID("b"))?.done == 2)
        try await q.expectHealthy()
    }

    @Test func `they count as waiting bytes of their tenants again, until they are done`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.xadd([
            "id": "a", "asset": "a", "edit": .init(QueueFixture.recipe), "tenant": "acme",
        ])
        _ = try await q.queue.admit()
        let before = try await q.redis.send([
            "HGET", RedisArgument(q.queue.name.keys.prefix + "stored"), "acme",
        ]).string
        let lost = try await publish(try await q.claim(), revision: 1, q)
        #expect(try await q.queue.replay(lost: [lost]) == [.replayed])
        let after = try await q.redis.send([
            "HGET", RedisArgument(q.queue.name.keys.prefix + "stored"), "acme",
        ]).string
        #expect(after == before && before != nil)
        _ = try await publish(try await q.claim(), revision: 2, q)
        try await q.expectHealthy()
    }

    /// Makes a draft of asset `x` by job `draft`, and publishes it by job `publish`, which names it.
    private func publishDraft(_ q: QueueFixture) async throws -> [LostJob] {
        let edit = #"{"draft":true,"filters":[{"name":"CISepiaTone"}]}"#
        try await q.xadd(["id": "draft", "asset": "x", "edit": .init(edit)])
        _ = try await q.queue.admit()
        let claim = try await q.claim()
        let draft = "1-\(claim.fence)"
        #expect(
            try await q.queue.commit(claim, q.event(claim, version: draft), isDraft: true)
                == .held)
        #expect(try await q.queue.finalize(job: claim.job, fence: claim.fence) == .held)
        try await q.xadd([
            "id": "publish", "asset": "x", "edit": #"{"mode":"publish","version":"\#(draft)"}"#,
        ])
        _ = try await q.queue.admit()
        let made = LostJob(job: "draft", asset: "x", version: draft, told: 1, lack: .draft)
        var published = try await publish(try await q.claim(), revision: 1, q)
        published.base = LostJob.Base(job: "draft", version: draft)
        return [made, published]
    }

    @Test func `a draft is made again before it is published, under its new name`() async throws {
        let q = try await QueueFixture()
        let lost = try await publishDraft(q)
        #expect(try await q.queue.replay(lost: lost) == [.replayed, .replayed])
        #expect(try await q.queue.replay(lost: lost) == [.underWay, .underWay])
        try await q.expectHealthy()
        let draft = try await q.claim()
        #expect(draft.job == "draft" && draft.generation == 2)
        #expect(try await q.queue.claim(by: "b", count: 1).jobs.isEmpty)
        try await q.finish(draft)
        let published = try await q.claim()
        #expect(published.job == "publish" && published.edit == #"{"mode":"publish"}"#)
        try await q.finish(published)
        try await q.expectHealthy()
    }

    @Test func `what is about a version that nobody makes again is named`() async throws {
        let q = try await QueueFixture()
        let lost = try await publishDraft(q)
        #expect(try await q.queue.replay(lost: [lost[1]]) == [.notKept])
        #expect(try await q.state(of: "publish") == "done")
        try await q.expectHealthy()
    }

    @Test func `renditions are made again of the version that they were made of`() async throws {
        let q = try await QueueFixture()
        let edit = #"{"mode":"renditions","renditions":{"web":{"box":[7,7]}}}"#
        func made(_ claim: Claim, of version: String) async throws {
            let event = JobEvent.MadeRenditions(
                mode: .renditions, version: .init(id: version, revision: 3, at: .init(path: "p")),
                renditions: [:])
            #expect(try await q.queue.conclude(claim, event) == .held)
        }
        try await q.xadd(["id": "sizes", "asset": "x", "edit": .init(edit)])
        _ = try await q.queue.admit()
        try await made(try await q.claim(), of: "3-30")
        let other = LostJob(job: "sizes", asset: "x", version: "3-31", told: 0, lack: .renditions)
        #expect(try await q.queue.replay(lost: [other]) == [.underWay])
        let lost = LostJob(job: "sizes", asset: "x", version: "3-30", told: 0, lack: .renditions)
        #expect(try await q.queue.replay(lost: [lost]) == [.replayed])
        try await q.expectHealthy()
        let claim = try await q.claim()
        let again = try Edit(json: claim.edit)
        #expect(again.mode == .renditions(version: "3-30") && !again.renditions.isEmpty)
        // No version of the asset was lost, so the next one has the next number.
        #expect(claim.told == 0)
        try await made(claim, of: "3-30")
        try await q.expectHealthy()
    }
}
