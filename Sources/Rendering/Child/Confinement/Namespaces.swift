import CMinilab
import Glibc
import RenderProtocol

/// Private copies of resources that the machine has once: mounts, network, message queues, host names (namespaces(7)).
///
/// A process namespace is not used: the process for a photo would be its init process, and the kernel drops SIGABRT and SIGXCPU
/// that an init process raises itself. The worker could then not tell how a decoder died.
enum Namespaces {
    /// Enters the namespaces that the kernel grants. The process must have one thread.
    ///
    /// - Parameter asRoot: whether the process runs as root. Any other user needs a user namespace to be granted the others.
    /// - Returns: the namespaces that the kernel does not grant.
    static func enter(asRoot: Bool) -> [Confinement.Gap] {
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
            try SystemRoot.enter()
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
