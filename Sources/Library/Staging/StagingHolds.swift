import Adjustments
import Files
import Glibc
import Synchronization
import SystemPackage

/// The locks of the staged versions that this process makes, each as long as it is made.
///
/// The kernel frees them when the process dies, however it does. A lock is a file of its own and not the staged
/// folder: a folder is moved to its place, and NFS locks no folders.
final class StagingHolds: Sendable {
    private let open = Mutex<[StagedVersion: OpenFile]>([:])
    /// Most tries to lock a file, ``pauseMicroseconds`` apart: only a sweep that just looks can have it.
    private static let attemptsMax = 200
    private static let pauseMicroseconds: UInt32 = 5_000

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
        open.withLock { $0[staged] = nil }
    }

    /// What became of the wish for a lock.
    enum Answer {
        /// Until the file is let go.
        case ours(OpenFile)
        case others
        /// There is no such file, or it was removed while we opened it.
        case none
    }

    /// Locks a file; does not wait.
    static func lock(_ path: FilePath, making: Bool) throws(Failure) -> Answer {
        let file: OpenFile
        do throws(Errno) {
            file = try OpenFile(opening: path.string, O_RDWR | (making ? O_CREAT : 0))
        } catch {
            if error == .noSuchFileOrDirectory { return .none }
            throw FileSystem.failure("opening the lock", path, error)
        }
        guard try FileSystem.saying("locking", path, file.lock()) else {
            return .others
        }
        let isThere = try FileSystem.saying("looking at", path, file.isAt(path.string))
        return isThere ? .ours(file) : .none
    }
}
