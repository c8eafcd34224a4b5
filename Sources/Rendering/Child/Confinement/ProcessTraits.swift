import CConfinement
import Glibc

/// What the kernel does with this process when something goes wrong.
enum ProcessTraits {
    /// Descriptors that the process may have open: its three, and what comes along with a request: at most the photos of a
    /// contact sheet, files that edits name, results and a spool; each decoder has a duplicate of what it reads.
    static let descriptorsMax: rlim_t = 160
    /// A dump of a photo's pixels is large and private. 0 does not keep Linux from handing one to a program that
    /// gathers dumps, 1 does (fs/coredump.c), and no dump fits into one byte. PR_SET_DUMPABLE of 0 would, too, but hide
    /// from the worker how much memory the child has (proc(5), hidepid).
    private static let noDump: rlim_t = 1
    /// "Kill this one first" (proc(5), oom_score_adj).
    private static let killedFirst = "1000"

    /// Sets them.
    static func enter() throws(SystemRefusal) {
        letSignalsEndUs()
        try limit(RLIMIT_CORE, to: noDump)
        try limit(RLIMIT_NOFILE, to: descriptorsMax)
        ProcessUsage.openFiles()
        try write(killedFirst, to: "/proc/self/oom_score_adj")
        try endWithParent()
    }

    /// Sets again what the kernel takes back when a process becomes another user or enters a user namespace.
    static func afterChangeOfUser() throws(SystemRefusal) {
        try endWithParent()
        // The worker looks at what its child holds, and has the kernel forget the highest so far (proc(5)). A dump has
        // no room for a pixel.
        try SystemRefusal.check(minilab_prctl(PR_SET_DUMPABLE, 1), "PR_SET_DUMPABLE")
    }

    /// The kernel kills the process with the thread that started it; a worker starts children from one that lives as
    /// long as the worker. ``OrphanWatch`` does the same for a process that runs; this also ends one that is stopped.
    private static func endWithParent() throws(SystemRefusal) {
        try SystemRefusal.check(
            minilab_prctl(PR_SET_PDEATHSIG, UInt(SIGKILL)), "PR_SET_PDEATHSIG")
    }

    /// A process inherits the signal mask and what is ignored; the limits of a request end it by signals.
    /// Swift's own handler of crashes starts a program that prints a backtrace, which here would look like an attack.
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
