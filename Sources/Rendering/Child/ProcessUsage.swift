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
        cpuStart = Self.cpuSeconds
        Self.resetPeak()
    }

    /// Time since the start, in milliseconds.
    var wallMilliseconds: Double { (clock.now - start) / .milliseconds(1) }

    /// Processor time of all threads since the start, in milliseconds.
    var cpuMilliseconds: Double { (Self.cpuSeconds - cpuStart) * 1000 }

    /// Highest resident set since the start, in bytes; 0 when the kernel does not say.
    var peakMemoryBytes: Int { Self.status("VmHWM:") ?? 0 }

    /// Memory that counts for RLIMIT_DATA now, in bytes; nil when the kernel does not say.
    static var dataBytes: Int? { status("VmData:") }

    /// Processor time of all threads of the process, in seconds.
    static var cpuSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double {
            Double(time.tv_sec) + Double(time.tv_usec) / 1e6
        }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// Processor time as the kernel counts it for RLIMIT_CPU, in seconds.
    ///
    /// It may be seconds more or less than ``cpuSeconds`` after minutes of work: where the kernel counts ticks
    /// (CONFIG_TICK_CPU_ACCOUNTING), that is what it compares with the limit (check_process_timers in
    /// kernel/time/posix-cpu-timers.c), while it tells time by the scheduler's clock elsewhere. A warm child was killed for
    /// a header that it read in milliseconds.
    static var limitedSeconds: Double {
        // CPUCLOCK_PROF of the caller's process: (~0 << 3) | 0, as clock_getcpuclockid(3) makes others.
        let clock: clockid_t = -8
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return cpuSeconds }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Opens the kernel's files of the process, for good: a confined process cannot open them any more.
    static func openFiles() { _ = files }

    private static let files = (
        status: open("/proc/self/status", O_RDONLY | O_CLOEXEC),
        clearing: open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
    )

    private static let statusBytesMax = 8192

    /// A line of proc(5)'s status, which gives kilobytes.
    private static func status(_ name: String) -> Int? {
        var bytes = [UInt8](repeating: 0, count: statusBytesMax)
        // Without /proc there is no number; a render does not fail for that.
        let count = pread(files.status, &bytes, bytes.count, 0)
        guard count > 0,
            let line = String(decoding: bytes[..<count], as: UTF8.self)
                .split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first
        else { return nil }
        return Int(kilobytes).map { $0 * 1024 }
    }

    /// Sets VmHWM to what is resident now (proc(5), clear_refs, value 5). Without it the peak is that of the
    /// process so far: too high, never too low.
    private static func resetPeak() { _ = pwrite(files.clearing, "5", 1, 0) }
}
