import Edits
import Glibc
import JobQueue
import RenderPool
import RenderProtocol
public import Telemetry

/// The metrics of a worker since its start.
public struct WorkerMetrics: Sendable {
    private let all: Metrics
    private let busy: Gauge
    private let draining: Gauge
    private let claims: Counter
    private let waits: Histogram
    private let attempts: Counter
    private let leasesLost: Counter
    private let renders: Histogram
    private let renderCPU: Counter
    private let renderMemory: Histogram
    private let memoryBudget: Gauge
    private let memoryGranted: Gauge
    private let memoryWaiting: Gauge
    private let memoryWaits: Histogram
    private let memoryPassed: Counter
    private let claimsHeld: Gauge
    private let storeAway: Gauge
    private let childrenUnavailable: Gauge
    private let memoryRatio: Histogram
    private let memoryOverEstimate: Counter
    private let childStarts: Counter
    private let confined: Gauge
    private let libraries: Gauge
    private let formats: Gauge
    private let childEnds: Counter
    private let redisFailures: Counter
    private let pressureLevel: Gauge
    private let pressureSteps: Counter
    private let paused: Gauge
    private let requeued: Counter

    /// Creates metrics with the value 0.
    ///
    /// - Parameters:
    ///   - version: The version of minilab.
    ///   - worker: The worker's name, as in events and logs.
    public init(version: String, worker: String, queue: String, slots: Int) {
        let all = Metrics()
        self.all = all
        all.gauge("minilab_build_info", "The version that runs.", labels: ["version"])
            .set(1, version)
        all.gauge(
            "minilab_worker_info", "The worker's name in events and logs, and its queue.",
            labels: ["worker", "queue"]
        ).set(1, worker, queue)
        all.gauge("minilab_slots", "Jobs that the worker may process at the same time.")
            .set(Double(slots))
        busy = all.gauge(
            "minilab_slots_busy",
            "Jobs that the worker processes. With a bucket, the number can exceed its slots while files are "
                + "transferred.")
        draining = all.gauge(
            "minilab_draining", "1 when the worker was asked to stop and claims no more jobs.")
        claims = all.counter("minilab_claims_total", "Jobs that the worker has claimed.")
        waits = all.histogram(
            "minilab_queue_wait_seconds", "Time from admission of a job to its claim.", .waits)
        attempts = all.counter(
            "minilab_attempts_total",
            "Attempts that have ended. code is the reason for a failure (ops/RUNBOOK.md).",
            labels: ["outcome", "code"])
        leasesLost = all.counter(
            "minilab_leases_lost_total",
            "Jobs whose lease this worker lost to another worker while it processed them.")
        renders = all.histogram(
            "minilab_render_seconds", "Time of a render in its child, from request to answer.",
            .renders, labels: ["size", "lane"])
        renderCPU = all.counter(
            "minilab_render_cpu_seconds_total", "Processor time that renders used.",
            labels: ["size"])
        renderMemory = all.histogram(
            "minilab_render_memory_bytes", "Highest resident set of a child during a render.",
            .memory)
        memoryBudget = all.gauge(
            "minilab_memory_budget_bytes", "Memory that all render children together may use.")
        memoryGranted = all.gauge(
            "minilab_memory_granted_bytes",
            "Memory of the budget that is granted to running renders.")
        memoryWaiting = all.gauge(
            "minilab_memory_waiting", "Jobs that wait until enough of the budget is free.")
        memoryWaits = all.histogram(
            "minilab_memory_wait_seconds",
            "Time from a request for memory to its grant. A job requests memory once to plan and once to render.",
            .waits)
        memoryPassed = all.counter(
            "minilab_memory_passed_total",
            "Grants to a smaller request while an earlier, larger request still waited.")
        storeAway = all.gauge(
            "minilab_store_away",
            "1 while the library's object store or the scratch folder cannot be used and no jobs are claimed."
        )
        childrenUnavailable = all.gauge(
            "minilab_children_unavailable",
            "1 while no render child can be started and no jobs are claimed.")
        claimsHeld = all.gauge(
            "minilab_claims_held",
            "1 while no jobs are claimed because claimed jobs wait for memory.")
        memoryRatio = all.histogram(
            "minilab_render_memory_ratio",
            "Highest resident set of a child as a share of its plan's estimate, for full-size renders.",
            .ratios,
            labels: ["lane"])
        memoryOverEstimate = all.counter(
            "minilab_render_memory_over_estimate_total",
            "Full-size renders that needed more memory than their plan estimated.",
            labels: ["lane"])
        childStarts = all.counter("minilab_child_starts_total", "Render children started.")
        childEnds = all.counter(
            "minilab_child_ends_total",
            "Render children that have ended. cause is finished, cancelled, lost_lease, timed_out, cpu_limit, "
                + "file_limit, out_of_memory, oom_killed, killed, killed_or_oom, forbidden_call, not_started, "
                + "an exit code or a signal.", labels: ["cause"])
        confined = all.gauge(
            "minilab_child_confined",
            "1 for a measure that confines render children, 0 for a measure that this machine lacks (ops/RUNBOOK.md).",
            labels: ["measure"])
        libraries = all.gauge(
            "minilab_library_info", "The libraries with which render children decode and encode.",
            labels: ["library", "version"])
        formats = all.gauge(
            "minilab_format_works",
            "1 for a format that render children could write and read at startup, 0 for a format that they could "
                + "not (ops/RUNBOOK.md).",
            labels: ["format"])
        redisFailures = all.counter(
            "minilab_redis_failures_total",
            "Calls that failed because Redis did not accept or answer them.",
            labels: ["call"])
        pressureLevel = all.gauge(
            "minilab_memory_pressure_level",
            "Level of memory pressure: 0 calm, 1 holding, 2 shrinking, 3 pausing, 4 requeueing.")
        pressureSteps = all.counter(
            "minilab_memory_pressure_steps_total",
            "Steps taken because of memory pressure. step is the new level, or the action on a child.",
            labels: ["step"])
        paused = all.gauge(
            "minilab_memory_paused", "Renders that are paused because memory is short.")
        requeued = all.counter(
            "minilab_memory_requeued_total", "Jobs handed back because memory is short.")
    }

    /// Counts an event of the worker.
    public func record(_ event: WorkerEvent) {
        switch event {
        case .asksForJobs, .waitsForIdle, .reachedRedis, .beat: break
        case .missedRedis(let call, _): redisFailures.add(1, call.rawValue)
        case .drains: draining.set(1)
        case .began(let waited):
            busy.add(1)
            claims.add()
            waits.record(waited / .seconds(1))
        case .freedSlot: busy.add(-1)
        case .ended(let end):
            attempts.add(1, end.outcome, end.code)
            if end == .lost { leasesLost.add() }
            if end == .requeued { requeued.add() }
        case .render(let event): record(event)
        case .pausesClaims(let holds): claimsHeld.set(holds ? 1 : 0)
        case .store(let trouble): storeAway.set(trouble == nil ? 0 : 1)
        }
    }

    private func record(_ event: RenderEvent) {
        switch event {
        case .rendered(let use, let inspection, let isFull):
            let size = isFull ? "full" : "small"
            renders.record(use.wallMilliseconds / 1000, size, inspection.plan.lane.rawValue)
            renderCPU.add(use.cpuMilliseconds / 1000, size)
            renderMemory.record(Double(use.peakMemoryBytes))
            if isFull { compare(use.peakMemoryBytes, with: inspection) }
        case .memory(let memory):
            memoryBudget.set(Double(memory.budgetBytes))
            memoryGranted.set(Double(memory.grantedBytes))
            memoryWaiting.set(Double(memory.waiting))
        case .granted(_, let waited, let passed):
            memoryWaits.record(waited / .seconds(1))
            if passed > 0 { memoryPassed.add() }
        case .confined(let confinement):
            for measure in Confinement.Measure.allCases {
                confined.set(confinement.has(measure) ? 1 : 0, measure.rawValue)
            }
        case .libraries(let found):
            for library in found { libraries.set(1, library.name, library.version) }
        case .formats(let gaps):
            for format in Recipe.Format.photos {
                formats.set(gaps.reasons[format] == nil ? 1 : 0, format.rawValue)
            }
        case .childStarts: childStarts.add()
        case .unavailable(let trouble): childrenUnavailable.set(trouble == nil ? 0 : 1)
        case .childEnded(let end): childEnds.add(1, end.cause)
        case .pressure(let step): record(step)
        }
    }

    private func record(_ step: RenderEvent.PressureStep) {
        switch step {
        case .level(let level, _):
            pressureLevel.set(Double(level.rawValue))
            pressureSteps.add(1, "\(level)")
        case .render(let step): pressureSteps.add(1, step.rawValue)
        case .paused(let count): paused.set(Double(count))
        case .idleEnded(let count): pressureSteps.add(Double(count), "idle_ended")
        }
    }

    /// Compares the estimate of memory with the real need of a render. The kernel may not report the need, and a plan may have no
    /// estimate.
    private func compare(_ peak: Int, with inspection: Inspection) {
        let (estimate, plan) = (inspection.memoryBytes, inspection.plan)
        guard peak > 0, estimate > 0 else { return }
        memoryRatio.record(Double(peak) / Double(estimate), plan.lane.rawValue)
        if peak > estimate { memoryOverEstimate.add(1, plan.lane.rawValue) }
    }

    /// Returns all metrics with their present values.
    public func families() -> [MetricFamily] { all.families() }
}

extension WorkerEvent.AttemptEnd {
    /// The code of a failure. To Prometheus, a label without a value does not exist.
    var code: String {
        if case .failed(let code) = self { code.rawValue } else { "" }
    }
}

extension ChildDeath {
    /// The cause in an operator's terms: `finished`, `exit_70`, `SIGSEGV`.
    var cause: String {
        switch self {
        case .exited(0): "finished"
        case .exited(let code): "exit_\(code)"
        case .outOfMemory: "out_of_memory"
        case .killed(forMemory: true): "oom_killed"
        case .killed(forMemory: false): "killed"
        case .killed(forMemory: nil): "killed_or_oom"
        case .usedUpProcessor: "cpu_limit"
        case .filledDisk: "file_limit"
        case .madeForbiddenCall: "forbidden_call"
        case .untrusted: "untrusted"
        case .signalled(let signal): Self.signalName(signal)
        case .timedOut: "timed_out"
        case .cancelled: "cancelled"
        case .lostLease: "lost_lease"
        case .notStarted: "not_started"
        }
    }

    private static func signalName(_ signal: Int32) -> String {
        switch signal {
        case SIGABRT: "SIGABRT"
        case SIGBUS: "SIGBUS"
        case SIGFPE: "SIGFPE"
        case SIGILL: "SIGILL"
        case SIGKILL: "SIGKILL"
        case SIGSEGV: "SIGSEGV"
        case SIGSYS: "SIGSYS"
        case SIGTERM: "SIGTERM"
        case SIGTRAP: "SIGTRAP"
        case SIGXCPU: "SIGXCPU"
        default: "signal_\(signal)"
        }
    }
}
