import FoundationEssentials
import Glibc

/// What the process has used since a moment.
struct ProcessUsage {
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private let cpuStart: Double

    /// Starts to count, and forgets the highest resident set so far.
    init() {
        start = clock.now
        cpuStart = Self.cpuMilliseconds()
        Self.resetPeak()
    }

    /// Time since the start, in milliseconds.
    var wallMilliseconds: Double { (clock.now - start) / .milliseconds(1) }

    /// Processor time of all threads since the start, in milliseconds.
    var cpuMilliseconds: Double { Self.cpuMilliseconds() - cpuStart }

    /// Highest resident set since the start, in bytes; 0 when the kernel does not say.
    var peakMemoryBytes: Int {
        // Without /proc there is no number; a render does not fail for that.
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first
        else { return 0 }
        return (Int(kilobytes) ?? 0) * 1024
    }

    private static func cpuMilliseconds() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func milliseconds(_ time: timeval) -> Double {
            Double(time.tv_sec) * 1000 + Double(time.tv_usec) / 1000
        }
        return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime)
    }

    /// Sets VmHWM to what is resident now (proc(5), clear_refs, value 5).
    private static func resetPeak() {
        let descriptor = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
        // Without it the peak is that of the process so far: too high, never too low.
        guard descriptor >= 0 else { return }
        write(descriptor, "5", 1)
        close(descriptor)
    }
}
