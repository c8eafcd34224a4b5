import Foundation
import MinilabTesting
import Redis
import RenderProtocol
import Testing

@testable import JobQueue

@Suite("A worker that is short of memory") struct MemoryPressureTests {
    /// A kernel whose machine has 1 GB.
    private struct PlayedMachine {
        let root: String

        init(in rig: Rig) throws {
            root = rig.folder.file("kernel")
            try FileManager.default.createDirectory(
                atPath: root + "/proc", withIntermediateDirectories: true)
            try leave(800)
        }

        /// So many megabytes are left.
        func leave(_ megabytes: Int) throws {
            // Atomically, as the kernel's files are never half written.
            try Data("MemTotal: 1048576 kB\nMemAvailable: \(megabytes << 10) kB\n".utf8)
                .write(to: URL(filePath: root + "/proc/meminfo"), options: .atomic)
        }

        var flags: [String] { ["--memory-root", root, "--pressure-quiet", "100ms"] }
    }

    @Test func `its youngest job goes back to the queue unburnt, and another worker finishes it`()
        async throws
    {
        let rig = try await Rig()
        let machine = try PlayedMachine(in: rig)
        for (seed, photo) in ["old.png", "young.png"].enumerated() {
            try rig.put(photo, SyntheticPhoto.png(width: 64, height: 48, seed: seed))
        }
        let worker = try rig.worker(
            "short", stopAt: .midRender, flags: machine.flags + ["--status-port", "0"])
        let port = try await statusPort(of: worker)
        try await rig.xadd("old.png", id: "old")
        let older = try await rig.processThatStopped(of: worker)
        try await rig.xadd("young.png", id: "young")
        let younger = try await eventually("the second render works") {
            stoppedProcess(of: worker.pid, except: older)
        }

        try machine.leave(5)
        _ = try await eventually("the younger job is ready again") {
            try await rig.queue.record(of: "young")?.state == .ready ? () : nil
        }
        #expect(!isRunning(younger))
        #expect(isRunning(older))
        let record = try #require(try await rig.queue.record(of: "young"))
        #expect((record.attempts, record.crashes) == (0, 0))
        #expect(try await rig.queue.attempts(of: "young").isEmpty)
        #expect(try await rig.queue.status().counters["requeued"] == 1)

        let answer = try await HTTPExchange.get("/readyz", port: port)
        #expect(answer.status == 503)
        #expect(answer.body.contains("memory is short, the worker is requeueing"))
        #expect(answer.body.contains("5 MB of 1024 MB are left"))
        #expect(try await HTTPExchange.get("/healthz", port: port).status == 200)
        let metrics = try await HTTPExchange.get("/metrics", port: port).body
        for line in [
            "minilab_memory_pressure_level 4", "minilab_memory_requeued_total 1",
            #"minilab_memory_pressure_steps_total{step="requeued"} 1"#,
            #"minilab_memory_pressure_steps_total{step="requeueing"} 1"#,
        ] { #expect(metrics.contains(line + "\n"), "\(line)") }
        _ = try await eventually("top says so") {
            let top = try await MinilabProcess.run(
                ["top", "--once"] + rig.server.flags(as: .operator)
            )
            .output
            return top.contains("MEMORY IS SHORT at 1 of 1 workers; short is requeueing: ")
                ? () : nil
        }
        #expect(worker.output.contains("memory is short"))

        // The worker itself takes nothing, and another one finishes the job.
        let other = try rig.worker("other", flags: ["--pressure-watch", "false"])
        _ = try await rig.waitForEnds(1)
        #expect(try await rig.queue.record(of: "young")?.worker == "other")
        kill(older, SIGCONT)
        _ = try await rig.waitForEnds(2)
        #expect(try await rig.queue.record(of: "old")?.worker == "short")

        try machine.leave(800)
        _ = try await eventually("the worker is ready again") {
            try await HTTPExchange.get("/readyz", port: port).status == 200 ? () : nil
        }
        for worker in [worker, other] {
            worker.kill(SIGTERM)
            #expect(try await worker.waitForEnd() == .exited(0))
        }
        try await rig.checkInvariants(jobs: ["old", "young"])
    }

    @Test func `its youngest render stands still, runs on when memory is back, and is published`()
        async throws
    {
        let rig = try await Rig()
        let machine = try PlayedMachine(in: rig)
        for (seed, photo) in ["old.png", "young.png"].enumerated() {
            try rig.put(photo, SyntheticPhoto.png(width: 64, height: 48, seed: seed))
        }
        // Both stop themselves, so neither ends before the worker has decided, however fast it computes.
        let worker = try rig.worker(
            "short", stopAt: .midRender, flags: machine.flags + ["--status-port", "0"])
        let port = try await statusPort(of: worker)
        try await rig.xadd("old.png", id: "old")
        let older = try await rig.processThatStopped(of: worker)
        try await rig.xadd("young.png", id: "young")
        let younger = try await eventually("the second render works") {
            stoppedProcess(of: worker.pid, except: older)
        }
        func waitForPaused(_ count: Int) async throws {
            _ = try await eventually("\(count) renders stand still") {
                try await HTTPExchange.get("/metrics", port: port).body
                    .contains("minilab_memory_paused \(count)\n") ? () : nil
            }
        }
        try machine.leave(40)
        try await waitForPaused(1)
        // Less than calls for more, more than lets it run on.
        try machine.leave(60)
        let lease = try await rig.lease(of: "young")
        _ = try await eventually("the lease goes on for longer than one lease") {
            try await rig.lease(of: "young") > lease + 2500 ? () : nil
        }
        #expect(ProcessState(younger)?.state == "T")
        #expect(try await rig.queue.record(of: "young")?.state == .active)
        // The worker lets the younger run on, which the test does for the older alone.
        try machine.leave(800)
        try await waitForPaused(0)
        _ = try await rig.waitForEnds(1)
        #expect(try await rig.queue.record(of: "young")?.outcome == "completed")
        kill(older, SIGCONT)
        _ = try await rig.waitForEnds(2)
        for job in ["old", "young"] {
            let record = try #require(try await rig.queue.record(of: job))
            #expect((record.attempts, record.crashes) == (0, 0))
            #expect(record.outcome == "completed")
        }
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
        try await rig.checkInvariants(jobs: ["old", "young"])
    }

    @Test func `a worker that is killed leaves no render that stands still for ever`() async throws
    {
        let rig = try await Rig()
        try rig.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        try await rig.xadd("a.png", id: "job")
        let worker = try rig.worker("w", slots: 1, stopAt: .midRender)
        let child = try await rig.processThatStopped(of: worker)
        worker.kill(SIGKILL)
        _ = try await worker.waitForEnd()
        _ = try await eventually("the render is gone") { isRunning(child) ? nil : () }
    }
}

extension Rig {
    /// When the lease of a job ends, in ms of Redis' clock.
    fileprivate func lease(of job: String) async throws -> Int {
        let score = try await redis.send(["ZSCORE", "minilab:{photos}:lease", RedisArgument(job)])
        return try #require(score.string.flatMap { Double($0) }.map { Int($0) })
    }
}
