import CMinilab
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@testable import Rendering
@testable import Sandbox

/// Every system call, tried in real confined processes, against the list that was reviewed.
@Suite("System calls of a confined process", .timeLimit(.minutes(10))) struct CallTests {
    /// What became of a call.
    private enum Outcome: Equatable {
        case done
        case error(Int32)
        case signal(Int32)

        init?(_ fields: ArraySlice<Substring>) {
            switch (fields.first, fields.dropFirst().first.flatMap { Int32($0) }) {
            case ("done", nil): self = .done
            case ("signal", let signal?): self = .signal(signal)
            default:
                guard let error = fields.first.flatMap({ Int32($0) }) else { return nil }
                self = .error(error)
            }
        }
    }

    /// Outcomes by number or name, and measures that this kernel does not grant.
    private struct Report {
        private(set) var outcomes: [String: Outcome] = [:]
        private(set) var gaps: Set<String> = []

        init() throws {
            let process = Process()
            process.executableURL = URL(filePath: try Programs.path(of: "minilab-hostile-child"))
            process.arguments = ["probes"]
            let output = Pipe()
            process.standardOutput = output
            try LastingThread.shared.run { try process.run() }
            let text = String(
                decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            for line in text.split(separator: "\n") {
                let fields = line.split(separator: " ")
                if fields.first == "gap", fields.count > 1 {
                    gaps.insert(String(fields[1]))
                } else if let name = fields.first {
                    outcomes[String(name)] = Outcome(fields.dropFirst())
                }
            }
        }

        /// Whether calls are filtered at all.
        var isFiltered: Bool { outcomes["0"] != .error(EOWNERDEAD) }
    }

    private static let numbers = 0...600

    // MARK: The reviewed list

    /// Fail with arguments that are all ones, by a check of ours; `named` below has those that pass.
    private static let checked: [Int32: Int32] = [
        SYS_mmap: EPERM, SYS_mprotect: EPERM, SYS_madvise: EINVAL, SYS_clone: EPERM,
        SYS_fcntl: EPERM, SYS_prctl: EINVAL, SYS_ioctl: ENOTTY, SYS_kill: EPERM,
        SYS_tgkill: EPERM, SYS_prlimit64: EPERM, SYS_openat: EACCES,
        SYS_recvmsg: EPERM,
    ]

    private static let killed: Set<Int32> = [
        SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
        SYS_pidfd_getfd, SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept,
        SYS_accept4, SYS_sendto, SYS_sendmsg, SYS_sendmmsg, SYS_io_uring_setup, SYS_io_uring_enter,
        SYS_io_uring_register, SYS_userfaultfd, SYS_perf_event_open, SYS_bpf, SYS_add_key,
        SYS_request_key, SYS_keyctl, SYS_kexec_load, SYS_init_module, SYS_finit_module,
        SYS_delete_module, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare,
        SYS_setns, SYS_reboot, SYS_swapon, SYS_swapoff,
    ]

    private static let allowed: Set<Int32> = [
        SYS_brk, SYS_munmap, SYS_mremap, SYS_set_robust_list, SYS_rseq,
        SYS_set_tid_address, SYS_gettid, SYS_sched_yield, SYS_sched_getaffinity, SYS_getcpu,
        SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_sigaltstack, SYS_restart_syscall,
        SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_clock_nanosleep, SYS_nanosleep,
        SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_lseek, SYS_close,
        SYS_dup, SYS_fstat, SYS_fstatfs, SYS_ftruncate, SYS_fallocate, SYS_fsync, SYS_fdatasync,
        SYS_sync_file_range, SYS_fadvise64, SYS_ppoll, SYS_getdents64, SYS_newfstatat, SYS_statx,
        SYS_statfs, SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_getcwd, SYS_getpid,
        SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getrusage,
        SYS_getrandom, SYS_uname, SYS_sysinfo,
    ]

    /// Allowed, and the kernel itself says ENOSYS to such arguments; the probe "thread" waits by it.
    private static let unknownToKernel: Int32 = SYS_futex

    /// Allowed, and end the process that makes them with such arguments.
    private static let ending: Set<Int32> = [SYS_exit, SYS_exit_group, SYS_rt_sigreturn]

    #if arch(x86_64)
        private static let olderKilled: Set<Int32> = [SYS_kexec_file_load, SYS_uselib]
        private static let olderAllowed: Set<Int32> = [
            SYS_poll, SYS_access, SYS_readlink, SYS_stat, SYS_lstat,
        ]
        /// uretprobe and uprobe: the kernel asks no filter about them (__secure_computing in kernel/seccomp.c, Linux
        /// 6.14), and ends a process that calls them from anywhere but a probe of the kernel's own.
        private static let passedOver: Set<Int32> = [335, 336]
    #else
        private static let olderKilled: Set<Int32> = []
        private static let olderAllowed: Set<Int32> = []
        private static let passedOver: Set<Int32> = []
    #endif

    @Test func `every call up to 600 has the outcome that was reviewed`() throws {
        let report = try Report()
        guard report.isFiltered else { return }
        let allowed = Self.allowed.union(Self.olderAllowed)
        let checked = Self.checked
        let killed = Self.killed.union(Self.olderKilled)
        let passedOver = Self.passedOver.union([Self.unknownToKernel])
        for number in Self.numbers.map({ Int32($0) }) where !passedOver.contains(number) {
            let outcome = try #require(report.outcomes["\(number)"], "\(number)")
            if Self.ending.contains(number) {
                #expect(outcome != .done && outcome != .error(ENOSYS), "\(number)")
            } else if killed.contains(number) {
                #expect(outcome == .signal(SIGSYS), "\(number)")
            } else if let error = checked[number] {
                #expect(outcome == .error(error), "\(number)")
            } else if allowed.contains(number) {
                let refusals: [Outcome] = [.error(ENOSYS), .error(EPERM), .signal(SIGSYS)]
                #expect(!refusals.contains(outcome), "\(number): \(outcome)")
            } else {
                #expect(outcome == .error(ENOSYS), "\(number)")
            }
        }
    }

    /// By the name that the hostile child gives it.
    private static let named: [String: Outcome] = [
        "fork": .error(EPERM), "thread": .done, "clone3": .error(ENOSYS), "map": .done,
        "map-executable": .error(EPERM), "protect-executable": .error(EPERM),
        // Memory that RLIMIT_DATA does not count.
        "map-shared": .error(EPERM), "map-growing": .error(EPERM),
        "owner": .error(EPERM), "owner-signal": .error(EPERM), "file-status": .error(EPERM),
        "file-lock": .error(EPERM), "file-flags": .error(ENOTTY),
        "type-into-terminal": .error(ENOTTY), "fchmodat2": .error(ENOSYS),
        "setxattrat": .error(ENOSYS), "file_setattr": .error(ENOSYS),
        "worker-scheduler": .error(ENOSYS), "worker-processors": .error(ENOSYS),
        "worker-signal": .error(EPERM), "worker-thread-signal": .error(EPERM),
        "every-signal": .error(EPERM), "own-signal": .done, "worker-limit": .error(EPERM),
        "own-limit": .done, "name": .done, "parent-death": .error(EINVAL),
        "dumpable": .error(EINVAL), "merge-memory": .error(EINVAL), "receive": .error(ENOTSOCK),
        "open-to-write": .error(EACCES), "open-library": .done, "crash": .signal(SIGSEGV),
        "libvips": .done, "exec": .signal(SIGSYS), "socket": .signal(SIGSYS),
    ]

    @Test func `a call is judged by its arguments where they matter`() throws {
        let report = try Report()
        guard report.isFiltered else { return }
        for (name, expected) in Self.named { #expect(report.outcomes[name] == expected, "\(name)") }
        // Where the kernel grants no mounts, Landlock denies reading, and names can be seen.
        if report.gaps.contains(Confinement.Measure.mountNamespace.rawValue) {
            #expect(report.outcomes["open-passwd"] == .error(EACCES))
        } else {
            #expect(report.outcomes["open-passwd"] == .error(ENOENT))
            #expect(report.outcomes["see-passwd"] == .error(ENOENT))
        }
        #expect(report.outcomes["be-root"] == .error(EPERM))
    }
}

@Suite("Rules for system calls") struct CallRuleTests {
    @Test func `a number has one rule, which a filter can jump over`() {
        let rules = AllowedCalls(process: 7).rules
        #expect(Set(rules.map(\.number)).count == rules.count)
        // BPF_MAXINSNS of the kernel.
        #expect(CallFilter(rules).program.count < 4096)
    }

    @Test func `requests are received from standard input alone`() {
        let rule = AllowedCalls(process: 7).rules.first { $0.number == UInt32(SYS_recvmsg) }
        #expect(rule?.tests == [.argument(0, isOneOf: [0])])
    }

    @Test func `users of children are of the range, and follow each other`() {
        #expect(OwnUser(serial: 0).number == OwnUser.range.lowerBound)
        #expect(OwnUser(serial: 1).number == OwnUser.range.lowerBound + 1)
        #expect(OwnUser(serial: OwnUser.range.count) == OwnUser(serial: 0))
        for serial in [-1, Int.min, .max, 12_345] {
            #expect(OwnUser.range.contains(OwnUser(serial: serial).number))
        }
    }
}

@Suite("Required confinement") struct RequiredConfinementTests {
    @Test func `without a second wall photos are rendered`() {
        let welcome = Set(Confinement.Measure.allCases).subtracting(Confinement.required)
        let confinement = Confinement(gaps: welcome.map { .init($0, "not here") })
        #expect(confinement.shortfall == nil)
        #expect(Confinement().shortfall == nil)
    }

    @Test(arguments: Confinement.required)
    func `without a required measure nothing is rendered, and a sentence says why`(
        measure: Confinement.Measure
    ) throws {
        let gaps = [
            Confinement.Gap(.networkNamespace, "not granted"),
            .init(measure, "Landlock: not implemented"),
        ]
        let shortfall = try #require(Confinement(gaps: gaps).shortfall)
        #expect(shortfall.gaps == [gaps[1]])
        #expect(shortfall.description.contains("\(measure.rawValue) (Landlock: not implemented)"))
        #expect(shortfall.description.contains("--require-confinement"))
    }
}
