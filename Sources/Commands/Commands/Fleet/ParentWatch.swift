import Glibc
import SystemPackage

/// A socket pair without traffic. A process that has one socket as standard input reads the end of input when this
/// process exits.
final class ParentWatch: Sendable {
    /// The standard input of processes that must stop when this process exits (`minilab worker
    /// --drain-at-end-of-input`).
    let input: FileDescriptor
    private let kept: FileDescriptor

    /// - Throws: `Errno` if this process has no free descriptors.
    init() throws {
        var ends: [CInt] = [0, 0]
        // The sockets are closed on exec, so that no worker inherits the end that keeps the others running.
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Errno(rawValue: errno) }
        input = FileDescriptor(rawValue: ends[0])
        kept = FileDescriptor(rawValue: ends[1])
    }

    deinit {
        // The descriptors belong to this object. An error of closing them has no remedy.
        close(input.rawValue)
        close(kept.rawValue)
    }
}
