import CMinilab
import Glibc
import RenderProtocol

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

/// Private copies of resources that the machine has once: mounts, network, message queues, host names (namespaces(7)).
///
/// A process namespace is not used: the process for a photo would be its init process, and the kernel drops SIGABRT and SIGXCPU
/// that an init process raises itself. The worker could then not tell how a decoder died.
enum Namespaces {
    /// Enters the namespaces that the kernel grants. The process must have one thread.
    ///
    /// - Parameters:
    ///   - asRoot: whether the process runs as root. Any other user needs a user namespace to be granted the others.
    ///   - files: what its root shows.
    /// - Returns: the namespaces that the kernel does not grant.
    static func enter(asRoot: Bool, _ files: SystemFiles) -> [Confinement.Gap] {
        var gaps: [Confinement.Gap] = []
        do throws(SystemRefusal) {
            if !asRoot { try UserNamespace.enter() }
        } catch {
            let measures: [Confinement.Measure] = [
                .networkNamespace, .ipcNamespace, .mountNamespace,
            ]
            return measures.map { Confinement.Gap($0, error.description) }
        }
        gaps.attempt(.networkNamespace) { () throws(SystemRefusal) in try unshare(CLONE_NEWNET) }
        gaps.attempt(.ipcNamespace) { () throws(SystemRefusal) in
            try unshare(CLONE_NEWIPC | CLONE_NEWUTS)
        }
        gaps.attempt(.mountNamespace) { () throws(SystemRefusal) in
            try unshare(CLONE_NEWNS)
            try SystemRoot.enter(files)
        }
        return gaps
    }

    fileprivate static func unshare(_ what: Int32) throws(SystemRefusal) {
        try SystemRefusal.check(minilab_unshare(what), "unshare \(String(what, radix: 16))")
    }
}

/// A user namespace with a single user, whose rights count only inside it.
private enum UserNamespace {
    /// The user id inside the namespace: "nobody".
    private static let nobody = 65_534

    /// Whether the kernel counts the threads of each user namespace alone.
    private static var countsThreads: Bool {
        var name = utsname()
        guard uname(&name) == 0 else { return false }
        let release = withUnsafeBytes(of: name.release) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        return !numbers.lexicographicallyPrecedes([5, 14])
    }

    static func enter() throws(SystemRefusal) {
        let (user, group) = (geteuid(), getegid())
        try Namespaces.unshare(CLONE_NEWUSER)
        // Without this line, no group can be mapped (user_namespaces(7)).
        try ProcessTraits.write("deny", to: "/proc/self/setgroups")
        try ProcessTraits.write("\(nobody) \(user) 1", to: "/proc/self/uid_map")
        try ProcessTraits.write("\(nobody) \(group) 1", to: "/proc/self/gid_map")
        // Before Linux 5.14, the threads of the worker and of all children count (ucounts, kernel/ucount.c).
        if Self.countsThreads { try ProcessTraits.limitThreads(to: Confinement.threadsMax) }
    }
}

/// A root folder that holds only ``SystemFiles``, read-only. Names and sizes of other files are invisible.
enum SystemRoot {
    /// The mount point of the new root. Its former content is hidden.
    private static let directory = "/tmp"

    /// Builds the folder and makes it the root. The process must have a mount namespace of its own.
    static func enter(_ files: SystemFiles) throws(SystemRefusal) {
        try SystemRefusal.check(minilab_keep_mounts_private(), "mount --make-rprivate /")
        try SystemRefusal.check(minilab_mount_empty(directory), "mount tmpfs")
        do throws(SystemRefusal) {
            for path in files.readable + files.writable { try show(path) }
            try SystemRefusal.check(minilab_make_read_only(directory), "mount_setattr")
            try SystemRefusal.check(minilab_change_root(directory), "pivot_root")
        } catch {
            minilab_unmount(directory)
            throw error
        }
    }

    /// Binds a file or folder of the old root to the same path in the new root.
    private static func show(_ path: String) throws(SystemRefusal) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw SystemRefusal(path)
        }
        let shown = directory + path
        try makeParents(of: shown)
        switch status.st_mode & S_IFMT {
        case S_IFLNK:
            // A symbolic link, such as Debian's /lib: its target is bound too.
            try SystemRefusal.check(symlink(try target(of: path), shown), shown)
        case S_IFDIR:
            // The folder may exist already as the parent of another.
            if mkdir(shown, 0o755) < 0, errno != EEXIST { throw SystemRefusal(shown) }
            try SystemRefusal.check(minilab_bind(path, shown), "mount --bind \(path)")
        default:
            let file = try SystemRefusal.check(
                open(shown, O_WRONLY | O_CREAT | O_CLOEXEC, 0o444), shown)
            close(file)
            try SystemRefusal.check(minilab_bind(path, shown), "mount --bind \(path)")
        }
    }

    private static func makeParents(of path: String) throws(SystemRefusal) {
        for (index, letter) in zip(path.indices, path)
        where letter == "/" && index > path.startIndex {
            if mkdir(String(path[..<index]), 0o755) < 0, errno != EEXIST {
                throw SystemRefusal(path)
            }
        }
    }

    private static func target(of link: String) throws(SystemRefusal) -> String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        if count < 0 { throw SystemRefusal(link) }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The system's files that libraries read while they run.
struct SystemFiles: Sendable {
    let readable: [String]
    let writable: [String]

    static let none = SystemFiles(readable: [], writable: [])
    static let photos = SystemFiles(readable: photoLibraries, writable: ["/dev/null"])

    private static let photoLibraries = [
        // Libraries and libvips' modules; fonts for the labels of contact sheets.
        "/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib", "/etc/ld.so.cache",
        "/usr/share", "/usr/local/share/fonts", "/etc/fonts", "/var/cache/fontconfig",
        // The number of processors, and the memory policy.
        "/sys/devices/system", "/proc/cpuinfo", "/proc/meminfo", "/proc/sys/vm/overcommit_memory",
        "/dev/urandom",
    ]
}
