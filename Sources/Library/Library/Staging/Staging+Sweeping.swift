public import Edits
import Files
import Glibc
import SystemPackage

/// The remains of dead workers in staging:
///
/// ```
/// <root>/holds/<queue>/<job>@<fence>     locked by the worker that makes the staged version of this name
/// ```
///
/// A queue's records tell whether a version is wanted. But two Redis servers with queues of one name may use the
/// same library, as when one takes over from the other, and neither knows the other's jobs. So versions that a
/// living process is making are never swept. Versions that are not locked are swept by the workers of either
/// server. If one of them was sealed by a worker that died, it is rendered again.
extension Staging {
    func lockFile(of staged: StagedVersion) -> FilePath {
        root.appending("holds").appending(staged.queue).appending(staged.folderName)
    }

    /// Locks a staged version before it is made.
    func lock(_ staged: StagedVersion) throws(Failure) {
        let path = lockFile(of: staged)
        try files.makeFolder(path.removingLastComponent())
        try locks.acquire(staged, at: path)
    }

    /// Unlocks a staged version that is published or removed, even if the file of its lock cannot be removed.
    func release(_ staged: StagedVersion) throws(Failure) {
        // Removed before closing, so that no other process locks a file that is being removed.
        defer { locks.release(staged) }
        try files.remove(lockFile(of: staged))
    }

    /// Returns the candidates of a sweep: staged versions, and locks without one that a crash left.
    public func sweepable(in queue: String) throws(Failure) -> [StagedVersion] {
        let locked = try files.list(root.appending("holds").appending(queue))
            .compactMap { StagedVersion(queue: queue, folderName: $0) }
        let staged = try staged(in: queue)
        let known = Set(staged)
        return staged + locked.filter { !known.contains($0) }
    }

    /// Removes an unwanted staged version, unless a living process is making it.
    ///
    /// - Returns: whether it was removed.
    public func sweep(_ staged: StagedVersion) throws(Failure) -> Bool {
        switch try StagingLocks.lock(lockFile(of: staged), making: false) {
        case .others: return false
        // Made by a release that did not lock staged versions.
        case .none: try discard(staged)
        case .ours(let file):
            defer { withExtendedLifetime(file) {} }
            try discard(staged)
        }
        return true
    }
}
