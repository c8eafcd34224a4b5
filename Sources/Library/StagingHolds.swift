import Adjustments
import Glibc
import Synchronization
import SystemPackage

/// The locks of the staged versions that this process makes, each as long as it is made.
///
/// The kernel frees them when the process dies, however it does. A lock is a file of its own and not the staged
/// folder: a folder is moved to its place, and NFS locks no folders.
final class StagingHolds: Sendable {
    private let open = Mutex<[StagedVersion: CInt]>([:])
    /// Most tries to lock a file, ``pauseMicroseconds`` apart: only a sweep that just looks can have it.
    private static let attemptsMax = 200
    private static let pauseMicroseconds: UInt32 = 5_000

    deinit {
        for file in open.withLock({ $0.values.map(\.self) }) { close(file) }
    }

    /// Locks a staged version until it is let go.
    func take(_ staged: StagedVersion, at path: FilePath) throws(Failure) {
        guard open.withLock({ $0[staged] == nil }) else { return }
        for _ in 0..<Self.attemptsMax {
            switch try Self.lock(path, making: true) {
            case .ours(let file): return open.withLock { $0[staged] = file }
            case .others, .none: usleep(Self.pauseMicroseconds)
            }
        }
        throw Failure(
            .ioFailure,
            "\(path) is locked: another process makes the version \(staged.folderName). The job is retried."
        )
    }

    /// Lets go of a staged version, if we have it.
    func letGo(_ staged: StagedVersion) {
        if let file = open.withLock({ $0.removeValue(forKey: staged) }) { close(file) }
    }

    /// What became of the wish for a lock.
    enum Answer {
        case ours(CInt)
        case others
        /// There is no such file, or it was removed while we opened it.
        case none
    }

    /// Locks a file; does not wait.
    static func lock(_ path: FilePath, making: Bool) throws(Failure) -> Answer {
        let file = Glibc.open(path.string, O_RDWR | O_CLOEXEC | (making ? O_CREAT : 0), 0o666)
        guard file >= 0 else {
            if errno == ENOENT { return .none }
            throw Files.failure("opening the lock", path)
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(file)
            guard code == EWOULDBLOCK || code == EINTR else {
                throw Files.failure("locking", path, code)
            }
            return .others
        }
        var info = stat()
        guard fstat(file, &info) == 0 else {
            let code = errno
            close(file)
            throw Files.failure("looking at", path, code)
        }
        guard info.st_nlink > 0 else {
            close(file)
            return .none
        }
        return .ours(file)
    }
}
