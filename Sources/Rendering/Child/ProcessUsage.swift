import Files
import Glibc

/// What the process uses, as the kernel counts it for its limits.
enum ProcessUsage {
    /// Memory that counts for RLIMIT_DATA now, in bytes; nil when the kernel does not say.
    static var dataBytes: Int? { status?.bytes("VmData") }

    /// Processor time as the kernel counts it for RLIMIT_CPU, in seconds.
    ///
    /// It may be seconds more or less than what getrusage(2) says after minutes of work: where the kernel counts ticks
    /// (CONFIG_TICK_CPU_ACCOUNTING), that is what it compares with the limit (check_process_timers in
    /// kernel/time/posix-cpu-timers.c), while it tells time by the scheduler's clock elsewhere. A warm child was killed for
    /// a header that it read in milliseconds.
    static var limitedSeconds: Double {
        // CPUCLOCK_PROF of the caller's process: (~0 << 3) | 0, as clock_getcpuclockid(3) makes others.
        let clock: clockid_t = -8
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Opens the kernel's file of the process, for good: a confined process cannot open it any more.
    static func openFiles() { _ = status }

    private static let status = ProcessStatus("self")
}
