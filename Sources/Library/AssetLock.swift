import Adjustments
import Glibc
import SystemPackage

/// The lock of one asset; the kernel frees it when its holder dies.
enum AssetLock {
    /// Longest wait: far more than the few renames and fsyncs that are done under it.
    static let waitMax: Duration = .seconds(30)
    private static let pollMicroseconds: UInt32 = 5_000

    /// Runs `body` while this process holds the lock file at `path`.
    ///
    /// - Parameter isFolder: whether `path` is a folder, which is its own lock.
    static func hold<Result>(
        _ path: FilePath, isFolder: Bool = false, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let mode = isFolder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT
        let file = open(path.string, mode | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw Files.failure("opening the lock", path) }
        defer { close(file) }
        let end = ContinuousClock.now + waitMax
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, ContinuousClock.now < end else {
                throw Failure(
                    .ioFailure,
                    "the lock \(path) was not free within \(waitMax); another process holds it. "
                        + "The job is retried.")
            }
            usleep(pollMicroseconds)
        }
        return try body()
    }
}
