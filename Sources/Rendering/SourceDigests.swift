import Adjustments
import FileBytes
import Glibc
import Synchronization

/// The digest of the photo at hand: read once, however many renders and previews are made of it.
final class SourceDigests: Sendable {
    private struct Known {
        let path: String
        let stamp: FileStamp
        let sha256: String
    }

    private let last = Mutex<Known?>(nil)

    /// SHA-256 in hex of a photo's bytes, as long as its file is the same one, untouched.
    ///
    /// - Throws: `ioFailure`.
    func sha256(of path: String) throws(Failure) -> String {
        let stamp = try FileStamp(of: path)
        if let known = last.withLock({ $0 }), known.path == path, known.stamp == stamp {
            return known.sha256
        }
        let sha256 = try FileDigest.sha256(of: path).hex
        last.withLock { $0 = Known(path: path, stamp: stamp, sha256: sha256) }
        return sha256
    }

    /// Refuses a render of a photo that was replaced or written to after its digest was taken: what came out may
    /// not be of those bytes.
    ///
    /// - Throws: `ioFailure`.
    func checkUnchanged(_ path: String) throws(Failure) {
        let stamp = try FileStamp(of: path)
        guard let known = last.withLock({ $0 }), known.path == path, known.stamp == stamp else {
            throw Failure(
                .ioFailure,
                "\(path) was changed while it was rendered. The job is retried; put originals in their place "
                    + "by a rename, and never change one.")
        }
    }
}

/// What tells that a file is the same one and was not written to.
///
/// Not its time of change, which a further hard link sets too.
private struct FileStamp: Equatable {
    let device: UInt64
    let number: UInt64
    let bytes: Int
    let seconds: Int
    let nanoseconds: Int

    init(of path: String) throws(Failure) {
        var info = stat()
        guard stat(path, &info) == 0 else {
            throw Failure(
                .ioFailure, "\(path) cannot be read: \(String(cString: strerror(errno))).")
        }
        device = UInt64(info.st_dev)
        number = UInt64(info.st_ino)
        bytes = Int(info.st_size)
        seconds = info.st_mtim.tv_sec
        nanoseconds = info.st_mtim.tv_nsec
    }
}
