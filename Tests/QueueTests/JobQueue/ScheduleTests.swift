import Edits
import FoundationEssentials
import Redis
import Testing

@testable import JobQueue

@Suite("Schedules") struct ScheduleTests {
    /// RFC 3339 of a moment from now, with milliseconds.
    private func moment(_ seconds: Double) -> String {
        Date(timeIntervalSinceNow: seconds).ISO8601Format(.init(includingFractionalSeconds: true))
    }

    @Test func `a job is not begun before its time, and then it is`() async throws {
        let q = try await QueueFixture()
        try await q.xadd([
            "id": "a", "asset": "a", "edit": QueueFixture.recipe, "notBefore": moment(30),
        ])
        let due = try #require(try await q.queue.admit().next)
        #expect(try await q.queue.claim(by: "w", count: 1).jobs.isEmpty)
        #expect(due > .seconds(20) && due <= .seconds(30))
        #expect(try await q.queue.promote() == 0)
        try await q.expectHealthy()
        try await q.harm(["ZADD delayed XX 1 a"])
        #expect(try await q.claim().job == "a")
    }

    @Test func `a job that waits for its time does not hold its asset`() async throws {
        let q = try await QueueFixture()
        try await q.xadd([
            "id": "later", "asset": "x", "edit": QueueFixture.recipe, "notBefore": moment(30),
        ])
        try await q.xadd(["id": "now", "asset": "x", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        let now = try await q.claim()
        #expect(now.job == "now")
        try await q.harm(["ZADD delayed XX 1 later"])
        #expect(try await q.queue.promote() == 1)
        #expect(try await q.claim(1).isEmpty)
        #expect(try await q.state(of: "later") == "parked")
        try await q.expectHealthy()
        try await q.finish(now)
        #expect(try await q.claim().job == "later")
    }

    @Test func `a time that has passed is no wait`() async throws {
        let q = try await QueueFixture()
        try await q.xadd([
            "id": "a", "asset": "a", "edit": QueueFixture.recipe,
            "notBefore": "1970-01-01T00:00:00Z",
        ])
        _ = try await q.queue.admit()
        #expect(try await q.claim().job == "a")
    }

    @Test(arguments: [
        "tomorrow", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00+01:00", "2026-01-01",
    ])
    func `a time that is none is refused with an example of one`(text: String) async throws {
        let q = try await QueueFixture()
        try await q.xadd(["asset": "a", "edit": QueueFixture.recipe, "notBefore": text])
        _ = try await q.queue.admit()
        let dead = try #require(try await q.queue.dead(offset: 0, count: 1).first)
        #expect(dead.code == .invalidValue)
        #expect(dead.message?.contains("notBefore \"\(text)\"") == true)
    }

    @Test func `a job whose deadline passed is not begun, and those behind it are`() async throws {
        let q = try await QueueFixture()
        try await q.xadd([
            "id": "late", "asset": "x", "edit": QueueFixture.recipe, "deadline": moment(-1),
        ])
        try await q.xadd(["id": "next", "asset": "x", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        #expect(try await q.claim().job == "next")
        let record = try #require(try await q.queue.record(of: "late"))
        #expect(record.state == .dead)
        #expect(record.code == .deadlinePassed)
        try await q.expectHealthy()
        // Whoever replays it wants it all the same.
        _ = try await q.queue.replay(["late"])
        try await q.runToTheEnd()
        #expect(try await q.state(of: "late") == "done")
    }

    @Test(arguments: ["waiting", "running"])
    func `a newer edit takes the place of those that wait, and if asked of the one that runs`(
        replace: String
    ) async throws {
        let q = try await QueueFixture()
        try await q.prepare("active")
        try await q.xadd([
            "id": "new", "asset": "photo", "edit": QueueFixture.recipe, "replace": replace,
        ])
        _ = try await q.queue.admit()
        #expect(try await q.queue.outcome(of: "b") != nil)
        let a = try #require(try await q.queue.record(of: "a"))
        #expect(a.state == .active)
        #expect(a.cancel == (replace == "running" ? "replaced by job new" : nil))
        #expect(try await q.state(of: "new") == "parked")
        try await q.expectHealthy()
        _ = try await q.queue.release(job: "a", fence: try #require(a.fence), .shutdown)
        if replace == "waiting" { try await q.finish(try await q.claim()) }
        #expect(try await q.claim().job == "new")
    }

    @Test(arguments: ["ready", "delayed", "committing"])
    func `what is being published is not replaced, what is tried again later is`(
        state: String
    ) async throws {
        let q = try await QueueFixture()
        try await q.prepare(state)
        try await q.xadd([
            "id": "new", "asset": "photo", "edit": QueueFixture.recipe, "replace": "running",
        ])
        _ = try await q.queue.admit()
        #expect(try await q.state(of: "a") == (state == "committing" ? "committing" : "done"))
        #expect(try await q.state(of: "b") == "done")
        #expect(try await q.state(of: "new") == (state == "committing" ? "parked" : "ready"))
        try await q.expectHealthy()
    }

    @Test(arguments: ["waiting", "running"])
    func `a newer edit takes the place of one that waits for its time`(
        replace: String
    ) async throws {
        let q = try await QueueFixture()
        for id in ["later", "other"] {
            try await q.xadd([
                "id": id, "asset": id == "other" ? "y" : "x", "edit": QueueFixture.recipe,
                "notBefore": moment(30),
            ])
        }
        try await q.xadd([
            "id": "new", "asset": "x", "edit": QueueFixture.recipe, "replace": replace,
        ])
        try await q.xadd([
            "id": "newer", "asset": "x", "edit": QueueFixture.recipe, "notBefore": moment(30),
        ])
        _ = try await q.queue.admit()
        guard case .cancelled(let ended)? = try await q.queue.outcome(of: "later") else {
            Issue.record("it still waits")
            return
        }
        #expect(ended.reason == "replaced by job new")
        #expect(try await q.state(of: "newer") == "delayed")
        #expect(try await q.state(of: "other") == "delayed")
        try await q.expectHealthy()
        // What has come to its turn is found where it is by then.
        try await q.harm(["ZADD delayed XX 1 newer"])
        #expect(try await q.claim().job == "new")
        #expect(try await q.state(of: "newer") == "parked")
        try await q.xadd([
            "id": "newest", "asset": "x", "edit": QueueFixture.recipe, "replace": "waiting",
        ])
        _ = try await q.queue.admit()
        #expect(try await q.queue.outcome(of: "newer") != nil)
        let index = try await q.redis.send([
            "EXISTS", RedisArgument("\(q.queue.name.keys.prefix)later:x"),
        ])
        #expect(index.int == 0)
    }

    @Test func `a job sent twice does not replace itself`() async throws {
        let q = try await QueueFixture()
        for _ in 0..<2 {
            try await q.xadd([
                "id": "a", "asset": "x", "edit": QueueFixture.recipe, "replace": "running",
            ])
        }
        _ = try await q.queue.admit()
        #expect(try await q.claim().job == "a")
        #expect(try await q.events().isEmpty)
    }
}
