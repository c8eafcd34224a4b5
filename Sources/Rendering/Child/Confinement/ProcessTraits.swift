import CMinilab
import Glibc

/// Settings for how the kernel handles a failure of this process.
enum ProcessTraits {
    /// The highest number of open descriptors: standard input, output and error, and the files of a request: at most the photos of
    /// a contact sheet, files that edits name, outputs and a spool. Each decoder duplicates the descriptor that it reads.
    static let descriptorsMax: rlim_t = 160
    /// The limit on core dumps: a dump of a photo's pixels is large and private. With a limit of 0, Linux still pipes a dump to a
    /// collecting program; with 1 it does not (fs/coredump.c), and no dump fits into one byte. PR_SET_DUMPABLE of 0 would prevent
    /// dumps too, but would hide the child's memory usage from the worker (proc(5), hidepid).
    private static let noDump: rlim_t = 1
    /// The value for "kill this process first" (proc(5), oom_score_adj).
    private static let killedFirst = "1000"

    /// Applies the settings.
    static func enter() throws(SystemRefusal) {
        letSignalsEndUs()
        try limit(RLIMIT_CORE, to: noDump)
        try limit(RLIMIT_NOFILE, to: descriptorsMax)
        ProcessUsage.openFiles()
        try write(killedFirst, to: "/proc/self/oom_score_adj")
        try endWithParent()
    }

    /// Applies again the settings that the kernel resets when a process changes its user or enters a user namespace.
    static func afterChangeOfUser() throws(SystemRefusal) {
        try endWithParent()
        // The worker reads its child's memory usage and resets the recorded peak (proc(5)). The core limit leaves no room for a
        // pixel.
        try SystemRefusal.check(minilab_prctl(PR_SET_DUMPABLE, 1), "PR_SET_DUMPABLE")
    }

    /// Lets the kernel kill the process with the thread that started it. The worker starts children from a thread that lives as
    /// long as the worker. ``OrphanWatch`` does the same for a running process; this also kills a stopped one.
    private static func endWithParent() throws(SystemRefusal) {
        try SystemRefusal.check(
            minilab_prctl(PR_SET_PDEATHSIG, UInt(SIGKILL)), "PR_SET_PDEATHSIG")
    }

    /// Limits the threads of this process's user, for good.
    static func limitThreads(to count: Int) throws(SystemRefusal) {
        try limit(__RLIMIT_NPROC, to: rlim_t(count))
    }

    /// Restores the default signal handling. A process inherits the signal mask and ignored signals, but the limits of a request
    /// end it by signals. Swift's own crash handler starts a program that prints a backtrace, which the call filter would report as
    /// an attack.
    private static func letSignalsEndUs() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGXCPU, SIGXFSZ, SIGSEGV, SIGBUS, SIGFPE] {
            Glibc.signal(signal, SIG_DFL)
            sigaddset(&signals, signal)
        }
        sigprocmask(SIG_UNBLOCK, &signals, nil)
    }

    private static func limit(
        _ resource: __rlimit_resource, to most: rlim_t
    ) throws(SystemRefusal) {
        var limit = rlimit(rlim_cur: most, rlim_max: most)
        try SystemRefusal.check(
            setrlimit(__rlimit_resource_t(resource.rawValue), &limit), "setrlimit")
    }

    static func write(_ text: String, to path: String) throws(SystemRefusal) {
        let file = try SystemRefusal.check(open(path, O_WRONLY | O_CLOEXEC), path)
        defer { close(file) }
        let count = text.withCString { Glibc.write(file, $0, strlen($0)) }
        if count < 0 { throw SystemRefusal(path) }
    }
}
