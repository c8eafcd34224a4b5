import CConfinement
import Glibc

/// Rights of root, for workers that run as root.
enum Privileges {
    /// What stays of root's capabilities (capabilities(7)): to read and write files of other users, since a
    /// library may have some. Which files, ``FileRules`` says.
    private static let kept: UInt64 =
        1 << UInt64(CAP_DAC_OVERRIDE) | 1 << UInt64(CAP_DAC_READ_SEARCH)

    /// Gives the others up, and gains none by starting a program.
    static func giveUp() throws(SystemRefusal) {
        try SystemRefusal.check(minilab_prctl(PR_SET_NO_NEW_PRIVS, 1), "PR_SET_NO_NEW_PRIVS")
        try SystemRefusal.check(minilab_keep_capabilities(kept), "capset")
    }
}
