import Edits
import JobQueue
import MinilabTesting
import RenderProtocol
import Telemetry
import Testing

@testable import RenderPool
@testable import Worker

@Suite("What a worker counts") struct WorkerMetricsTests {
    private func worker(_ work: (WorkerMetrics) throws -> Void) rethrows -> String {
        let metrics = WorkerMetrics(version: "1.2.3", worker: "w", queue: "photos", slots: 4)
        try work(metrics)
        return Exposition.text(metrics.families())
    }

    private func lines(_ text: String) -> Set<Substring> { Set(text.split(separator: "\n")) }

    @Test func `a scrape names the version and the commit`() {
        let commit = String(repeating: "a", count: 40)
        let known = WorkerMetrics(version: "1.2.3", commit: commit)
        #expect(
            lines(Exposition.text(known.families())).contains(
                #"minilab_build_info{version="1.2.3",commit="\#(commit)"} 1"#))
        #expect(
            lines(worker { _ in }).contains(
                #"minilab_build_info{version="1.2.3",commit="none"} 1"#))
    }

    @Test func `all that a worker can tell passes promtool`() throws {
        let ends: [AttemptEnd] =
            [.published, .unchanged, .part, .rebased, .handedBack, .requeued, .cancelled, .lost]
            + FailureCode.allCases.map { .failed($0) }
        let childEnds: [ChildDeath] =
            [
                .exited(0), .exited(70), .outOfMemory, .killed(forMemory: true),
                .killed(forMemory: false), .killed(forMemory: nil), .usedUpProcessor, .filledDisk,
                .madeForbiddenCall, .timedOut(.seconds(1)), .cancelled, .lostLease,
                .notStarted("gone"), .untrusted("a lie"),
            ]
            + (1...64).map { .signalled($0) }
        let text = try worker { metrics in
            metrics.health.asksForJobs()
            metrics.drains()
            metrics.begins(after: .seconds(3))
            metrics.freesSlot()
            metrics.pausesClaims(true)
            metrics.setStore(trouble: "it is away")
            metrics.rendering.childStarts.add()
            metrics.rendering.set(Confinement())
            metrics.rendering.unavailable.set(true)
            metrics.rendering.set(
                MemoryFigures(budgetBytes: 100, grantedBytes: 60, waiting: 2))
            metrics.rendering.set([LibraryVersion(name: "libvips", version: "8.14.1")])
            metrics.rendering.set(FormatGaps([.heic: "it is gone"]))
            metrics.rendering.waits.record(1)
            metrics.rendering.passed.add()
            try count(.planes, wall: 120, isFull: true, in: metrics)
            for end in ends { metrics.count(end) }
            for death in childEnds { metrics.rendering.childEnds.add(1, death.cause) }
            for call in WorkerMetrics.RedisCall.allCases {
                metrics.missedRedis(call, Failure(.ioFailure, "refused"))
            }
            for turn in [HeartbeatTurn.turned, .renewed, .failed("refused")] { metrics.note(turn) }
            for level in PressureLevel.allCases {
                metrics.rendering.pressureLevel.set(Double(level.rawValue))
                metrics.rendering.pressureSteps.add(1, "\(level)")
            }
            metrics.rendering.paused.set(2)
        }
        try PromTool.checkMetrics(text)
    }

    @Test func `slots in use rise and fall with jobs`() {
        let text = worker { metrics in
            metrics.begins(after: .milliseconds(200))
            metrics.begins(after: .seconds(20))
            metrics.freesSlot()
        }
        #expect(
            lines(text).isSuperset(of: [
                "minilab_slots 4", "minilab_slots_busy 1", "minilab_claims_total 2",
                #"minilab_queue_wait_seconds_bucket{le="0.1"} 0"#,
                #"minilab_queue_wait_seconds_bucket{le="0.5"} 1"#,
                #"minilab_queue_wait_seconds_bucket{le="60"} 2"#,
                "minilab_queue_wait_seconds_sum 20.2",
            ]))
    }

    @Test func `memory is told as it is, and its waits as they were`() async throws {
        let metrics = WorkerMetrics()
        let gate = MemoryGate(
            budget: try MemoryBudget(setting: 100 << 20, limit: nil, used: 0, available: nil),
            metrics: metrics.rendering)
        let large = try await gate.grant(60 << 20)
        let waiting = Task { try await gate.grant(50 << 20) }
        _ = try await eventually("it waits") { gate.figures.waiting == 1 ? () : nil }
        #expect(gate.grantNow(30 << 20) != nil)
        metrics.pausesClaims(true)
        #expect(
            lines(Exposition.text(metrics.families())).isSuperset(of: [
                "minilab_memory_budget_bytes \(100 << 20)",
                "minilab_memory_granted_bytes \(90 << 20)", "minilab_memory_waiting 1",
                #"minilab_memory_wait_seconds_bucket{le="0.01"} 2"#,
                "minilab_memory_wait_seconds_count 2", "minilab_memory_passed_total 1",
                "minilab_claims_held 1",
            ]))
        gate.giveBack(large)
        _ = try await waiting.value
    }

    @Test func `attempts are told by outcome, and failures by code`() {
        let text = worker { metrics in
            for end in [AttemptEnd.published, .published, .failed(.noSpace), .lost, .requeued] {
                metrics.count(end)
            }
        }
        #expect(
            lines(text).isSuperset(of: [
                #"minilab_attempts_total{outcome="published",code=""} 2"#,
                #"minilab_attempts_total{outcome="failed",code="noSpace"} 1"#,
                #"minilab_attempts_total{outcome="lost",code=""} 1"#,
                "minilab_leases_lost_total 1", "minilab_memory_requeued_total 1",
                #"minilab_attempts_total{outcome="requeued",code=""} 1"#,
            ]))
    }

    @Test func `what does not confine children on this machine is told`() {
        let gap = Confinement.Gap(.files, "Landlock: Function not implemented")
        let text = worker { $0.rendering.set(Confinement(gaps: [gap])) }
        #expect(
            lines(text).isSuperset(of: [
                #"minilab_child_confined{measure="files"} 0"#,
                #"minilab_child_confined{measure="calls"} 1"#,
            ]))
    }

    @Test func `libraries, and formats that they fail in, are told`() {
        let text = worker { metrics in
            metrics.rendering.set([LibraryVersion(name: "libvips", version: "8.14.1")])
            metrics.rendering.set(FormatGaps([.heic: "it is gone"]))
        }
        #expect(
            lines(text).isSuperset(of: [
                #"minilab_library_info{library="libvips",version="8.14.1"} 1"#,
                #"minilab_format_works{format="heic"} 0"#,
                #"minilab_format_works{format="avif"} 1"#,
            ]))
    }

    @Test func `deaths of children are told by their cause, crashes by the name of the signal`() {
        let deaths: [ChildDeath] = [
            .signalled(11), .killed(forMemory: true), .exited(0), .outOfMemory,
            .timedOut(.seconds(1)),
        ]
        let text = worker { metrics in
            for death in deaths { metrics.rendering.childEnds.add(1, death.cause) }
        }
        #expect(
            lines(text).isSuperset(of: [
                #"minilab_child_ends_total{cause="SIGSEGV"} 1"#,
                #"minilab_child_ends_total{cause="oom_killed"} 1"#,
                #"minilab_child_ends_total{cause="finished"} 1"#,
                #"minilab_child_ends_total{cause="out_of_memory"} 1"#,
                #"minilab_child_ends_total{cause="timed_out"} 1"#,
            ]))
    }

    @Test func `renders are told in base units, by lane, small ones apart`() throws {
        let text = try worker { metrics in
            try count(.planes, wall: 120, isFull: true, in: metrics)
            try count(.stream, wall: 20, isFull: false, in: metrics)
        }
        #expect(
            lines(text).isSuperset(of: [
                #"minilab_render_seconds_sum{size="full",lane="planes"} 0.12"#,
                #"minilab_render_seconds_count{size="small",lane="stream"} 1"#,
                #"minilab_render_cpu_seconds_total{size="full"} 0.06"#,
                "minilab_render_memory_bytes_sum 100000000",
            ]))
    }

    @Test func `what full-size renders need is compared with what was estimated`() throws {
        let text = try worker { metrics in
            try count(.planes, wall: 1, isFull: true, estimate: 62_500_000, in: metrics)
            try count(.planes, wall: 1, isFull: true, estimate: 40_000_000, in: metrics)
            try count(.planes, wall: 1, isFull: true, estimate: 0, in: metrics)
            try count(.planes, wall: 1, isFull: false, estimate: 1, in: metrics)
        }
        #expect(
            lines(text).isSuperset(of: [
                #"minilab_render_memory_ratio_bucket{lane="planes",le="0.7"} 0"#,
                #"minilab_render_memory_ratio_bucket{lane="planes",le="0.8"} 1"#,
                #"minilab_render_memory_ratio_sum{lane="planes"} 2.05"#,
                #"minilab_render_memory_over_estimate_total{lane="planes"} 1"#,
            ]))
    }

    /// Counts a render.
    private func count(
        _ lane: RenderPlan.Lane, wall: Double, isFull: Bool, estimate: Int = 0,
        in metrics: WorkerMetrics
    ) throws {
        let size = PixelSize(width: 4, height: 3)
        let header = PhotoHeader(
            format: .jpeg, storedSize: size, orientation: 1, bands: 3, bitsPerSample: 8,
            hasAlpha: false, hasProfile: false)
        let plan = RenderPlan(
            lane: lane, orientation: 1, resultSize: size, passes: [],
            output: OutputPlan(
                format: .jpeg, quality: 0.9, chroma: .full, progressive: false, bitDepth: .eight,
                keepsAlpha: false, background: .white, colorSpace: .source, strip: .none))
        metrics.rendering.count(
            RenderUse(
                wallMilliseconds: wall, cpuMilliseconds: wall / 2, peakMemoryBytes: 50_000_000),
            Inspection(
                header: header, recipe: try Recipe(filters: []), plan: plan, memoryBytes: estimate),
            isFull: isFull)
    }
}
