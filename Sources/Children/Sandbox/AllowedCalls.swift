import CMinilab
import Glibc

/// The system calls that rendering makes. All others fail with ENOSYS, as on an older kernel; some kill the process.
///
/// Collected with strace over all formats, lanes and outcomes of a render, in release and debug builds, on one thread and several.
/// Libraries have a fallback for each call that is missing here.
struct AllowedCalls {
    let rules: [CallRule]

    /// - Parameter process: the id of this process, which may be sent signals.
    init(process: UInt32) {
        rules =
            Self.deadly.map { CallRule($0, .kill) }
            + (Self.memory + Self.threads + Self.clocks + Self.descriptors + Self.paths
            + Self.itself)
            .map { CallRule($0) }
            + Self.checked(process: process)
    }

    // MARK: Calls that no library makes, not even as a probe

    /// Calls that kill the process: one of them means that the process was taken over.
    static let deadly: [Int32] =
        [
            // Start a program.
            SYS_execve, SYS_execveat,
            // The network and other programs.
            SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4,
            SYS_sendto, SYS_sendmsg, SYS_sendmmsg,
            // Look into other processes, and write there.
            SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd,
            // Large parts of the kernel, each with a history of vulnerabilities.
            SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, SYS_userfaultfd,
            SYS_perf_event_open, SYS_bpf, SYS_add_key, SYS_request_key, SYS_keyctl,
            // Change the kernel or the system.
            SYS_kexec_load, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_mount,
            SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, SYS_reboot, SYS_swapon,
            SYS_swapoff,
        ] + older

    #if arch(x86_64)
        private static let older: [Int32] = [SYS_kexec_file_load, SYS_uselib]
    #else
        private static let older: [Int32] = []
    #endif

    // MARK: Allowed with any arguments

    private static let memory: [Int32] = [SYS_brk, SYS_munmap, SYS_mremap]
    private static let threads: [Int32] = [
        SYS_futex, SYS_set_robust_list, SYS_rseq, SYS_set_tid_address, SYS_gettid, SYS_sched_yield,
        SYS_sched_getaffinity, SYS_getcpu, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
        SYS_sigaltstack, SYS_restart_syscall, SYS_exit, SYS_exit_group,
    ]
    private static let clocks: [Int32] = [
        SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_clock_nanosleep, SYS_nanosleep,
    ]
    /// Calls on open descriptors. `fstat` and its relatives change nothing; calls that set modes, owners and attributes are not in
    /// this list.
    private static let descriptors: [Int32] =
        [
            SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_lseek,
            SYS_close, SYS_dup, SYS_fstat, SYS_fstatfs, SYS_ftruncate, SYS_fallocate, SYS_fsync,
            SYS_fdatasync, SYS_sync_file_range, SYS_fadvise64, SYS_ppoll, SYS_getdents64,
        ] + olderDescriptors
    /// Calls that only read metadata of paths. Landlock and the mount namespace decide which paths are visible.
    private static let paths: [Int32] =
        [
            SYS_newfstatat, SYS_statx, SYS_statfs, SYS_faccessat, SYS_faccessat2, SYS_readlinkat,
            SYS_getcwd,
        ] + olderPaths
    private static let itself: [Int32] = [
        SYS_getpid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getrusage,
        SYS_getrandom, SYS_uname, SYS_sysinfo,
    ]

    #if arch(x86_64)
        private static let olderDescriptors: [Int32] = [SYS_poll]
        private static let olderPaths: [Int32] = [SYS_access, SYS_readlink, SYS_stat, SYS_lstat]
    #else
        private static let olderDescriptors: [Int32] = []
        private static let olderPaths: [Int32] = []
    #endif

    // MARK: Allowed with some arguments

    private static func checked(process: UInt32) -> [CallRule] {
        [
            // Executable code is mapped only by loading libraries, before this filter. The memory for the code that orc compiles is
            // already mapped.
            CallRule(
                SYS_mmap, when: .argument(2, hasNone: UInt32(PROT_EXEC)),
                .argument(3, isOneOf: countedMaps, of: uncountedFlags)),
            CallRule(SYS_mprotect, when: .argument(2, hasNone: UInt32(PROT_EXEC))),
            CallRule(SYS_madvise, when: .argument(2, isOneOf: advice), otherwise: .refuse(EINVAL)),
            CallRule(SYS_clone, when: .argument(0, has: threadFlags, of: cloneFlags)),
            CallRule(SYS_fcntl, when: .argument(1, isOneOf: commands)),
            CallRule(SYS_prctl, when: .argument(0, isOneOf: options), otherwise: .refuse(EINVAL)),
            // The C library asks whether a stream is a terminal; none is.
            CallRule(SYS_ioctl, .refuse(ENOTTY)),
            CallRule(SYS_kill, when: .argument(0, isOneOf: [process])),
            CallRule(SYS_tgkill, when: .argument(0, isOneOf: [process])),
            // The process's own limits, which are set again for each request.
            CallRule(SYS_prlimit64, when: .argument(0, isOneOf: [0, process])),
            // Open by path, for reading: libraries read their tables and fonts. Landlock decides which paths.
            CallRule(
                SYS_openat, when: .argument(2, hasNone: UInt32(writing)),
                otherwise: .refuse(EACCES)),
            // Receives a request with its descriptors, only from the socket on standard input.
            CallRule(SYS_recvmsg, when: .argument(0, isOneOf: [UInt32(STDIN_FILENO)])),
        ]
    }

    /// The flags by which memory that no file has escapes RLIMIT_DATA: shared memory, and stacks that grow. A file is mapped shared or
    /// private, memory without a file private.
    private static let uncountedFlags = UInt32(MAP_SHARED | MAP_ANONYMOUS | MAP_GROWSDOWN)
    private static let countedMaps = [0, UInt32(MAP_SHARED), UInt32(MAP_ANONYMOUS)]

    /// Advice that malloc gives about memory that it keeps. MADV_MERGEABLE is excluded: it would allow guessing pixels of other
    /// processes.
    private static let advice: [UInt32] = [
        MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED, MADV_FREE,
        MADV_HUGEPAGE, MADV_NOHUGEPAGE,
    ].map(UInt32.init)

    /// A thread shares memory, signals and identity with its process (clone(2)).
    private static let threadFlags = UInt32(CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)
    /// The checked flags: the flags above must be set, and all others, for which a thread has no use, must be clear.
    private static let cloneFlags =
        threadFlags
        | UInt32(
            CLONE_PTRACE | CLONE_VFORK | CLONE_PIDFD | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS
                | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

    /// Allowed commands. F_SETFL is excluded because it changes a description that the worker shares, F_SETOWN and F_SETSIG because
    /// they send signals to other processes, and locks because other processes wait for them.
    private static let commands: [UInt32] = [F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC].map(
        UInt32.init)

    /// PR_SET_NAME and PR_GET_NAME; PR_SET_VMA, which names a memory region.
    private static let options: [UInt32] = [15, 16, 0x5356_4d41]

    private static let temporary: Int32 = 0o20_000_000  // __O_TMPFILE
    private static let writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | temporary

    // MARK: Texts

    /// Returns the calls of a child that draws texts: no path, no thread.
    static func ofTexts(process: UInt32) -> [CallRule] {
        let allowed: [Int32] =
            memory
            + [
                SYS_futex, SYS_gettid, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
                SYS_restart_syscall, SYS_exit, SYS_exit_group, SYS_clock_gettime, SYS_read,
                SYS_write, SYS_pread64, SYS_pwrite64, SYS_lseek, SYS_close, SYS_fstat,
                SYS_newfstatat, SYS_getpid, SYS_getrandom,
            ]
        let numbers = Set(
            [
                SYS_mmap, SYS_mprotect, SYS_madvise, SYS_tgkill, SYS_prlimit64, SYS_recvmsg,
                SYS_ioctl,
            ].map { UInt32($0) })
        return deadly.map { CallRule($0, .kill) } + allowed.map { CallRule($0) }
            + checked(process: process).filter { numbers.contains($0.number) }
    }
}
