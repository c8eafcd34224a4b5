public import Adjustments
import Files
import Glibc
import SystemPackage

/// What dead workers leave in staging:
///
/// ```
/// <root>/holds/<queue>/<job>@<fence>     locked by the worker that makes the staged version of this name
/// ```
///
/// Whether a version is wanted, a queue's records say. But a library may be used by two Redis servers with queues of one
/// name, as when one takes over from the other, and neither knows the other's jobs. So what a living process makes is
/// nobody's to sweep. What is not locked is swept by any server's workers: a version that was sealed by a worker that
/// died is rendered again then.
extension Staging {
    func hold(of staged: StagedVersion) -> FilePath {
        root.appending("holds").appending(staged.queue).appending(staged.folderName)
    }

    /// Locks a staged version that is about to be made.
    func take(_ staged: StagedVersion) throws(Failure) {
        let path = hold(of: staged)
        try files.makeFolder(path.removingLastComponent())
        try holds.take(staged, at: path)
    }

    /// Lets go of a staged version that is published or gone.
    func letGo(_ staged: StagedVersion) throws(Failure) {
        // Ahead of closing, so that nobody locks a file that goes.
        try files.remove(hold(of: staged))
        holds.letGo(staged)
    }

    /// All that a sweep has to look at: staged versions, and locks that a crash left without one.
    public func sweepable(in queue: String) throws(Failure) -> [StagedVersion] {
        let held = try files.list(root.appending("holds").appending(queue))
            .compactMap { StagedVersion(queue: queue, folderName: $0) }
        let staged = try staged(in: queue)
        let known = Set(staged)
        return staged + held.filter { !known.contains($0) }
    }

    /// Removes a staged version that nobody wants, unless a living process makes it.
    ///
    /// - Returns: whether it is gone.
    public func sweep(_ staged: StagedVersion) throws(Failure) -> Bool {
        switch try StagingHolds.lock(hold(of: staged), making: false) {
        case .others: return false
        // A release that locked nothing has made it.
        case .none: try discard(staged)
        case .ours(let file):
            defer { withExtendedLifetime(file) {} }
            try discard(staged)
        }
        return true
    }
}
