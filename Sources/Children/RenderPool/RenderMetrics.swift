import Edits
import RenderProtocol
public import Telemetry

/// The metrics of a pool of render children and of their memory, since the process' start.
public struct RenderMetrics: Sendable {
    private let seconds: Histogram
    private let cpuSeconds: Counter
    private let memory: Histogram
    private let memoryRatio: Histogram
    private let overEstimate: Counter
    private let confined: Gauge
    private let libraries: Gauge
    private let formats: Gauge
    private let budget: Gauge
    private let granted: Gauge
    private let waiting: Gauge
    let waits: Histogram
    let passed: Counter
    let unavailable: Gauge
    let childStarts: Counter
    let childEnds: Counter
    let pressureLevel: Gauge
    let pressureSteps: Counter
    let paused: Gauge

    public init(_ all: Metrics = Metrics()) {
        seconds = all.histogram(
            "minilab_render_seconds", "Time of a render in its child, from request to answer.",
            .renders, labels: ["size", "lane"])
        cpuSeconds = all.counter(
            "minilab_render_cpu_seconds_total", "Processor time that renders used.",
            labels: ["size"])
        memory = all.histogram(
            "minilab_render_memory_bytes", "Highest resident set of a child during a render.",
            .memory)
        budget = all.gauge(
            "minilab_memory_budget_bytes", "Memory that all render children together may use.")
        granted = all.gauge(
            "minilab_memory_granted_bytes",
            "Memory of the budget that is granted to running renders.")
        waiting = all.gauge(
            "minilab_memory_waiting", "Jobs that wait until enough of the budget is free.")
        waits = all.histogram(
            "minilab_memory_wait_seconds",
            "Time from a request for memory to its grant. A job requests memory once to plan and once to render.",
            .waits)
        passed = all.counter(
            "minilab_memory_passed_total",
            "Grants to a smaller request while an earlier, larger request still waited.")
        unavailable = all.gauge(
            "minilab_children_unavailable",
            "1 while no render child can be started and no jobs are claimed.")
        memoryRatio = all.histogram(
            "minilab_render_memory_ratio",
            "Highest resident set of a child as a share of its plan's estimate, for full-size renders.",
            .ratios, labels: ["lane"])
        overEstimate = all.counter(
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
        pressureLevel = all.gauge(
            "minilab_memory_pressure_level",
            "Level of memory pressure: 0 calm, 1 holding, 2 shrinking, 3 pausing, 4 requeueing.")
        pressureSteps = all.counter(
            "minilab_memory_pressure_steps_total",
            "Steps taken because of memory pressure. step is the new level, or the action on a child.",
            labels: ["step"])
        paused = all.gauge(
            "minilab_memory_paused", "Renders that are paused because memory is short.")
    }

    /// Counts a render of all outputs of one photo.
    ///
    /// - Parameter isFull: whether the outputs include the full picture.
    func count(_ use: RenderUse, _ inspection: Inspection, isFull: Bool) {
        let (size, lane) = (isFull ? "full" : "small", inspection.plan.lane.rawValue)
        seconds.record(use.wallMilliseconds / 1000, size, lane)
        cpuSeconds.add(use.cpuMilliseconds / 1000, size)
        memory.record(Double(use.peakMemoryBytes))
        // The kernel may not report the need, and a plan may have no estimate.
        let (peak, estimate) = (use.peakMemoryBytes, inspection.memoryBytes)
        guard isFull, peak > 0, estimate > 0 else { return }
        memoryRatio.record(Double(peak) / Double(estimate), lane)
        if peak > estimate { overEstimate.add(1, lane) }
    }

    func set(_ figures: MemoryFigures) {
        budget.set(Double(figures.budgetBytes))
        granted.set(Double(figures.grantedBytes))
        waiting.set(Double(figures.waiting))
    }

    func set(_ confinement: Confinement) {
        for measure in Confinement.Measure.allCases {
            confined.set(confinement.has(measure) ? 1 : 0, measure.rawValue)
        }
    }

    func set(_ found: [LibraryVersion]) {
        for library in found { libraries.set(1, library.name, library.version) }
    }

    func set(_ gaps: FormatGaps) {
        for format in Recipe.Format.photos {
            formats.set(gaps.reasons[format] == nil ? 1 : 0, format.rawValue)
        }
    }
}
