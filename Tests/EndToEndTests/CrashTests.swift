import Edits
import Foundation
import MinilabTesting
import Redis
import RenderProtocol
import Testing

@testable import JobQueue

@Suite("Crashes") struct CrashTests {
    @Test(arguments: TestPoint.allCases)
    func `a worker killed at any point costs one lease and nothing else`(point: TestPoint)
        async throws
    {
        let rig = try await Rig()
        try rig.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        try await rig.xadd("a.png", id: "job")
        let victim = try rig.worker("victim", slots: 1, stopAt: point)
        let stopped = try await rig.processThatStopped(of: victim)
        #expect(try await rig.events().isEmpty)
        #expect(try await rig.queue.record(of: "job")?.worker == "victim")
        victim.kill(SIGKILL)
        #expect(try await victim.waitForEnd() == .signalled(SIGKILL))
        // A render child finds out that its worker is gone as soon as it can run.
        if stopped != victim.pid {
            kill(stopped, SIGCONT)
            _ = try await eventually("the orphan ends") { isRunning(stopped) ? nil : () }
        }

        let heir = try rig.worker("heir")
        let ends = try await rig.waitForEnds(1)
        guard case .completed(let done) = ends[0].data else {
            Issue.record("\(ends)")
            return
        }
        // What was committed is carried on; what was not is rendered again.
        let isCarriedOn = point == .afterCommit || point == .afterPointer
        #expect(done.worker == (isCarriedOn ? "victim" : "heir"))
        #expect(try rig.current("a.png") == "versions/\(done.version.id)")
        try await rig.checkInvariants(jobs: ["job"])
        heir.kill(SIGTERM)
        #expect(try await heir.waitForEnd() == .exited(0))
    }

    @Test(arguments: [SIGKILL, SIGSEGV])
    func `a render child that is killed costs one attempt and the worker lives`(signal: Int32)
        async throws
    {
        let rig = try await Rig()
        try rig.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        let worker = try rig.worker("w", slots: 1, stopAt: .midRender)
        try await rig.xadd("a.png", id: "job")
        let child = try await rig.processThatStopped(of: worker)
        #expect(child != worker.pid)
        kill(child, signal)
        // A stopped process takes SIGSEGV when it goes on; SIGKILL needs no such help.
        kill(child, SIGCONT)
        // The next child stops at the same point, and may go on.
        let next = try await eventually("the next child works") {
            try await rig.queue.attempts(of: "job").isEmpty
                ? nil : stoppedProcess(of: worker.pid, except: child)
        }
        kill(next, SIGCONT)
        let ends = try await rig.waitForEnds(1)
        guard case .completed(let done) = ends[0].data else {
            Issue.record("\(ends)")
            return
        }
        #expect(done.attempt == 2)
        // SIGKILL may have been the kernel's, for want of memory, where it does not say how many it killed.
        let codes = try await rig.queue.attempts(of: "job").map(\.code)
        #expect(codes == [.renderCrashed] || (signal == SIGKILL && codes == [.outOfMemory]))
        try await rig.checkInvariants(jobs: ["job"])
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }

    @Test(arguments: [TestPoint.afterClaim, .beforeCommit, .afterCommit, .afterPointer])
    func `a worker stopped past its lease changes nothing when it wakes`(point: TestPoint)
        async throws
    {
        let rig = try await Rig()
        try rig.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        try await rig.xadd("a.png", id: "job")
        let zombie = try rig.worker("zombie", slots: 1, stopAt: point)
        _ = try await rig.processThatStopped(of: zombie)
        let heir = try rig.worker("heir", slots: 1)
        let ends = try await rig.waitForEnds(1)
        guard case .completed(let done) = ends[0].data else {
            Issue.record("\(ends)")
            return
        }
        zombie.kill(SIGCONT)
        zombie.kill(SIGTERM)
        #expect(try await zombie.waitForEnd() == .exited(0))
        #expect(try rig.current("a.png") == "versions/\(done.version.id)")
        try await rig.checkInvariants(jobs: ["job"])
        heir.kill(SIGTERM)
        #expect(try await heir.waitForEnd() == .exited(0))
    }

    @Test
    func
        `a worker that lost its own job claims it anew, never has more renders than slots, and is not blamed`()
        async throws
    {
        let rig = try await Rig()
        try rig.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        try rig.put("b.png", SyntheticPhoto.png(width: 64, height: 48))
        let worker = try rig.worker("w", slots: 2, stopAt: .midRender)
        try await rig.xadd("a.png", id: "a")
        let child = try await rig.processThatStopped(of: worker)
        let first = try await eventually("its claim is confirmed") {
            let fields = try await rig.redis.send([
                "HMGET", "minilab:{photos}:job:a", "fence", "confirmed",
            ]).array?.map(\.string)
            return fields?[0] == fields?[1] ? fields?[0] : nil
        }
        // It stands still past its lease, and somebody takes the job back.
        worker.kill(SIGSTOP)
        try await eventually("the lease is over and taken back") {
            var settings = QueueSettings()
            settings.lease = .seconds(2)
            let queue = JobQueue(name: .photos, redis: rig.redis, settings: settings)
            return try await queue.reap(by: "test").ready == 1 ? () : nil
        }
        #expect(try await rig.queue.record(of: "a")?.crashes == 1)
        try await rig.xadd("b.png", id: "b")
        worker.kill(SIGCONT)
        // The render of the old hold is ended; those of the new holds stop at the same point, and may go on.
        var most = 0
        try await eventually("both are done", within: .seconds(300)) {
            let children = processes(below: worker.pid).filter { $0.state != "Z" }
            most = max(most, children.count)
            for next in children where next.pid != child && next.state == "T" {
                kill(next.pid, SIGCONT)
            }
            return try await rig.queue.status().counters["completed"] == 2 ? () : nil
        }
        #expect(most <= 2)
        let record = try #require(try await rig.queue.record(of: "a"))
        #expect(record.crashes == 0 && record.fence != first && record.worker == "w")
        #expect(try await rig.queue.status().counters["pardoned"] == 1)
        try await rig.checkInvariants(jobs: ["a", "b"])
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }

    @Test func `SIGTERM hands the job back and burns no attempt`() async throws {
        let rig = try await Rig()
        try rig.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        try await rig.xadd("a.png", id: "job")
        // The child stands still in the middle of the render, so it cannot be done in time.
        let first = try rig.worker(
            "first", slots: 1, stopAt: .midRender, flags: ["--shutdown-grace", "0s"])
        _ = try await rig.processThatStopped(of: first)
        first.kill(SIGTERM)
        #expect(try await first.waitForEnd() == .exited(0))
        let record = try #require(try await rig.queue.record(of: "job"))
        #expect(record.state == .ready && record.attempts == 0 && record.crashes == 0)
        #expect(try rig.staged().isEmpty)

        let second = try rig.worker("second")
        let ends = try await rig.waitForEnds(1)
        guard case .completed(let done) = ends[0].data else {
            Issue.record("\(ends)")
            return
        }
        #expect(done.attempt == 1)
        second.kill(SIGTERM)
        #expect(try await second.waitForEnd() == .exited(0))
    }

    @Test func `SIGTERM lets a job finish within the grace`() async throws {
        let rig = try await Rig()
        try rig.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        try await rig.xadd("a.png", id: "job")
        let worker = try rig.worker("w", slots: 1, stopAt: .midRender)
        let child = try await rig.processThatStopped(of: worker)
        worker.kill(SIGTERM)
        kill(child, SIGCONT)
        #expect(try await worker.waitForEnd() == .exited(0))
        try await rig.checkInvariants(jobs: ["job"])
    }

    @Test func `Redis killed and started again with its file loses nothing`() async throws {
        let rig = try await Rig(syncsEachWrite: true)
        let jobs = (0..<30).map { "job-\($0)" }
        for (number, job) in jobs.enumerated() {
            try rig.put("\(job).png", SyntheticPhoto.png(width: 40, height: 30, seed: number))
            try await rig.xadd("\(job).png", id: job)
        }
        let worker = try rig.worker("w")
        for round in 1...3 {
            _ = try await rig.waitForEnds(round * 5)
            rig.server.kill(SIGKILL)
            try await rig.server.waitForEnd()
            try await rig.server.launch()
        }
        _ = try await rig.waitForEnds(jobs.count)
        try await rig.checkInvariants(jobs: jobs)
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }

    @Test func `many jobs under random kills are each done once`() async throws {
        var random = SeededGenerator()
        random.printSeed()
        let rig = try await Rig(syncsEachWrite: true)
        let jobs = (0..<200).map { "job-\($0)" }
        for (number, job) in jobs.enumerated() {
            // Every third job edits an asset that another one edits, too.
            let asset = number % 3 == 2 ? "photo-\(number - 1).png" : "photo-\(number).png"
            try rig.put(asset, SyntheticPhoto.png(width: 96, height: 64, seed: number))
            try await rig.xadd(asset, id: job)
        }
        // A job may lose many workers here; crashes.max is about poison, not about this storm.
        let flags = ["--lease", "1s", "--settings", rig.folder.file("settings.json")]
        try Data(
            #"{"crashes.max": 100, "carries.max": 100, "retry.base": "10ms", "retry.attempts": 50}"#
                .utf8
        )
        .write(to: URL(filePath: rig.folder.file("settings.json")))
        var workers = [
            try rig.worker("a0", flags: flags), try rig.worker("b0", flags: flags),
        ]
        var kills = 0
        var ended = 0
        while ended < jobs.count {
            // The next kill comes after some more jobs, not after some time.
            ended = min(jobs.count, ended + Int.random(in: 5...15, using: &random))
            _ = try await rig.waitForEnds(ended, within: .seconds(300))
            if ended == jobs.count { break }
            kills += 1
            let index = Int.random(in: 0..<workers.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                if let child = processes(below: workers[index].pid).last {
                    kill(child.pid, SIGKILL)
                }
            case 1:
                workers[index].kill(SIGTERM)
                // One that is only just starting has nothing to hand back and dies of it.
                #expect(
                    [.exited(0), .signalled(SIGTERM)].contains(
                        try await workers[index].waitForEnd()))
                workers[index] = try rig.worker("w\(kills)", flags: flags)
            default:
                workers[index].kill(SIGKILL)
                #expect(try await workers[index].waitForEnd() == .signalled(SIGKILL))
                workers[index] = try rig.worker("w\(kills)", flags: flags)
            }
        }
        _ = try await eventually("nothing is left to do") {
            try await rig.queue.status().isDrained ? () : nil
        }
        try await rig.checkInvariants(jobs: jobs)
        for worker in workers {
            worker.kill(SIGTERM)
            #expect(try await worker.waitForEnd() == .exited(0))
        }
    }
}
