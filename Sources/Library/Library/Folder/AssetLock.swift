import Edits
import Files
import Glibc
import SystemPackage

/// The lock of one asset. The kernel releases it when its holder dies.
enum AssetLock {
    /// The longest wait: far longer than the few renames and fsyncs that are done under the lock.
    static let waitMax: Duration = .seconds(30)
    private static let pollMicroseconds: UInt32 = 5_000

    /// Runs `body` while this process holds the lock file at `path`.
    static func withLock<Result>(
        _ path: FilePath, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let file = try acquire(path)
        defer { withExtendedLifetime(file) {} }
        return try body()
    }

    /// Waits for a lock and acquires it.
    ///
    /// - Parameter isFolder: whether `path` is a folder, which is then its own lock.
    /// - Returns: the lock file. The lock is held until the file is closed.
    static func acquire(_ path: FilePath, isFolder: Bool = false) throws(Failure) -> OpenFile {
        let mode = isFolder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT
        let file = try FileSystem.describing(
            "opening the lock", path, OpenFile(opening: path.string, mode))
        let end = ContinuousClock.now + waitMax
        do throws(Errno) {
            while try !file.lock() {
                guard ContinuousClock.now < end else { throw .wouldBlock }
                usleep(pollMicroseconds)
            }
        } catch {
            guard error == .wouldBlock else { throw FileSystem.failure("locking", path, error) }
            throw Failure(
                .ioFailure,
                "the lock \(path) was not free within \(waitMax); another process holds it. "
                    + "The job is retried.")
        }
        return file
    }
}
