import CConfinement
import Glibc
package import RenderProtocol

/// The confinement of a process that reads photos, in two steps, and never left.
///
/// A zygote prepares before it starts libvips, and so do all processes that it forks; each of those enters before it
/// reads a byte of a photo. A process that serves photos itself does both.
package enum ConfinedProcess {
    /// Gives up what neither libvips nor rendering needs. To be called while the process has one thread: those that
    /// it starts later inherit what is given up, others would keep it.
    ///
    /// - Returns: what the kernel did not grant.
    package static func prepare(_ reach: FileReach) -> [Confinement.Gap] {
        var gaps: [Confinement.Gap] = []
        gaps.attempt(.process) { () throws(SystemRefusal) in try ProcessTraits.enter(reach) }
        // Before Landlock, which lets nobody change mounts.
        gaps += namespaces(reach)
        gaps.attempt(.privileges) { () throws(SystemRefusal) in try Privileges.prepare(reach) }
        return gaps + FileRules.enter(reach)
    }

    /// Gives up all that reading a photo does not need. libvips is started, and every library loaded: no code can be
    /// mapped from here on.
    ///
    /// - Parameters:
    ///   - serial: of this process among those of its worker, for a user of its own.
    ///   - receivesDescriptors: it serves several requests and takes their descriptors itself.
    /// - Returns: what the kernel did not grant.
    package static func enter(
        _ reach: FileReach, serial: Int, receivesDescriptors: Bool = false
    ) -> [Confinement.Gap] {
        var gaps: [Confinement.Gap] = []
        if reach != .descriptors {
            gaps.append(Confinement.Gap(.ownUser, byPath))
        } else if geteuid() != 0 {
            gaps.append(
                Confinement.Gap(.ownUser, "the worker is not root and cannot become others"))
        } else {
            gaps.attempt(.ownUser) { () throws(SystemRefusal) in try OwnUser(serial: serial).enter()
            }
        }
        gaps.attempt(.privileges) { () throws(SystemRefusal) in try Privileges.enter(reach) }
        // After the change of user, which undoes it.
        gaps.attempt(.process) { () throws(SystemRefusal) in try ProcessTraits.endWithParent(reach)
        }
        var needs = reach.needs
        if receivesDescriptors { needs.insert(.descriptors) }
        gaps.attempt(.calls) { () throws(SystemRefusal) in try CallFilter.enter(needs) }
        return gaps
    }

    private static let byPath = "photos and results are reached by path"

    private static func namespaces(_ reach: FileReach) -> [Confinement.Gap] {
        guard reach == .descriptors else {
            return [.networkNamespace, .ipcNamespace, .mountNamespace].map {
                Confinement.Gap($0, byPath)
            }
        }
        return Namespaces.enter(asRoot: geteuid() == 0)
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
