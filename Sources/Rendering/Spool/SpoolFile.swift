import Adjustments
import CSpool
import Files
import Glibc
import Synchronization
import SystemPackage

/// A part of the spool for what does not fit into memory.
///
/// What is written goes to the disk at once and out of the page cache, as does what is read: else the kernel would count
/// it to the process's cgroup.
final class SpoolFile: Sendable {
    private let space: SpoolSpace
    private let start: Int
    private let length: Int
    private var descriptor: Int32 { space.file.descriptor }
    /// Bytes that went through the page cache since it was left last.
    private let writtenBytes = Atomic(0), readBytes = Atomic(0)

    /// After so many bytes the disk has to have those that were written before them: twice as many are in
    /// the page cache at most. The disk works meanwhile.
    static let unwrittenBytesMax = 8 << 20
    /// So many bytes may stay in the page cache after they were read: what is asked for twice, and what the
    /// kernel reads ahead.
    static let cachedBytesMax = 16 << 20

    /// Takes its space on the disk, so that writing does not run out of it.
    ///
    /// - Throws: `noSpace` when the disk or a quota has not as much, `ioFailure`.
    init(bytes: Int, in space: SpoolSpace) throws(Failure) {
        start = try space.take(bytes)
        length = bytes
        self.space = space
    }

    deinit { space.giveBack(start, length) }

    /// Writes bytes at a place.
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

    /// Fills memory with the bytes of a place; any thread may.
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

    /// Waits until the disk has what was written.
    ///
    /// - Throws: `noSpace`, `ioFailure` when it did not take it.
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

    /// File systems that know no ranges keep the pages; nothing is wrong with them.
    private func check(_ status: Int32) throws(Failure) {
        guard status != 0, ![EINVAL, ENOSYS, EOPNOTSUPP].contains(errno) else { return }
        throw SpoolSpace.failure("write to the disk", .latest)
    }

    /// An advice: without it, the kernel takes the pages back when memory is short.
    private func leaveCache() { posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) }
}
