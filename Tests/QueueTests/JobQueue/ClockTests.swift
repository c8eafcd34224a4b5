import Edits
import Foundation
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

/// The server's clock was ahead for a while and is right again: what Redis holds then is written by hand.
@Suite("Steps of the server's clock") struct ClockTests {
    private static let hour = 3_600_000

    /// A time in ms that only the clock before the step can have given.
    private func ahead(_ q: QueueFixture) async throws -> Int {
        try await q.queue.now() + Self.hour
    }

    /// The clock leaps forward by a day: the last tick seems to be that long ago.
    private func leap(_ q: QueueFixture, by hours: Int = 24) async throws {
        for field in ["ticked", "lived"] {
            let at = try #require(try await q.field(field, of: "virtual").flatMap { Int($0) })
            try await q.setField(field, of: "virtual", "\(at - hours * Self.hour)")
        }
    }

    private func enqueue(
        _ q: QueueFixture, _ job: String, of asset: String = "x", in stream: String = "in"
    ) async throws {
        _ = try await q.redis.send([
            "XADD", RedisArgument(q.queue.name.keys.prefix + stream), "*", "id", RedisArgument(job),
            "asset", RedisArgument(asset), "edit", RedisArgument(QueueFixture.recipe),
        ])
        _ = try await q.queue.admit()
    }

    private func arrival(of job: String, _ q: QueueFixture) async throws -> Int {
        try #require(try await q.field("arrival", of: "job:\(job)").flatMap { Int($0) })
    }

    @Test func `fences and arrivals rise when the clock is set back`() async throws {
        let q = try await QueueFixture()
        try await enqueue(q, "before")
        let given = try await ahead(q) * 1000
        try await q.setField("time", of: "virtual", "\(given)")
        let first = try await q.claim()
        #expect(Int(first.fence) ?? 0 > given)
        _ = try await q.queue.admit()
        try await q.bury(first)
        #expect(try await q.queue.replay(["before"]) == [.replayed])
        let replayed = try await arrival(of: "before", q)
        #expect(replayed > Int(first.fence) ?? .max)
        // Ids of both streams are of the clock that is right again; the edits are newer than all before.
        for (index, stream) in ["in:interactive", "in", "in:interactive"].enumerated() {
            let before = try await q.field("time", of: "virtual").flatMap { Int($0) } ?? .max
            try await enqueue(q, "after\(index)", of: "y\(index)", in: stream)
            #expect(try await arrival(of: "after\(index)", q) > before)
        }
        let members = [JobQueue.Member(asset: try AssetPath("m"))]
        #expect(try await q.queue.add(members, to: BatchID("b"), from: 0) == .added(1))
        try await q.xadd(["batch": "b", "edit": QueueFixture.recipe])
        _ = try await q.queue.admit()
        #expect(try await arrival(of: "b:0", q) > arrival(of: "after2", q))
        // A stream that somebody has filled long before: its entries say when.
        let claims = try await q.claim(8)
        #expect(Set(claims.map(\.fence)).count == claims.count)
    }

    @Test func `an entry that waited in its stream keeps the time of its id`() async throws {
        var settings = QueueSettings()
        settings.admitMax = 1
        let q = try await QueueFixture(settings: settings)
        for job in ["a", "b"] { try await q.xadd(["id": job, "asset": job, "edit": "{}"]) }
        _ = try await q.queue.admit()
        let first = try await arrival(of: "a", q)
        try await q.setField("time", of: "virtual", "\(try await ahead(q) * 1000)")
        _ = try await q.queue.admit()
        #expect(try await arrival(of: "b", q) - first < Self.hour * 1000)
    }

    @Test func `a server that lost the last times gives later ones`() async throws {
        let q = try await QueueFixture()
        try await enqueue(q, "a")
        let known = try await q.queue.now() * 1000 + 2_000_000
        try await q.setField("time", of: "virtual", "\(known)")
        try await q.setField("server", of: "virtual", "another")
        try await enqueue(q, "b", of: "b")
        #expect(try await arrival(of: "b", q) >= known + 10_000_000)
        let later = try await arrival(of: "b", q)
        try await enqueue(q, "c", of: "c", in: "in:interactive")
        #expect(try await arrival(of: "c", q) > later)
    }

    @Test func `a claim says the queue's time, which a worker without a right clock takes`()
        async throws
    {
        let q = try await QueueFixture()
        try await enqueue(q, "a")
        let ahead = try await ahead(q) * 1000
        try await q.setField("time", of: "virtual", "\(ahead)")
        let time = try #require(try await q.claim().queueTime)
        #expect(time > ahead && time < ahead + 60_000_000)
    }

    @Test func `events of a server that took over come behind those that it has lost`() async throws
    {
        let q = try await QueueFixture()
        try await enqueue(q, "told")
        try await q.finish(try await q.claim())
        // The server before was a minute ahead and died five seconds after the last time that this one knows.
        let known = try await q.queue.now() + 60_000
        var reader = EventReader(
            queue: q.queue.name, redis: q.redis, after: "\(known + 5_000)-0")
        try await q.setField("time", of: "virtual", "\(known * 1000)")
        try await q.setField("server", of: "virtual", "another")
        for job in ["b", "c"] {
            try await enqueue(q, job, of: job)
            try await q.finish(try await q.claim())
        }
        #expect(try await reader.next().map(\.event.subject) == ["b", "c"])
    }

    @Test func `events go on where a stream is beyond the queue's time`() async throws {
        let q = try await QueueFixture()
        try await enqueue(q, "a")
        let now = try await q.queue.now()
        try await q.setField("time", of: "virtual", "\((now + 60_000) * 1000)")
        try await q.harm(["XADD events \(now + 120_000)-7 event {}"])
        try await q.finish(try await q.claim())
        let newest = try await q.redis.send([
            "XREVRANGE", RedisArgument(q.queue.name.keys.events), "+", "-", "COUNT", "1",
        ])
        #expect(newest.array?.first?.array?.first?.string == "\(now + 120_000)-8")
    }

    @Test
    func `a lease of a clock that was ahead begins anew, and one with a longer term does not`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("lost", "handed", "dying")
        let claims = try await q.claim(3)
        for claim in claims { try await q.confirm(claim) }
        let ahead = try await ahead(q)
        try await q.harm(["ZADD lease \(ahead) lost", "ZADD lease \(ahead) handed"])
        try await q.setField("lease", of: "job:handed", "\(2 * Self.hour)")
        try await q.harm(["ZADD workers \(ahead) a"])
        let before = try await q.queue.now()
        #expect(try await q.queue.reap(by: "b").ready == 0)
        let ends = try #require(try await q.score(of: "lost", in: "lease"))
        #expect((before...before + 60_000).contains(ends))
        #expect(try await q.score(of: "handed", in: "lease") == ahead)
        #expect(try await q.score(of: "a", in: "workers") ?? .max <= q.queue.now())
        // A dead worker is found when its lease is over, and the others have renewed theirs.
        try await q.harm(["ZADD lease 1 lost"])
        #expect(try await q.queue.reap(by: "b").ready == 1)
    }

    @Test func `a failed publication is carried on after its delay, whatever the lease`()
        async throws
    {
        var settings = QueueSettings()
        settings.lease = .seconds(1)
        let q = try await QueueFixture(settings: settings)
        try await q.admit("a")
        let claim = try await q.claim()
        _ = try await q.queue.commit(claim, q.event(claim), isDraft: false)
        _ = try await q.queue.handOn(
            job: "a", fence: claim.fence, by: "w", Failure(.ioFailure, "no"), carries: 7, random: 1)
        let ends = try #require(try await q.score(of: "a", in: "lease"))
        #expect(try await q.queue.reap(by: "b").carried.isEmpty)
        #expect(try await q.score(of: "a", in: "lease") == ends)
        try await q.harm(["ZADD lease \(ends + 10 * Self.hour) a"])
        _ = try await q.queue.reap(by: "b")
        #expect(try await q.score(of: "a", in: "lease") ?? .max < ends + Self.hour)
    }

    @Test func `a retry is due when its time lies further ahead than the longest delay`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("a")
        _ = try await q.queue.fail(
            q.claim(), by: "w", Failure(.ioFailure, "no"), random: 1)
        try await q.xadd([
            "id": "tomorrow", "asset": "t", "edit": QueueFixture.recipe,
            "notBefore": "2100-01-01T00:00:00Z",
        ])
        _ = try await q.queue.admit()
        #expect(try await q.queue.promote() == 0)
        let ahead = try await ahead(q)
        try await q.harm(["ZADD delayed \(ahead) a", "ZADD retrying \(ahead) a"])
        #expect(try await q.queue.admit().admitted == 1)
        #expect(try await q.state(of: "a") == "ready")
        #expect(try await q.state(of: "tomorrow") == "delayed")
        try await q.expectHealthy()
    }

    @Test
    func `idle streams are looked at, and the queue tended, though that was done in the future`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.open("b", members: 0)
        while try await q.queue.admit().admitted > 0 {}
        let ahead = try await ahead(q)
        try await q.setField("laneTurn", of: "virtual", "\(ahead * 1000)")
        try await q.setField("laneNext", of: "virtual", "0")
        try await q.setField("tended", of: "virtual", "\(ahead)")
        try await q.addToBatchStream(of: "b", ["asset": "late"])
        #expect(try await q.queue.admit().admitted == 1)
        #expect(try await q.queue.tend().isTurn)
        #expect(try await !q.queue.tend().isTurn)
    }

    /// Rounds of checks would set it anew, and there are none.
    @Test func `a turn of idle streams in the future is forgotten where no stream is idle`()
        async throws
    {
        let q = try await QueueFixture()
        let ahead = try await ahead(q)
        try await q.setField("laneTurn", of: "virtual", "\(ahead * 1000)")
        #expect(try await q.queue.tend().isTurn)
        try await q.expectHealthy()
    }

    @Test func `a worker that was asked to become idle, and died, is asked no longer`() async throws
    {
        let q = try await QueueFixture()
        try await q.admit("a")
        try await q.harm([
            "HSET job:a priority alone", "DEL ready:normal:default", "DEL flows:normal",
        ])
        try await q.harm(["ZADD ready:alone:default 1 a", "ZADD flows:alone 0 default"])
        try await q.setField("aloneWorker", of: "virtual", "dead")
        try await q.setField("aloneUntil", of: "virtual", "\(try await ahead(q))")
        #expect(try await q.queue.claim(by: "w", count: 1, isIdle: false).requiresIdle)
        #expect(try await q.field("aloneWorker", of: "virtual") == "w")
    }

    @Test func `a clock that is a day ahead for some seconds ends nothing by its age`() async throws
    {
        var settings = QueueSettings()
        settings.tendPace = .zero
        settings.keepDead = .seconds(3600)
        let q = try await QueueFixture(settings: settings)
        try await q.open("b", members: 0)
        try await q.addToBatchStream(of: "unopened", ["asset": "m"])
        try await q.admit("done", "dead")
        for claim in try await q.claim(2) {
            if claim.job == "done" { try await q.finish(claim) } else { try await q.bury(claim) }
        }
        let soon = try await q.queue.now() + Self.hour
        for field in ["notBefore", "deadline"] {
            try await q.xadd([
                "id": field, "asset": field, "edit": QueueFixture.recipe, field: Self.text(soon),
            ])
        }
        while try await q.queue.admit().admitted > 0 {}
        // All of the server's keys are scanned in steps.
        repeat {
            _ = try await q.queue.tend()
        } while try await q.field(
            "tendScan", of: "virtual") != "0"
        _ = try await q.queue.reap(by: "w")
        let held = try await q.queue.claim(by: "w", count: 0)
        #expect(held.jobs.isEmpty)
        try await leap(q)
        for field in ["notBefore", "deadline"] {
            // The appointments have passed, by the clock that is a day ahead.
            try await q.setField(field, of: "job:\(field)", "\(soon - 2 * Self.hour)")
        }
        try await q.harm(["ZADD delayed \(soon - 2 * Self.hour) notBefore"])
        try await q.setField("ended", of: "job:done", "\(soon - 26 * Self.hour)")
        try await q.harm(["ZADD dead \(soon - 3 * Self.hour) dead"])
        var sealed = 0
        for _ in 0..<3 {
            repeat {
                let tended = try await q.queue.tend()
                sealed += tended.sealed + tended.removed
            } while try await q.field("tendScan", of: "virtual") != "0"
            _ = try await q.queue.reap(by: "w")
        }
        #expect(sealed == 0)
        #expect(try await q.queue.record(of: BatchID("b"))?.sealed == nil)
        #expect(try await q.queue.promote() == 0)
        #expect(try await q.queue.claim(by: "w", count: 8).jobs.map(\.job) == ["deadline"])
        #expect(try await q.state(of: "done") == "done")
        #expect(try await q.queue.surplusDead().isEmpty)
        // The clock stays where it is: after a minute it is believed.
        let leapt = try #require(try await q.field("leapt", of: "virtual").flatMap { Int($0) })
        try await q.setField("leapt", of: "virtual", "\(leapt - 60_000)")
        _ = try await q.queue.tend()
        #expect(try await q.queue.promote() == 1)
        #expect(try await q.queue.surplusDead().count == 1)
        #expect(try await q.queue.record(of: BatchID("b"))?.sealed == nil)
    }

    @Test func `a worker that begins does not believe a leap that others do not believe yet`()
        async throws
    {
        let q = try await QueueFixture()
        _ = try await q.queue.reap(by: "w")
        try await leap(q)
        _ = try await q.queue.reap(by: "w")
        #expect(try await q.field("leapt", of: "virtual") != nil)
        let other = JobQueue(name: q.queue.name, redis: q.redis, settings: q.queue.settings)
        _ = try await other.reap(by: "new")
        #expect(try await q.field("leapt", of: "virtual") != nil)
        // Where nobody has measured for long, it has no other clock.
        let long = try await q.queue.now() - 31_000
        try await q.setField("ticked", of: "virtual", "\(long)")
        let last = JobQueue(name: q.queue.name, redis: q.redis, settings: q.queue.settings)
        _ = try await last.reap(by: "last")
        #expect(try await q.field("leapt", of: "virtual") == nil)
    }

    @Test func `a leap of the clock makes no living worker silent`() async throws {
        let q = try await QueueFixture()
        for worker in ["here", "new", "dead"] { try await q.hear(worker) }
        _ = try await q.queue.reap(by: "here")
        try await leap(q)
        let before = try await q.queue.now() - 24 * Self.hour
        try await q.harm(["ZADD workers \(before) here \(before - Self.hour) dead"])
        _ = try await q.queue.reap(by: "here")
        let fleet = try await q.queue.fleet()
        // One has sent a heartbeat since, by the clock that is a day ahead.
        #expect(fleet.living.map(\.name) == ["here", "new"])
        // Where nobody measures any more, there is no leap to wait for.
        let long = try await q.queue.now() - 31_000
        try await q.setField("ticked", of: "virtual", "\(long)")
        #expect(try await q.queue.fleet().living.map(\.name) == ["new"])
    }

    @Test func `a leap of the clock ends no lease of a living worker and no hold is long by it`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("a")
        let claim = try await q.claim()
        try await q.confirm(claim)
        _ = try await q.queue.reap(by: "w")
        try await leap(q)
        for (field, key) in [("since", "job:a")] {
            let at = try #require(try await q.field(field, of: key).flatMap { Int($0) })
            try await q.setField(field, of: key, "\(at - 24 * Self.hour)")
        }
        let ends = try #require(try await q.score(of: "a", in: "lease"))
        try await q.harm(["ZADD lease \(ends - 24 * Self.hour) a"])
        #expect(try await q.queue.reap(by: "w").ready == 0)
        try await q.finish(claim)
        #expect(try await q.queue.meanCost() ?? .infinity < 20_000)
    }

    private static let harms = [
        "ZADD lease AHEAD a", "ZADD retrying AHEAD r", "ZADD workers AHEAD w",
        "HSET virtual tended AHEAD", "HSET virtual aloneUntil AHEAD",
        "HSET virtual laneTurn AHEAD000",
    ]

    @Test(arguments: harms)
    func `the doctor names times that no clock can have given, and corrects them`(
        harm: String
    ) async throws {
        var settings = QueueSettings()
        settings.lease = .seconds(600)
        let q = try await QueueFixture(settings: settings)
        try await q.prepare("active")
        try await q.admit("r")
        _ = try await q.queue.fail(q.claim(), by: "w", Failure(.ioFailure, "no"), random: 1)
        try await q.expectHealthy()
        let ahead = try await ahead(q) + Self.hour
        try await q.harm([harm.replacing("AHEAD", with: "\(ahead)")])
        let found = try await q.queue.diagnose().open
        #expect(found.map(\.kind) == [.timeImpossible])
        #expect(found.first?.sentence.contains("further ahead than it can") == true)
        let repaired = try await q.queue.diagnose(repair: true)
        #expect(repaired.open.isEmpty && repaired.mended.map(\.kind) == [.timeImpossible])
    }

    @Test func `the doctor warns of a clock that is behind the queue`() async throws {
        let q = try await QueueFixture()
        try await q.setField("time", of: "virtual", "\(try await ahead(q) * 1000)")
        let warnings = try await q.queue.diagnose().warnings
        #expect(warnings.contains { $0.contains("behind times that it gave before") })
    }

    private static func text(_ milliseconds: Int) -> String {
        Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(.iso8601)
    }
}
