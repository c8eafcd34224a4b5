import CConfinement
import Glibc
import RenderProtocol

/// The confinement of this process: entered once, before a byte of a photo is read, and never left.
enum ConfinedProcess {
    /// Gives up all that rendering does not need. To be called while the process has one thread: those that it
    /// starts later inherit what is given up, others would keep it.
    ///
    /// - Parameter reachable: what it may read and write; nil leaves files as they are.
    /// - Returns: what the kernel did not grant.
    static func enter(_ reachable: ReachableFiles?) -> Confinement {
        var gaps: [Confinement.Gap] = []
        func attempt(_ measure: Confinement.Measure, _ body: () throws(SystemRefusal) -> Void) {
            do throws(SystemRefusal) {
                try body()
            } catch {
                gaps.append(Confinement.Gap(measure, error.description))
            }
        }
        attempt(.process) { () throws(SystemRefusal) in
            try ProcessTraits.enter(endsWithParent: reachable != nil)
        }
        attempt(.privileges) { () throws(SystemRefusal) in try Privileges.giveUp() }
        gaps += FileRules.enter(reachable)
        attempt(.calls) { () throws(SystemRefusal) in try CallFilter.enter() }
        return Confinement(gaps: gaps)
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
