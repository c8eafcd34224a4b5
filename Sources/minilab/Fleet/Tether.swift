import Glibc
import SystemPackage

/// A pair of sockets that nobody writes to: a process that has one as standard input reads its end when this process ends.
final class Tether: Sendable {
    /// The standard input of those that end with this process (`minilab worker --drain-at-end-of-input`).
    let input: FileDescriptor
    private let held: FileDescriptor

    /// - Throws: `Errno`, when this process has no descriptors left.
    init() throws {
        var ends: [CInt] = [0, 0]
        // Closed by exec: the end that is held must not reach those that wait for it.
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Errno(rawValue: errno) }
        input = FileDescriptor(rawValue: ends[0])
        held = FileDescriptor(rawValue: ends[1])
    }

    deinit {
        // Descriptors of its own: closing them cannot fail in a way that anybody could mend.
        close(input.rawValue)
        close(held.rawValue)
    }
}
