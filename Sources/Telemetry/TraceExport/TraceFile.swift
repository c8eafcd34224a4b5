import Edits
import Files
import Glibc
import SystemPackage

/// A file that gets a request of spans on each line, as OpenTelemetry's file exporter writes it.
///
/// Several processes may write to one: each line is one `write` to the end. A file that has reached its length is moved
/// aside, in the place of the one before, so both together are bounded.
/// Source: <https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/>.
final class TraceFile: Sendable {
    /// The length after which a file is moved aside, in bytes.
    static let bytesMax = 64 << 20

    private let path: FilePath
    private let bytesMax: Int

    /// - Parameter bytesMax: the length after which it is moved aside.
    init(_ path: FilePath, bytesMax: Int = bytesMax) {
        self.path = path
        self.bytesMax = bytesMax
    }

    /// The name that a full file gets.
    private var aside: FilePath { FilePath(path.string + ".1") }

    /// Adds a line; the newline is added.
    ///
    /// The file is opened for each: it may have been moved aside by another process, or by logrotate.
    func append(_ line: String) async throws(Failure) {
        try await offPool { [self] () throws(Failure) in
            let file = open(
                path.string, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o640)
            guard file >= 0 else { throw failure("opened") }
            defer { _ = Glibc.close(file) }
            let bytes = Array(line.utf8) + [UInt8(ascii: "\n")]
            guard Glibc.write(file, bytes, bytes.count) == bytes.count else {
                throw failure("written")
            }
            var facts = stat()
            guard fstat(file, &facts) == 0, facts.st_size >= bytesMax else { return }
            guard rename(path.string, aside.string) == 0 else { throw failure("moved aside") }
        }
    }

    private func failure(_ action: String) -> Failure {
        Failure(
            .storeUnavailable,
            "the file of traces \(path) cannot be \(action): \(String(cString: strerror(errno))). Give traces.file "
                + "a place that this user may write to, with room for \(2 * bytesMax >> 20) MB.")
    }
}
