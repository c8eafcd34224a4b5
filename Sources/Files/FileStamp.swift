import Glibc

/// Tells, compared with another, that a file is the same one and was not written to.
public struct FileStamp: Equatable, Sendable {
    private struct Time: Equatable {
        let seconds: Int
        let nanoseconds: Int

        init(_ time: timespec) { (seconds, nanoseconds) = (time.tv_sec, time.tv_nsec) }
    }

    private let device: UInt64
    private let number: UInt64
    private let bytes: Int
    private let written: Time
    private let changed: Time?

    init(_ status: stat, getsLinks: Bool) {
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
        bytes = Int(status.st_size)
        written = Time(status.st_mtim)
        changed = getsLinks ? nil : Time(status.st_ctim)
    }

    /// Length and time of writing as text: names the bytes of a file that is never written to again.
    package var text: String {
        [bytes, written.seconds, written.nanoseconds].map { String($0, radix: 16) }
            .joined(separator: "-")
    }
}
