import CHostile
import Glibc
import RenderProtocol
import Rendering
import Sandbox

/// What becomes of system calls in a process that is confined as a render child is: each is made by a process of its
/// own, forked from one that has prepared, as a zygote does.
struct Probes {
    /// Highest number that is tried, far above those of any kernel so far.
    private static let numberMax = 600
    /// A call that waits is ended by a signal.
    private static let secondsMax: UInt32 = 5

    /// Prints a line for each: its number or name, and `done`, the error's number, or `signal` and its number.
    func run() {
        let prepared = ConfinedProcess.prepare()
        for gap in prepared { print("gap \(gap.measure.rawValue) \(gap.reason)") }
        print("libvips", Self.startLibvips() ? "done" : "\(ENOEXEC)")
        for number in 0...Self.numberMax {
            report("\(number)") { hostile_call(number, [-1, -1, -1, -1, -1, -1]) }
        }
        for (name, call) in Self.named { report(name, call) }
    }

    /// Prints what preparing takes, by the clock; and the processor time of a process forked then that ends at once, and of
    /// one that enters before.
    func measure() {
        let clock = ContinuousClock()
        let prepared = clock.measure { _ = ConfinedProcess.prepare() }
        print("prepare", Int(prepared / .microseconds(1)))
        print("libvips", Int(clock.measure { _ = Self.startLibvips() } / .microseconds(1)))
        for (name, enters) in [("fork", false), ("fork-and-enter", true)] {
            let before = Self.processorMicroseconds()
            for serial in 0..<Self.rounds {
                fflush(nil)
                let process = hostile_new_process()
                if process == 0 {
                    if enters { _ = ConfinedProcess.enter(serial: serial) }
                    _exit(0)
                }
                waitpid(process, nil, 0)
            }
            print(name, (Self.processorMicroseconds() - before) / Self.rounds)
        }
    }

    /// As a zygote does when it has prepared; libraries and modules are found, or not.
    private static func startLibvips() -> Bool {
        do {
            try Renderer().reserveCode()
            return true
        } catch {
            print("gap libvips \(error)")
            return false
        }
    }

    private static let rounds = 200

    /// Of this process and those that it waited for.
    private static func processorMicroseconds() -> Int {
        [RUSAGE_SELF.rawValue, RUSAGE_CHILDREN.rawValue].reduce(0) { sum, whose in
            var usage = rusage()
            getrusage(__rusage_who_t(whose), &usage)
            return sum + (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000_000
                + Int(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
        }
    }

    /// Prints what a call answers in a confined process.
    private func report(_ name: String, _ call: () -> Int) {
        fflush(nil)
        let process = hostile_new_process()
        guard process != 0 else {
            alarm(Self.secondsMax)
            let gaps = ConfinedProcess.enter(serial: 1)
            // Not confined at all: nothing may be tried.
            guard !gaps.contains(where: { $0.measure == .calls }) else { _exit(EOWNERDEAD) }
            let result = call()
            _exit(result < 0 ? Int32(-result) : 0)
        }
        var status: Int32 = 0
        waitpid(process, &status, 0)
        let signal = status & 0x7F
        let code = (status >> 8) & 0xFF
        print(name, signal != 0 ? "signal \(signal)" : code == 0 ? "done" : "\(code)")
    }

    private static func call(_ number: Int32, _ arguments: Int...) -> Int {
        hostile_call(
            Int(number), arguments + Array(repeating: 0, count: 6 - arguments.count))
    }

    private static let page = 4096
    private static let privateMemory = Int(MAP_PRIVATE | MAP_ANONYMOUS)

    /// By the name of what is tried.
    private static var named: [(String, () -> Int)] {
        [
            ("fork", { hostile_fork() < 0 ? -Int(errno) : 0 }),
            ("thread", { startThread() }),
            ("clone3", { call(SYS_clone3, 0, 0) }),
            (
                "map",
                {
                    call(SYS_mmap, 0, page, Int(PROT_READ | PROT_WRITE), privateMemory, -1, 0) > 0
                        ? 0 : -1
                }
            ),
            (
                "map-executable",
                { call(SYS_mmap, 0, page, Int(PROT_READ | PROT_EXEC), privateMemory, -1, 0) }
            ),
            ("map-shared", { map(MAP_SHARED | MAP_ANONYMOUS) }),
            ("map-growing", { map(MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN) }),
            ("protect-executable", { protect() }),
            ("owner", { call(SYS_fcntl, 1, Int(F_SETOWN), Int(getppid())) }),
            ("owner-signal", { call(SYS_fcntl, 1, 10 /* F_SETSIG */, Int(SIGKILL)) }),
            ("file-status", { call(SYS_fcntl, 1, Int(F_SETFL), Int(O_NONBLOCK)) }),
            ("file-lock", { call(SYS_fcntl, 1, Int(F_SETLK), 0) }),
            ("file-flags", { call(SYS_ioctl, 1, 0x4008_6602 /* FS_IOC_SETFLAGS */, 0) }),
            ("type-into-terminal", { call(SYS_ioctl, 0, 0x5412 /* TIOCSTI */, 0) }),
            ("fchmodat2", { call(452, -100, 0, 0o4777, 0) }),
            ("setxattrat", { call(463, -100, 0, 0, 0, 0, 0) }),
            ("file_setattr", { call(469, -100, 0, 0, 0, 0) }),
            ("worker-scheduler", { call(SYS_sched_setscheduler, Int(getppid()), 0, 0) }),
            ("worker-processors", { call(SYS_sched_setaffinity, Int(getppid()), 0, 0) }),
            ("worker-signal", { call(SYS_kill, Int(getppid()), 0) }),
            ("worker-thread-signal", { call(SYS_tgkill, Int(getppid()), Int(getppid()), 0) }),
            ("every-signal", { call(SYS_kill, -1, 0) }),
            ("own-signal", { call(SYS_kill, Int(getpid()), 0) }),
            (
                "worker-limit",
                { call(SYS_prlimit64, Int(getppid()), Int(RLIMIT_NOFILE.rawValue), 0, 0) }
            ),
            ("own-limit", { setOwnLimit() }),
            ("name", { prctlName() }),
            ("parent-death", { call(SYS_prctl, Int(PR_SET_PDEATHSIG), 0) }),
            ("dumpable", { call(SYS_prctl, 4 /* PR_SET_DUMPABLE */, 1) }),
            ("merge-memory", { call(SYS_madvise, 0, 0, Int(MADV_MERGEABLE)) }),
            ("receive", { call(SYS_recvmsg, 0, 0, 0) }),
            ("open-to-write", { open("/dev/null", O_WRONLY) < 0 ? -Int(errno) : 0 }),
            ("open-library", { open("/usr/share", O_RDONLY) < 0 ? -Int(errno) : 0 }),
            ("open-passwd", { open("/etc/passwd", O_RDONLY) < 0 ? -Int(errno) : 0 }),
            ("see-passwd", { see("/etc/passwd") }),
            ("be-root", { geteuid() == 0 ? 0 : -Int(EPERM) }),
            ("crash", { Int(raise(SIGSEGV)) }),
            ("exec", { call(SYS_execve, 0, 0, 0) }),
            ("socket", { Int(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)) }),
        ]
    }

    private static func startThread() -> Int {
        var thread = pthread_t()
        let result = pthread_create(&thread, nil, { _ in nil }, nil)
        return result == 0 ? -Int(pthread_join(thread, nil)) : -Int(result)
    }

    private static func map(_ flags: Int32) -> Int {
        min(0, call(SYS_mmap, 0, page, Int(PROT_READ | PROT_WRITE), Int(flags), -1, 0))
    }

    private static func protect() -> Int {
        let memory = call(SYS_mmap, 0, page, Int(PROT_READ | PROT_WRITE), privateMemory, -1, 0)
        return call(SYS_mprotect, memory, page, Int(PROT_READ | PROT_EXEC))
    }

    private static func setOwnLimit() -> Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit)
        return setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit) < 0 ? -Int(errno) : 0
    }

    private static func prctlName() -> Int {
        "decoder".withCString { call(SYS_prctl, 15 /* PR_SET_NAME */, Int(bitPattern: $0)) }
    }

    private static func see(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) < 0 ? -Int(errno) : 0
    }
}
