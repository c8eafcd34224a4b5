import CConfinement
import Glibc

/// Rights of root, for workers that run as root.
enum Privileges {
    /// Gives up what preparing does not need, and gains none by starting a program.
    static func prepare(_ reach: FileReach) throws(SystemRefusal) {
        try SystemRefusal.check(minilab_prctl(PR_SET_NO_NEW_PRIVS, 1), "PR_SET_NO_NEW_PRIVS")
        try keep(reach == .descriptors ? changingUser : readingAll)
    }

    /// Gives up the rest.
    static func enter(_ reach: FileReach) throws(SystemRefusal) {
        try keep(reach == .descriptors ? 0 : readingAll)
    }

    /// To become another user, for each process that serves a photo.
    private static let changingUser: UInt64 = 1 << UInt64(CAP_SETUID) | 1 << UInt64(CAP_SETGID)

    /// To read and write files of other users (capabilities(7)), since a library may have some. Which files,
    /// ``FileRules`` says.
    private static let readingAll: UInt64 =
        1 << UInt64(CAP_DAC_OVERRIDE) | 1 << UInt64(CAP_DAC_READ_SEARCH)

    private static func keep(_ capabilities: UInt64) throws(SystemRefusal) {
        try SystemRefusal.check(minilab_keep_capabilities(capabilities), "capset")
    }
}
