import CMinilab
import Glibc
package import RenderProtocol

/// The confinement of a process that decodes photos. It is entered in two steps and never left.
///
/// The process has its photos, its outputs and everything else it needs as open descriptors. Of the file system it can read only
/// the system's libraries and fonts.
package enum ConfinedProcess {
    /// Drops all rights that neither libvips nor rendering needs. Call it while the process has one thread: threads started later
    /// inherit the restrictions, threads that already run would not.
    ///
    /// - Returns: the restrictions that the kernel did not grant.
    package static func prepare() -> [Confinement.Gap] {
        var gaps: [Confinement.Gap] = []
        gaps.attempt(.process) { () throws(SystemRefusal) in try ProcessTraits.enter() }
        // Before Landlock, which forbids all changes of mounts.
        gaps += Namespaces.enter(asRoot: geteuid() == 0)
        gaps.attempt(.privileges) { () throws(SystemRefusal) in try Privileges.prepare() }
        return gaps + FileRules.enter()
    }

    /// Drops all rights that reading a photo does not need. Call it after libvips is started and every library is loaded: no code
    /// can be mapped afterwards.
    ///
    /// - Parameter serial: the number of this process among those of its worker; it selects a user id of its own.
    /// - Returns: the restrictions that the kernel did not grant.
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
        // After the change of user, which resets these traits.
        gaps.attempt(.process) { () throws(SystemRefusal) in try ProcessTraits.afterChangeOfUser() }
        gaps.attempt(.calls) { () throws(SystemRefusal) in try CallFilter.enter() }
        return gaps
    }
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
