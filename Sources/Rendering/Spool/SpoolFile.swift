import Edits
import CMinilab
import Files
import Glibc
import Synchronization
import SystemPackage

/// A part of the spool for pixels that do not fit into memory.
///
/// Written and read pages are flushed to the disk and dropped from the page cache early. Otherwise the kernel would charge them to
/// the process's cgroup.
final class SpoolFile: Sendable {
    private let space: SpoolSpace
    private let start: Int
    private let length: Int
    private var descriptor: Int32 { space.file.descriptor }
    /// Bytes that went through the page cache since it was last dropped.
    private let writtenBytes = Atomic(0), readBytes = Atomic(0)

    /// After this many written bytes, the previous ones must be on the disk: the page cache holds at most twice as many. The disk
    /// writes in the meantime.
    static let unwrittenBytesMax = 8 << 20
    /// Bytes that may stay in the page cache after they were read: for repeated reads, and for the kernel's read-ahead.
    static let cachedBytesMax = 16 << 20

    /// Allocates its space on the disk, so that writing cannot run out of space.
    ///
    /// - Throws: `noSpace` if the disk or a quota has too little, `ioFailure`.
    init(bytes: Int, in space: SpoolSpace) throws(Failure) {
        start = try space.reserve(bytes)
        length = bytes
        self.space = space
    }

    deinit { space.release(start, length) }

    /// Writes bytes at an offset.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(Failure) {
        try SpoolSpace.saying(
            "write \(bytes.count) bytes", Descriptor.write(descriptor, bytes, at: start + offset))
        let written = writtenBytes.add(bytes.count, ordering: .relaxed).newValue
        if written >= Self.unwrittenBytesMax {
            writtenBytes.store(0, ordering: .relaxed)
            try waitForFlush()
            try startFlush()
        }
    }

    /// Reads the bytes at an offset into memory. Any thread may call it.
    ///
    /// - Throws: `ioFailure`.
    func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(Failure) {
        let action = "read \(bytes.count) bytes"
        let count = try SpoolSpace.saying(
            action, Descriptor.read(descriptor, into: bytes, from: start + offset))
        guard count == bytes.count else { throw SpoolSpace.failure(action, .ioError) }
        let read = readBytes.add(bytes.count, ordering: .relaxed).newValue
        if read >= Self.cachedBytesMax {
            readBytes.store(0, ordering: .relaxed)
            leaveCache()
        }
    }

    /// Waits until the written bytes are on the disk.
    ///
    /// - Throws: `noSpace`, `ioFailure` if the disk did not accept them.
    func flush() throws(Failure) {
        try startFlush()
        try waitForFlush()
    }

    private func startFlush() throws(Failure) {
        try check(minilab_start_flush(descriptor))
    }

    private func waitForFlush() throws(Failure) {
        try check(minilab_wait_for_flush(descriptor))
        leaveCache()
    }

    /// Checks the status. File systems without support for ranges keep the pages, which is no error.
    private func check(_ status: Int32) throws(Failure) {
        guard status != 0, ![EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) else { return }
        throw SpoolSpace.failure("write to the disk", .latest)
    }

    /// Advises the kernel to drop the pages. Without it, the kernel reclaims them when memory is short.
    private func leaveCache() { posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) }
}
