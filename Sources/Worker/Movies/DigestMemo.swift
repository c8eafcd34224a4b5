import Adjustments
import DequeModule
import Files
import Synchronization

/// The digests of files that were read not long ago, so that a worker that renders many parts of one movie reads it
/// for its digest once.
///
/// A file whose stamp is the same has the same bytes: the stamp has the time of its last change of any kind.
final class DigestMemo: Sendable {
    /// Most files that are remembered: as many movies as a worker may be in the middle of, and more.
    static let filesMax = 32

    private let known = Mutex(Deque<(stamp: FileStamp, sha256: String)>())

    /// The digest in hex; as `FileDigest.hex(of:)`, off the cooperative pool.
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
