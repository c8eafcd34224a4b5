import CConfinement
import Glibc
import RenderProtocol

/// Copies of what the kernel has one of for the machine: mounts, network, message queues, names (namespaces(7)).
///
/// Not a process namespace: a process for each photo would be its first process, whose own SIGABRT and SIGXCPU the
/// kernel drops, and how a decoder ends could not be told any more.
enum Namespaces {
    /// Enters those that the kernel grants. The process must have one thread.
    ///
    /// - Parameter asRoot: any other user needs a user namespace to be granted the others.
    /// - Returns: which it does not.
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

/// A namespace of users in which there is one: rights that count inside it alone.
private enum UserNamespace {
    /// As it is called inside: "nobody".
    private static let nobody = 65_534

    static func enter() throws(SystemRefusal) {
        let (user, group) = (geteuid(), getegid())
        try Namespaces.unshare(CLONE_NEWUSER)
        // Without it, no group can be mapped (user_namespaces(7)).
        try ProcessTraits.write("deny", to: "/proc/self/setgroups")
        try ProcessTraits.write("\(nobody) \(user) 1", to: "/proc/self/uid_map")
        try ProcessTraits.write("\(nobody) \(group) 1", to: "/proc/self/gid_map")
    }
}
