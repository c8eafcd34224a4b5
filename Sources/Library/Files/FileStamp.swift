import Glibc

/// The identity and the change time of a file. Two equal stamps mean that the file is the same and was not written.
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

    /// The length and the time of the last write as text. They identify the bytes of a file that is never written
    /// again.
    package var text: String {
        [bytes, written.seconds, written.nanoseconds].map { String($0, radix: 16) }
            .joined(separator: "-")
    }
}
