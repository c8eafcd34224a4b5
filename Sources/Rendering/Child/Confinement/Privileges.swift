import CConfinement
import Glibc

/// Rights of root, for workers that run as root.
enum Privileges {
    /// Gives up what entering does not need, and gains none by starting a program.
    static func prepare() throws(SystemRefusal) {
        try SystemRefusal.check(minilab_prctl(PR_SET_NO_NEW_PRIVS, 1), "PR_SET_NO_NEW_PRIVS")
        try keep(changingUser)
    }

    /// Gives up the rest. A descriptor that the worker has opened needs none.
    static func giveUp() throws(SystemRefusal) { try keep(0) }

    /// To become a user of its own.
    private static let changingUser: UInt64 = 1 << UInt64(CAP_SETUID) | 1 << UInt64(CAP_SETGID)

    private static func keep(_ capabilities: UInt64) throws(SystemRefusal) {
        try SystemRefusal.check(minilab_keep_capabilities(capabilities), "capset")
    }
}
