import Files
import Glibc

/// What a render took, as the worker measured it: the child is not asked.
public struct RenderUse: Sendable, Codable, Equatable {
    /// Time from request to answer, in milliseconds.
    public var wallMilliseconds: Double
    /// Processor time of all the child's threads meanwhile, in milliseconds.
    public var cpuMilliseconds: Double
    /// Highest resident set of the child meanwhile, in bytes; 0 when the kernel does not say.
    public var peakMemoryBytes: Int

    /// Records what was measured.
    public init(
        wallMilliseconds: Double = 0, cpuMilliseconds: Double = 0, peakMemoryBytes: Int = 0
    ) {
        self.wallMilliseconds = wallMilliseconds
        self.cpuMilliseconds = cpuMilliseconds
        self.peakMemoryBytes = peakMemoryBytes
    }
}

extension RenderUse {
    /// This one after another: times add up, and the higher peak counts.
    func after(_ other: RenderUse) -> RenderUse {
        RenderUse(
            wallMilliseconds: other.wallMilliseconds + wallMilliseconds,
            cpuMilliseconds: other.cpuMilliseconds + cpuMilliseconds,
            peakMemoryBytes: max(other.peakMemoryBytes, peakMemoryBytes))
    }
}

/// Measures what a child takes from a moment on.
struct ChildMeter {
    private let pid: pid_t
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private let cpuStart: Double

    /// Starts to measure, and has the kernel forget the highest resident set so far.
    init(_ pid: pid_t) {
        self.pid = pid
        start = clock.now
        cpuStart = Self.cpuSeconds(of: pid) ?? 0
        Self.forgetPeak(of: pid)
    }

    /// What it took so far.
    var use: RenderUse {
        RenderUse(
            wallMilliseconds: (clock.now - start) / .milliseconds(1),
            cpuMilliseconds: max(0, ((Self.cpuSeconds(of: pid) ?? cpuStart) - cpuStart) * 1000),
            peakMemoryBytes: ProcessStatus("\(pid)")?.bytes("VmHWM") ?? 0)
    }

    /// Processor time of a process, in seconds; nil when it is gone.
    private static func cpuSeconds(of pid: pid_t) -> Double? {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else {
            return nil
        }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Sets VmHWM to what is resident now (proc(5), clear_refs, value 5). Where the kernel does not let us, the peak is
    /// that of the process so far: too high, never too low.
    private static func forgetPeak(of pid: pid_t) {
        // It is gone, or the kernel does not let us.
        guard let file = try? OpenFile(opening: "/proc/\(pid)/clear_refs", O_WRONLY) else { return }
        try? Descriptor.write(file.descriptor, Array("5".utf8))  // likewise
    }
}
