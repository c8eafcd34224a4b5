import CMinilab
import Glibc

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
