import Edits
import DequeModule
import Files
import Synchronization

/// The digests of recently read files, so that a worker that renders many parts of one movie digests it only once.
///
/// A file with the same stamp has the same bytes, because the stamp includes the time of the last change of any
/// kind.
final class DigestMemo: Sendable {
    /// The most files that are kept: more than the number of movies that a worker works on at the same time.
    static let filesMax = 32

    private let known = Mutex(Deque<(stamp: FileStamp, sha256: String)>())

    /// Returns the digest in hex, like `FileDigest.hex(of:)`, off the cooperative pool.
    func hex(of file: OpenFile) async throws(Failure) -> String {
        try await offPool { () throws(Failure) in
            let stamp = try file.stamp(getsLinks: false)
            if let found = self.known.withLock({ known in known.first { $0.stamp == stamp } }) {
                return found.sha256
            }
            let sha256 = try FileDigest.hex(of: file)
            // A file that was changed while it was read has another stamp now.
            if try file.stamp(getsLinks: false) == stamp {
                self.known.withLock { known in
                    if known.count == Self.filesMax { known.removeFirst() }
                    known.append((stamp, sha256))
                }
            }
            return sha256
        }
    }
}
