import Edits
import JobQueue
import MinilabTesting
import RenderPool
import RenderProtocol
import Telemetry
import Testing
@testable import Worker

@Suite("What a worker counts") struct WorkerMetricsTests {
    private func worker(telling events: [WorkerEvent]) -> String {
        let metrics = WorkerMetrics(version: "1.2.3", worker: "w", queue: "photos", slots: 4)
        for event in events { metrics.record(event) }
        return Exposition.text(metrics.families())
    }

    private func lines(_ text: String) -> Set<Substring> { Set(text.split(separator: "\n")) }

    @Test func `all that a worker can tell passes promtool`() throws {
        let ends: [WorkerEvent.AttemptEnd] =
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
        let calls: [WorkerEvent.RedisCall] = [.claim, .heartbeat, .write, .reap, .listen]
        let text = try worker(
            telling: [
                .asksForJobs, .waitsForIdle, .reachedRedis, .beat, .drains,
                .began(waited: .seconds(3)),
                .freedSlot, .render(.childStarts), .render(.confined(Confinement())),
                .render(.unavailable("no threads")),
                .pausesClaims(true),
                .render(.memory(MemoryFigures(budgetBytes: 100, grantedBytes: 60, waiting: 2))),
                .render(.libraries([LibraryVersion(name: "libvips", version: "8.14.1")])),
                .render(.formats(FormatGaps([.heic: "it is gone"]))),
                .render(.granted(bytes: 60, waited: .seconds(1), passed: 1)),
                rendered(.planes, wall: 120, isFull: true),
            ] + ends.map { .ended($0) } + childEnds.map { .render(.childEnded($0)) }
                + calls.map { .missedRedis($0, "refused") }
                + PressureLevel.allCases.map { .render(.pressure(.level($0, reading: ""))) }
                + PressureAction.allCases.map { .render(.pressure(.render($0))) }
                + [.render(.pressure(.paused(2))), .render(.pressure(.idleEnded(3)))])
        try PromTool.checkMetrics(text)
    }

    @Test func `slots in use rise and fall with jobs`() {
        let text = worker(
            telling: [
                .began(waited: .milliseconds(200)), .began(waited: .seconds(20)), .freedSlot,
            ])
        #expect(
            lines(text).isSuperset(of: [
                "minilab_slots 4", "minilab_slots_busy 1", "minilab_claims_total 2",
                #"minilab_queue_wait_seconds_bucket{le="0.1"} 0"#,
                #"minilab_queue_wait_seconds_bucket{le="0.5"} 1"#,
                #"minilab_queue_wait_seconds_bucket{le="60"} 2"#,
                "minilab_queue_wait_seconds_sum 20.2",
            ]))
    }

    @Test func `memory is told as it is, and its waits as they were`() {
        let text = worker(
            telling: [
                .render(.memory(MemoryFigures(budgetBytes: 100, grantedBytes: 60, waiting: 2))),
                .render(.memory(MemoryFigures(budgetBytes: 100, grantedBytes: 40, waiting: 1))),
                .render(.granted(bytes: 60, waited: .zero, passed: 0)),
                .render(.granted(bytes: 40, waited: .seconds(20), passed: 3)),
                .pausesClaims(true),
            ])
        #expect(
            lines(text).isSuperset(of: [
                "minilab_memory_budget_bytes 100", "minilab_memory_granted_bytes 40",
                "minilab_memory_waiting 1",
                #"minilab_memory_wait_seconds_bucket{le="0.01"} 1"#,
                "minilab_memory_wait_seconds_sum 20", "minilab_memory_wait_seconds_count 2",
                "minilab_memory_passed_total 1", "minilab_claims_held 1",
            ]))
    }

    @Test func `attempts are told by outcome, and failures by code`() {
        let text = worker(
            telling: [
                .ended(.published), .ended(.published), .ended(.failed(.noSpace)), .ended(.lost),
            ])
        #expect(
            lines(text).isSuperset(of: [
                #"minilab_attempts_total{outcome="published",code=""} 2"#,
                #"minilab_attempts_total{outcome="failed",code="noSpace"} 1"#,
                #"minilab_attempts_total{outcome="lost",code=""} 1"#,
                "minilab_leases_lost_total 1",
            ]))
    }

    @Test func `what is done because memory is short is told by step`() {
        let text = worker(
            telling: [
                .render(.pressure(.level(.holding, reading: ""))),
                .render(.pressure(.level(.pausing, reading: ""))),
                .render(.pressure(.render(.pause))), .render(.pressure(.paused(1))),
                .render(.pressure(.idleEnded(2))),
                .render(.pressure(.level(.requeueing, reading: ""))),
                .render(.pressure(.render(.requeue))),
                .ended(.requeued), .render(.pressure(.level(.pausing, reading: ""))),
            ])
        #expect(
            lines(text).isSuperset(of: [
                "minilab_memory_pressure_level 3", "minilab_memory_paused 1",
                "minilab_memory_requeued_total 1",
                #"minilab_memory_pressure_steps_total{step="pausing"} 2"#,
                #"minilab_memory_pressure_steps_total{step="paused"} 1"#,
                #"minilab_memory_pressure_steps_total{step="requeued"} 1"#,
                #"minilab_memory_pressure_steps_total{step="idle_ended"} 2"#,
                #"minilab_attempts_total{outcome="requeued",code=""} 1"#,
            ]))
    }

    @Test func `what does not confine children on this machine is told`() {
        let gap = Confinement.Gap(.files, "Landlock: Function not implemented")
        let text = worker(telling: [.render(.confined(Confinement(gaps: [gap])))])
        #expect(
            lines(text).isSuperset(of: [
                #"minilab_child_confined{measure="files"} 0"#,
                #"minilab_child_confined{measure="calls"} 1"#,
            ]))
    }

    @Test func `libraries, and formats that they fail in, are told`() {
        let text = worker(telling: [
            .render(.libraries([LibraryVersion(name: "libvips", version: "8.14.1")])),
            .render(.formats(FormatGaps([.heic: "it is gone"]))),
        ])
        #expect(
            lines(text).isSuperset(of: [
                #"minilab_library_info{library="libvips",version="8.14.1"} 1"#,
                #"minilab_format_works{format="heic"} 0"#,
                #"minilab_format_works{format="avif"} 1"#,
            ]))
    }

    @Test func `deaths of children are told by their cause, crashes by the name of the signal`() {
        let text = worker(
            telling: [
                .render(.childStarts), .render(.childEnded(.signalled(11))),
                .render(.childEnded(.killed(forMemory: true))),
                .render(.childEnded(.exited(0))), .render(.childEnded(.outOfMemory)),
                .render(.childEnded(.timedOut(.seconds(1)))),
            ])
        #expect(
            lines(text).isSuperset(of: [
                "minilab_child_starts_total 1", #"minilab_child_ends_total{cause="SIGSEGV"} 1"#,
                #"minilab_child_ends_total{cause="oom_killed"} 1"#,
                #"minilab_child_ends_total{cause="finished"} 1"#,
                #"minilab_child_ends_total{cause="out_of_memory"} 1"#,
                #"minilab_child_ends_total{cause="timed_out"} 1"#,
            ]))
    }

    @Test func `renders are told in base units, by lane, small ones apart`() throws {
        let text = try worker(
            telling: [
                rendered(.planes, wall: 120, isFull: true),
                rendered(.stream, wall: 20, isFull: false),
            ])
        #expect(
            lines(text).isSuperset(of: [
                #"minilab_render_seconds_sum{size="full",lane="planes"} 0.12"#,
                #"minilab_render_seconds_count{size="small",lane="stream"} 1"#,
                #"minilab_render_cpu_seconds_total{size="full"} 0.06"#,
                "minilab_render_memory_bytes_sum 100000000",
            ]))
    }

    @Test func `what full-size renders need is compared with what was estimated`() throws {
        let text = try worker(
            telling: [
                rendered(.planes, wall: 1, isFull: true, estimate: 62_500_000),
                rendered(.planes, wall: 1, isFull: true, estimate: 40_000_000),
                rendered(.planes, wall: 1, isFull: true, estimate: 0),
                rendered(.planes, wall: 1, isFull: false, estimate: 1),
            ])
        #expect(
            lines(text).isSuperset(of: [
                #"minilab_render_memory_ratio_bucket{lane="planes",le="0.7"} 0"#,
                #"minilab_render_memory_ratio_bucket{lane="planes",le="0.8"} 1"#,
                #"minilab_render_memory_ratio_sum{lane="planes"} 2.05"#,
                #"minilab_render_memory_over_estimate_total{lane="planes"} 1"#,
            ]))
    }

    /// A render's event.
    private func rendered(
        _ lane: RenderPlan.Lane, wall: Double, isFull: Bool, estimate: Int = 0
    ) throws -> WorkerEvent {
        let size = PixelSize(width: 4, height: 3)
        let header = PhotoHeader(
            format: .jpeg, storedSize: size, orientation: 1, bands: 3, bitsPerSample: 8,
            hasAlpha: false, hasProfile: false)
        let plan = RenderPlan(
            lane: lane, orientation: 1, resultSize: size, passes: [],
            output: OutputPlan(
                format: .jpeg, quality: 0.9, chroma: .full, progressive: false, bitDepth: .eight,
                keepsAlpha: false, background: .white, colorSpace: .source, strip: .none))
        return .render(
            .rendered(
                RenderUse(
                    wallMilliseconds: wall, cpuMilliseconds: wall / 2, peakMemoryBytes: 50_000_000),
                Inspection(
                    header: header, recipe: try Recipe(filters: []), plan: plan,
                    memoryBytes: estimate),
                isFull: isFull))
    }
}
