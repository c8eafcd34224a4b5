import Edits
import FoundationEssentials
import Glibc
import Logging
import MinilabTesting
import RenderProtocol
import Synchronization
import SystemPackage
import Telemetry
import Testing

@testable import RenderPool

@Suite("Watching memory") struct PressureWatchTests {
    /// A machine of 1 GB that a test fills, a pool whose children are scripts, and a clock.
    private final class Stage: Sendable {
        let kernel: PlayedKernel
        let script: TemporaryFolder
        let pool: RenderPool
        let watch: PressureWatch
        private let collector = Collector()
        private let now = Mutex(ContinuousClock.now)

        /// A child says its pid, reads a request, and does not answer until the file `go` is there.
        private static let child = """
            while read line; do
              echo $$ >> "$0.pids"
              while [ ! -e "$0.go" ]; do sleep 0.01; done
              \(ScriptedReply.rendered)
            done
            """

        init() throws {
            ignoreBrokenPipes()
            kernel = try PlayedKernel([:])
            script = try TemporaryFolder()
            let path = try script.script("child", Self.child)
            let settings = RenderSettings(executable: FilePath(path))
            pool = RenderPool(
                settings: settings, logger: Logger(label: "test"),
                metrics: RenderMetrics(
                    Metrics { [collector] metric, value, labels in
                        switch metric {
                        case "minilab_memory_pressure_steps_total":
                            collector.add(labels[0] + (value == 1 ? "" : " \(Int(value))"))
                        case "minilab_memory_paused": collector.add("\(Int(value)) paused")
                        default: break
                        }
                    }))
            watch = PressureWatch(
                PressureSettings(), root: kernel.root, pool: pool, logger: Logger(label: "test"))
            try leave(800)
        }

        /// What the watch has told so far.
        var steps: [String] { collector.steps }

        /// Fills the machine so that so many megabytes are left.
        func leave(_ megabytes: Int) throws {
            try kernel.write(
                "proc/meminfo",
                "MemTotal: 1048576 kB\nMemAvailable: \(megabytes << 10) kB\n")
        }

        /// The watch looks, so many times, some time apart.
        @discardableResult
        func turn(_ times: Int = 1, every interval: Duration = .seconds(1)) async -> PressureLevel {
            for _ in 0..<times {
                let now = self.now.withLock { now in
                    now += interval
                    return now
                }
                await watch.turn(at: now)
            }
            return await watch.level
        }

        /// A render begins; returns when its child works on it.
        func render(_ count: Int) async throws -> (task: Task<Bool, any Error>, pid: pid_t) {
            let task = Task { [pool] in
                do {
                    try await pool.lend(to: Borrower(.operator)) { child in
                        try await child.draw(ScriptedReply.sheet, RenderFiles())
                    }
                    return true
                } catch is RenderRequeued {
                    return false
                }
            }
            let pids = try await eventually("child \(count) works") {
                let pids = self.script.text(of: "child.pids").split(separator: "\n")
                return pids.count == count ? pids : nil
            }
            return (task, pid_t(pids[count - 1]) ?? -1)
        }

        /// Lets the children answer.
        func go() throws { try Data().write(to: URL(filePath: script.file("child.go"))) }
    }

    private final class Collector: Sendable {
        private let all = Mutex<[String]>([])
        var steps: [String] { all.withLock { $0 } }
        func add(_ step: String) { all.withLock { $0.append(step) } }
    }

    @Test func `a kill of a child is its owner's affair, another one everybody's`() async throws {
        let stage = try Stage()
        func kill(_ count: Int) throws {
            try stage.kernel.write("proc/vmstat", "oom_kill \(count)\n")
        }
        try kill(7)
        #expect(await stage.turn(3) == .calm)
        // Read before the pool knows whose child it was.
        try kill(8)
        #expect(await stage.turn() == .calm)
        stage.pool.atFault.note(.operator, wasKilled: true)
        #expect(await stage.turn(5) == .calm)
        // Read after it.
        stage.pool.atFault.note(.operator, wasKilled: true)
        #expect(await stage.turn() == .calm)
        try kill(9)
        #expect(await stage.turn(5) == .calm)
        // Nobody of ours.
        try kill(10)
        #expect(await stage.turn(2) == .pausing)
    }

    @Test func `renders of an owner at fault are paused before those of others`() throws {
        let renders = RunningRenders()
        let acme = Owner.tenant(try JobID("acme"))
        let process = RenderProcess(
            executable: "/nowhere/child", logger: Logger(label: "test"))
        let first = renders.begin(process, [:], of: acme)
        let second = renders.begin(process, [:], of: .operator)
        #expect(renders.apply(.pause, before: [acme])?.number == first)
        #expect(renders.apply(.pause, before: [acme])?.number == second)
        #expect(renders.apply(.requeue, before: [acme])?.number == first)
        #expect(renders.apply(.requeue)?.number == second)
    }

    private func state(_ pid: pid_t) -> Character? { RenderChildTests.state(of: pid) }

    @Test func `the level follows the kernel's files, and each change is told with what was read`()
        async throws
    {
        let stage = try Stage()
        #expect(await stage.turn() == .calm)
        #expect(stage.watch.shortage == nil)
        try stage.leave(70)
        #expect(await stage.turn() == .shrinking)
        let shortage = try #require(stage.watch.shortage)
        #expect(shortage.level == .shrinking)
        #expect(shortage.reading.contains("70 MB of 1024 MB are left"))
        try stage.leave(800)
        #expect(await stage.turn(3) == .shrinking)
        #expect(await stage.turn(20) == .calm)
        #expect(stage.watch.shortage == nil)
        #expect(stage.steps == ["shrinking", "holding", "calm"])
    }

    @Test func `a stall is seen between two looks`() async throws {
        let stage = try Stage()
        func stall(_ microseconds: Int) throws {
            let line = "avg10=0.00 avg60=0.00 avg300=0.00 total=\(microseconds)\n"
            try stage.kernel.write("proc/pressure/memory", "some \(line)full \(line)")
        }
        try stage.leave(200)
        try stall(0)
        #expect(await stage.turn() == .calm)
        try stall(200_000)
        #expect(await stage.turn(every: .milliseconds(250)) == .holding)
        try stall(900_000)
        #expect(await stage.turn(every: .milliseconds(250)) == .pausing)
        #expect(await stage.turn(60) == .calm)
    }

    @Test func `the youngest render stands still, runs on later, and is finished`() async throws {
        let stage = try Stage()
        let older = try await stage.render(1)
        let younger = try await stage.render(2)
        try stage.leave(40)
        #expect(await stage.turn() == .pausing)
        try await RenderChildTests.waitForState("T", of: younger.pid)
        #expect(state(older.pid) != "T")
        // The last one runs, however short memory is; and what stands still keeps its lease.
        #expect(await stage.turn() == .pausing)
        #expect(state(older.pid) != "T")
        #expect(stage.watch.shortage?.paused == 1)
        try stage.leave(800)
        _ = await stage.turn(20)
        #expect(state(younger.pid) != "T")
        try stage.go()
        #expect(try await older.task.value)
        #expect(try await younger.task.value)
        #expect(
            stage.steps == [
                "pausing", "paused", "1 paused", "shrinking", "resumed", "0 paused", "holding",
                "calm",
            ])
        await stage.pool.close()
    }

    @Test func `the youngest is handed back when nothing else helps`() async throws {
        let stage = try Stage()
        let oldest = try await stage.render(1)
        let younger = try await stage.render(2)
        let youngest = try await stage.render(3)
        try stage.leave(40)
        #expect(await stage.turn(3) == .pausing)
        try await RenderChildTests.waitForState("T", of: youngest.pid)
        try await RenderChildTests.waitForState("T", of: younger.pid)
        #expect(await stage.turn() == .requeueing)
        #expect(try await youngest.task.value == false)
        #expect(state(youngest.pid) == nil)
        #expect(await stage.turn() == .requeueing)
        #expect(try await younger.task.value == false)
        #expect(await stage.turn(10) == .requeueing)
        try stage.go()
        #expect(try await oldest.task.value)
        #expect(stage.steps.filter { $0 == "requeued" }.count == 2)
        await stage.pool.close()
    }

    @Test func `when the last render that ran has ended, one that stands still runs on`()
        async throws
    {
        let stage = try Stage()
        let older = try await stage.render(1)
        let younger = try await stage.render(2)
        try stage.leave(40)
        await stage.turn()
        try await RenderChildTests.waitForState("T", of: younger.pid)
        older.task.cancel()
        await #expect(throws: CancellationError.self) { try await older.task.value }
        #expect(await stage.turn() == .pausing)
        #expect(state(younger.pid) != "T")
        try stage.go()
        #expect(try await younger.task.value)
        await stage.pool.close()
    }

    @Test func `a render that stands still can be cancelled`() async throws {
        let stage = try Stage()
        let older = try await stage.render(1)
        let younger = try await stage.render(2)
        try stage.leave(40)
        await stage.turn()
        younger.task.cancel()
        await #expect(throws: CancellationError.self) { try await younger.task.value }
        #expect(state(younger.pid) == nil)
        await stage.turn()
        #expect(stage.steps.last == "0 paused")
        try stage.go()
        #expect(try await older.task.value)
        await stage.pool.close()
    }

    @Test func `children that do nothing are ended, and none is kept while memory is short`()
        async throws
    {
        let stage = try Stage()
        try stage.go()
        let first = try await stage.render(1)
        #expect(try await first.task.value)
        #expect(await stage.pool.idle.count == 1)
        try stage.leave(70)
        await stage.turn()
        #expect(await stage.pool.idle.isEmpty)
        #expect(stage.steps.contains("idle_ended"))
        _ = try await eventually("the idle child is gone") { state(first.pid) == nil ? () : nil }
        #expect(try await stage.render(2).task.value)
        #expect(await stage.pool.idle.isEmpty)
        try stage.leave(800)
        await stage.turn(20)
        #expect(try await stage.render(3).task.value)
        #expect(await stage.pool.idle.count == 1)
        await stage.pool.close()
    }
}
