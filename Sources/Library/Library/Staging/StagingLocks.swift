import Edits
import Files
import Glibc
import Synchronization
import SystemPackage

/// The locks of the staged versions that this process is making, each held while its version is made.
///
/// The kernel releases them when the process dies for any reason. A lock is a separate file and not the staged
/// folder, because a folder is moved to its shelf, and NFS does not lock folders.
final class StagingLocks: Sendable {
    private let open = Mutex<[StagedVersion: OpenFile]>([:])
    /// The most attempts to lock a file, ``pauseMicroseconds`` apart. Only a sweep that is checking the file can
    /// hold it.
    private static let attemptsMax = 200
    private static let pauseMicroseconds: UInt32 = 5_000

    /// Locks a staged version until it is released.
    func acquire(_ staged: StagedVersion, at path: FilePath) throws(Failure) {
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

    /// Releases a staged version if this process holds it.
    func release(_ staged: StagedVersion) {
        open.withLock { $0[staged] = nil }
    }

    /// The outcome of an attempt to lock a file.
    enum Answer {
        /// This process holds the lock until the file is released.
        case ours(OpenFile)
        case others
        /// The file does not exist, or it was removed while it was being opened.
        case none
    }

    /// Locks a file, without waiting.
    static func lock(_ path: FilePath, making: Bool) throws(Failure) -> Answer {
        let file: OpenFile
        do throws(Errno) {
            file = try OpenFile(opening: path.string, O_RDWR | (making ? O_CREAT : 0))
        } catch {
            if error == .noSuchFileOrDirectory { return .none }
            throw FileSystem.failure("opening the lock", path, error)
        }
        guard try FileSystem.describing("locking", path, file.lock()) else {
            return .others
        }
        let isThere = try FileSystem.describing(
            "reading the status of", path, file.isAt(path.string))
        return isThere ? .ours(file) : .none
    }
}
