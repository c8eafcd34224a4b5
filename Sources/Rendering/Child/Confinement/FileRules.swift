import CMinilab
import Glibc
import RenderProtocol

/// The parts of the file system, the network and other processes that stay reachable: Landlock (landlock(7)).
///
/// Everything else is denied with EACCES or EPERM. File names and attributes can still be read, and open descriptors stay usable:
/// standard input, output and error.
enum FileRules {
    /// Enforces the rules that this kernel supports.
    ///
    /// - Returns: the rules that it does not support.
    static func enter() -> [Confinement.Gap] {
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
            try enter(&rules)
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
        _ rules: inout minilab_landlock_rules
    ) throws(SystemRefusal) {
        let descriptor = try SystemRefusal.check(
            minilab_landlock_create(&rules), "landlock_create_ruleset")
        defer { close(descriptor) }
        let known = rules.handled_files
        for path in SystemFiles.readable {
            try allow(FileRight.reading & known, path, descriptor)
        }
        for path in SystemFiles.writable {
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
