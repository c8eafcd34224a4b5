import CConfinement
import Glibc
package import RenderProtocol

/// The confinement of a process that reads photos, in two steps, and never left.
///
/// It has its photos, the places for results and all else as descriptors; of the file system it can read the system's
/// libraries and fonts.
package enum ConfinedProcess {
    /// Gives up what neither libvips nor rendering needs. To be called while the process has one thread: those that
    /// it starts later inherit what is given up, others would keep it.
    ///
    /// - Returns: what the kernel did not grant.
    package static func prepare() -> [Confinement.Gap] {
        var gaps: [Confinement.Gap] = []
        gaps.attempt(.process) { () throws(SystemRefusal) in try ProcessTraits.enter() }
        // Before Landlock, which lets nobody change mounts.
        gaps += Namespaces.enter(asRoot: geteuid() == 0)
        gaps.attempt(.privileges) { () throws(SystemRefusal) in try Privileges.prepare() }
        return gaps + FileRules.enter()
    }

    /// Gives up all that reading a photo does not need. libvips is started, and every library loaded: no code can be
    /// mapped from here on.
    ///
    /// - Parameter serial: of this process among those of its worker, for a user of its own.
    /// - Returns: what the kernel did not grant.
    package static func enter(serial: Int) -> [Confinement.Gap] {
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
        // After the change of user, which undoes it.
        gaps.attempt(.process) { () throws(SystemRefusal) in try ProcessTraits.afterChangeOfUser() }
        gaps.attempt(.calls) { () throws(SystemRefusal) in try CallFilter.enter() }
        return gaps
    }
}

extension [Confinement.Gap] {
    /// Takes a measure, or notes what the kernel said.
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

/// What the kernel did not do, and what it said.
struct SystemRefusal: Error, CustomStringConvertible {
    let description: String

    init(_ what: String) {
        description = "\(what): \(String(cString: strerror(errno)))"
    }

    /// Throws when a call of the C library answers -1.
    @discardableResult
    static func check(_ result: Int32, _ what: String) throws(SystemRefusal) -> Int32 {
        if result < 0 { throw SystemRefusal(what) }
        return result
    }
}
