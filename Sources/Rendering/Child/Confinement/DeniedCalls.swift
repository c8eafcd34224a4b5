import CConfinement
import Glibc

/// The system calls that a render child has no use for, by what they would let it do.
enum DeniedCalls {
    /// No library calls these, not even to see whether it may: the process was taken over, and ends.
    static let deadly = numbers(
        // Start a program.
        SYS_execve, SYS_execveat,
        // Look into other processes, and write there.
        SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
        // Change the kernel.
        SYS_kexec_load, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_bpf,
        SYS_mount, SYS_umount2, SYS_pivot_root, SYS_reboot, SYS_swapon, SYS_swapoff)

    /// These fail, as they do for many a user, and who calls them goes on.
    static let denied: [UInt32] =
        sockets + otherProcesses + attributes + namespaces + kernel + privileges + sharing + older

    /// The network and other programs.
    private static let sockets = numbers(
        SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4,
        SYS_sendto, SYS_sendmsg, SYS_sendmmsg)
    /// `kill` and its like, where no argument says that it is for ourselves.
    private static let otherProcesses = numbers(
        SYS_tkill, SYS_pidfd_open, SYS_pidfd_getfd, SYS_pidfd_send_signal, SYS_process_madvise,
        SYS_process_mrelease, SYS_kcmp, SYS_setpriority, SYS_ioprio_set, SYS_migrate_pages,
        SYS_move_pages)
    /// Landlock does not keep from changing a file's mode, owner and times.
    private static let attributes = numbers(
        SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_utimensat, SYS_setxattr,
        SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
        SYS_mknodat, SYS_symlinkat, SYS_linkat)
    private static let namespaces = numbers(
        SYS_unshare, SYS_setns, SYS_chroot, SYS_open_tree, SYS_move_mount, SYS_mount_setattr,
        SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick)
    /// Large and rarely used parts of the kernel, each with a history of holes.
    private static let kernel = numbers(
        SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register, SYS_userfaultfd,
        SYS_perf_event_open, SYS_add_key, SYS_request_key, SYS_keyctl, SYS_fanotify_init,
        SYS_fanotify_mark, SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_quotactl, SYS_acct,
        SYS_syslog, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,
        SYS_sethostname, SYS_setdomainname, SYS_personality, SYS_vhangup)
    private static let privileges = numbers(
        SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid,
        SYS_setfsuid, SYS_setfsgid, SYS_setgroups, SYS_capset, SYS_setsid, SYS_setpgid)
    /// Memory and messages that others of the same user can see.
    private static let sharing = numbers(
        SYS_shmget, SYS_shmat, SYS_shmctl, SYS_semget, SYS_semop, SYS_semctl, SYS_msgget,
        SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_mq_open, SYS_mq_unlink)

    #if arch(x86_64)
        /// Older names of what is above, and processes without clone.
        private static let older = numbers(
            SYS_fork, SYS_vfork, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes,
            SYS_futimesat, SYS_mknod, SYS_symlink, SYS_link, SYS_iopl, SYS_ioperm, SYS_modify_ldt,
            SYS_uselib, SYS_kexec_file_load)
    #else
        private static let older: [UInt32] = []
    #endif

    static let clone = UInt32(SYS_clone)
    static let clone3 = UInt32(SYS_clone3)
    static let prlimit = UInt32(SYS_prlimit64)
    /// Their first argument is a process.
    static let aimedAtProcess = numbers(
        SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo)

    private static func numbers(_ numbers: Int32...) -> [UInt32] { numbers.map(UInt32.init) }
}
