import CMinilab
import Glibc
package import RenderProtocol

/// The confinement of a process that decodes photos or reads fonts. It is entered in two steps and never left.
///
/// The process has its photos, its outputs and everything else it needs as open descriptors. Of the file system it can read only
/// what its rights name.
package enum ConfinedProcess {
    /// Drops all rights that neither libraries nor the work needs. Call it while the process has one thread: threads started later
    /// inherit the restrictions, threads that already run would not.
    ///
    /// - Returns: the restrictions that the kernel did not grant.
    package static func prepare(_ rights: ChildRights = .photos) -> [Confinement.Gap] {
        var gaps: [Confinement.Gap] = []
        gaps.attempt(.process) { () throws(SystemRefusal) in try ProcessTraits.enter() }
        // Before Landlock, which forbids all changes of mounts.
        gaps += Namespaces.enter(asRoot: geteuid() == 0, rights.files)
        gaps.attempt(.privileges) { () throws(SystemRefusal) in try Privileges.prepare() }
        return gaps + FileRules.enter(rights.files)
    }

    /// Drops all rights that reading a photo does not need. Call it after libvips is started and every library is loaded: no code
    /// can be mapped afterwards.
    ///
    /// - Parameters:
    ///   - serial: the number of this process among those of its worker; it selects a user id of its own.
    ///   - limits: what it may use for its whole life.
    /// - Returns: the restrictions that the kernel did not grant.
    package static func enter(
        serial: Int, _ rights: ChildRights = .photos, _ limits: LifeLimits = LifeLimits()
    ) -> [Confinement.Gap] {
        var gaps: [Confinement.Gap] = []
        if geteuid() == 0 {
            gaps.attempt(.ownUser) { () throws(SystemRefusal) in
                try OwnUser(serial: serial).enter()
            }
        } else {
            gaps.append(
                Confinement.Gap(.ownUser, "the worker is not root and cannot become others"))
        }
        gaps.attempt(.privileges) { () throws(SystemRefusal) in try Privileges.giveUp() }
        // After the change of user, which resets these traits.
        gaps.attempt(.process) { () throws(SystemRefusal) in try ProcessTraits.afterChangeOfUser() }
        gaps.attempt(.process) { () throws(SystemRefusal) in try limits.enter() }
        gaps.attempt(.calls) { () throws(SystemRefusal) in
            try CallFilter.enter(rights.calls(UInt32(getpid())))
        }
        return gaps
    }
}

/// The rights that a kind of child keeps.
package struct ChildRights: Sendable {
    /// The system's files that it can open.
    let files: SystemFiles
    /// The system calls that it can make, by the process's number.
    let calls: @Sendable (UInt32) -> [CallRule]

    /// Libraries of photos open files while they run, and start threads.
    package static let photos = ChildRights(files: .photos) { AllowedCalls(process: $0).rules }
    /// A text is drawn from what is in memory, by one thread.
    package static let texts = ChildRights(files: .none) { AllowedCalls.ofTexts(process: $0) }
}

extension [Confinement.Gap] {
    /// Runs one step of the confinement, and records the gap if the kernel refuses it.
    mutating func attempt(
        _ measure: Confinement.Measure, _ body: () throws(SystemRefusal) -> Void
    ) {
        do throws(SystemRefusal) {
            try body()
        } catch {
            append(Confinement.Gap(measure, error.description))
        }
    }
}

/// A step of the confinement that the kernel refused, with its error.
struct SystemRefusal: Error, CustomStringConvertible {
    let description: String

    init(_ what: String) {
        description = "\(what): \(String(cString: strerror(errno)))"
    }

    /// Throws if a call of the C library returned -1.
    @discardableResult
    static func check(_ result: Int32, _ what: String) throws(SystemRefusal) -> Int32 {
        if result < 0 { throw SystemRefusal(what) }
        return result
    }
}

/// The capabilities of workers that run as root.
enum Privileges {
    /// Drops all capabilities that confining does not need, and forbids gaining any by starting a program.
    static func prepare() throws(SystemRefusal) {
        try SystemRefusal.check(minilab_prctl(PR_SET_NO_NEW_PRIVS, 1), "PR_SET_NO_NEW_PRIVS")
        try keep(changingUser)
    }

    /// Drops the rest. A descriptor that the worker opened needs no capability.
    static func giveUp() throws(SystemRefusal) { try keep(0) }

    /// The capabilities for switching to another user.
    private static let changingUser: UInt64 = 1 << UInt64(CAP_SETUID) | 1 << UInt64(CAP_SETGID)

    private static func keep(_ capabilities: UInt64) throws(SystemRefusal) {
        try SystemRefusal.check(minilab_keep_capabilities(capabilities), "capset")
    }
}

/// A user and a group that own nothing, for a process that renders a photo. Other children have other users, and no file of the
/// machine belongs to this user.
struct OwnUser: Equatable {
    let number: UInt32

    /// Ids that systemd (UIDS-GIDS.md: "unused") and Debian (policy 9.2.2: "reserved") assign to no user, and that a container with
    /// 65,536 users has.
    static let range: ClosedRange<UInt32> = 60_600...61_183

    /// Selects the user of a process.
    ///
    /// - Parameter serial: the number of the process among those of its worker. Users repeat after as many processes as the range
    ///   has ids.
    init(serial: Int) {
        let slot = UInt32(serial.magnitude % UInt(Self.range.count))
        number = Self.range.lowerBound + slot
    }

    /// Switches to this user, without supplementary groups. Root only.
    func enter() throws(SystemRefusal) {
        // By user: two children may have the same one.
        try ProcessTraits.limitThreads(to: 2 * Confinement.threadsMax)
        try SystemRefusal.check(minilab_become(number), "setresuid \(number)")
    }
}

/// The parts of the file system, the network and other processes that stay reachable: Landlock (landlock(7)).
///
/// Everything else is denied with EACCES or EPERM. File names and attributes can still be read, and open descriptors stay usable:
/// standard input, output and error.
enum FileRules {
    /// Enforces the rules that this kernel supports.
    ///
    /// - Returns: the rules that it does not support.
    static func enter(_ files: SystemFiles) -> [Confinement.Gap] {
        let version = minilab_landlock_version()
        guard version > 0 else {
            let refusal = SystemRefusal("Landlock")
            return [.files, .network, .signals].map { Confinement.Gap($0, refusal.description) }
        }
        var gaps: [Confinement.Gap] = []
        func known(_ measure: Confinement.Measure, since first: Int32, _ rights: UInt64) -> UInt64 {
            if version >= first { return rights }
            gaps.append(
                Confinement.Gap(
                    measure, "this kernel has Landlock \(version), needed is \(first)"))
            return 0
        }
        var rules = minilab_landlock_rules(
            handled_files: 0,
            handled_network: known(.network, since: 4, Self.network),
            scoped: known(.signals, since: 6, Self.scopes))
        rules.handled_files = FileRight.known(to: version)
        do throws(SystemRefusal) {
            try enter(&rules, files)
        } catch {
            return [.files, .network, .signals].map { Confinement.Gap($0, error.description) }
        }
        return gaps
    }

    /// BIND_TCP and CONNECT_TCP: both are denied.
    private static let network: UInt64 = 1 << 0 | 1 << 1
    /// ABSTRACT_UNIX_SOCKET and SIGNAL: allowed only within the sandbox.
    private static let scopes: UInt64 = 1 << 0 | 1 << 1

    private static func enter(
        _ rules: inout minilab_landlock_rules, _ files: SystemFiles
    ) throws(SystemRefusal) {
        let descriptor = try SystemRefusal.check(
            minilab_landlock_create(&rules), "landlock_create_ruleset")
        defer { close(descriptor) }
        let known = rules.handled_files
        for path in files.readable {
            try allow(FileRight.reading & known, path, descriptor)
        }
        for path in files.writable {
            try allow(FileRight.readingAndWriting & known, path, descriptor)
        }
        try SystemRefusal.check(minilab_landlock_enter(descriptor), "landlock_restrict_self")
    }

    /// Allows some rights on a file, or on a folder and everything below it.
    private static func allow(
        _ rights: UInt64, _ path: String, _ rules: Int32
    ) throws(SystemRefusal) {
        let file = minilab_name_path(path)
        // A path that does not exist needs no rule.
        if file < 0, errno == ENOENT { return }
        try SystemRefusal.check(file, path)
        defer { close(file) }
        var status = stat()
        try SystemRefusal.check(fstat(file, &status), path)
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        try SystemRefusal.check(
            minilab_landlock_allow(rules, file, isFolder ? rights : rights & FileRight.ofFiles),
            path)
    }
}

/// Rights of Landlock, by bit (include/uapi/linux/landlock.h).
private enum FileRight {
    static let execute: UInt64 = 1 << 0
    static let writeFile: UInt64 = 1 << 1
    static let readFile: UInt64 = 1 << 2
    static let readFolder: UInt64 = 1 << 3
    static let truncate: UInt64 = 1 << 14

    static let reading = readFile | readFolder
    static let readingAndWriting = readFile | writeFile
    /// The rights that apply to a file that is not a folder.
    static let ofFiles = execute | writeFile | readFile | truncate

    /// All rights that a version of Landlock can deny: those of the first version, and those that each later version added.
    static func known(to version: Int32) -> UInt64 {
        let added: [(since: Int32, bit: UInt64)] = [(2, 13), (3, 14), (5, 15)]
        return added.reduce((1 << 13) - 1) { $1.since <= version ? $0 | 1 << $1.bit : $0 }
    }
}
