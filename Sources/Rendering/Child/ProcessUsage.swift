import Files
import Glibc

/// The process's resource usage, as the kernel counts it for its limits.
enum ProcessUsage {
    /// The current memory that counts for RLIMIT_DATA, in bytes; nil if the kernel does not report it.
    static var dataBytes: Int? { status?.bytes("VmData") }

    /// The processor time that the kernel counts for RLIMIT_CPU, in seconds.
    ///
    /// After minutes of work it may differ from getrusage(2) by seconds. On kernels that count ticks (CONFIG_TICK_CPU_ACCOUNTING),
    /// the limit is compared with the ticks (check_process_timers in kernel/time/posix-cpu-timers.c), while getrusage uses the
    /// scheduler's clock. A warm child was killed for a header that it read in milliseconds.
    static var limitedSeconds: Double {
        // CPUCLOCK_PROF of the calling process: (~0 << 3) | 0, in the encoding of clock_getcpuclockid(3).
        let clock: clockid_t = -8
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Opens the kernel's status file of the process and keeps it open: a confined process cannot open it any more.
    static func openFiles() { _ = status }

    private static let status = ProcessStatus("self")
}
