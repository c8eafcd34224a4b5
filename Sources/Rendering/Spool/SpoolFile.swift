import Adjustments
import CSpool
import Glibc
import Synchronization

/// A file without a name for what does not fit into memory.
///
/// It is gone with this object or with the process, however that ends. What is written goes to the disk
/// at once and out of the page cache, as does what is read: else the kernel would count it to the
/// process's cgroup.
final class SpoolFile: Sendable {
    private let descriptor: Int32
    private let folder: String
    /// Bytes that went through the page cache since it was left last.
    private let writtenBytes = Atomic(0), readBytes = Atomic(0)

    /// After so many bytes the disk has to have those that were written before them: twice as many are in
    /// the page cache at most. The disk works meanwhile.
    static let unwrittenBytesMax = 8 << 20
    /// So many bytes may stay in the page cache after they were read: what is asked for twice, and what the
    /// kernel reads ahead.
    static let cachedBytesMax = 16 << 20

    /// Makes the file and takes its space on the disk, so that writing does not run out of it.
    ///
    /// - Throws: `noSpace` when the disk or a quota has not as much, `ioFailure`.
    init(bytes: Int, in folder: String) throws(Failure) {
        var status = statvfs()
        if statvfs(folder, &status) == 0 {
            let free = Int(clamping: status.f_bavail) * Int(clamping: status.f_frsize)
            guard free >= bytes else {
                throw Failure(
                    .noSpace,
                    "The render needs a spool file of \(bytes) bytes, and the disk of \(folder) has \(free) "
                        + "free. Free some space, or put the staging folder on a larger disk.")
            }
        }
        let descriptor = try Self.open(in: folder)
        let number = Self.take(bytes, of: descriptor)
        guard number == 0 else {
            close(descriptor)
            throw Self.failure("make a spool file of \(bytes) bytes", number, in: folder)
        }
        self.descriptor = descriptor
        self.folder = folder
    }

    deinit { close(descriptor) }

    /// A nameless file never has a name; where the file system lacks such (NFS, some FUSE), the name is
    /// removed at once.
    private static func open(in folder: String) throws(Failure) -> Int32 {
        var descriptor = minilab_open_nameless(folder)
        if descriptor < 0, [EOPNOTSUPP, EISDIR, EINVAL].contains(errno) {
            var name = Array("\(folder)/.spool-XXXXXX".utf8CString)
            descriptor = minilab_open_unique(&name)
            if descriptor >= 0 { unlink(name) }
        }
        guard descriptor < 0 else { return descriptor }
        throw failure("make a spool file", errno, in: folder)
    }

    /// Takes the space, or on file systems that cannot, the length alone.
    ///
    /// - Returns: the kernel's error number, or 0.
    private static func take(_ bytes: Int, of descriptor: Int32) -> Int32 {
        while true {
            if minilab_allocate(descriptor, Int64(bytes)) == 0 { return 0 }
            switch errno {
            case EINTR: continue
            case EOPNOTSUPP: return ftruncate(descriptor, bytes) == 0 ? 0 : errno
            default: return errno
            }
        }
    }

    /// Writes bytes at a place.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(Failure) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, offset + done)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("write \(bytes.count) bytes", errno) }
            done += count
        }
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
        var done = 0
        while done < bytes.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
            let count = pread(descriptor, rest.baseAddress, rest.count, offset + done)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw failure("read \(bytes.count) bytes", count < 0 ? errno : EIO)
            }
            done += count
        }
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
        throw failure("write to the disk", errno)
    }

    /// An advice: without it, the kernel takes the pages back when memory is short.
    private func leaveCache() { posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) }

    private func failure(_ action: String, _ number: Int32) -> Failure {
        Self.failure(action, number, in: folder)
    }

    private static func failure(_ action: String, _ number: Int32, in folder: String) -> Failure {
        let isFull = [ENOSPC, EDQUOT, EFBIG].contains(number)
        return Failure(
            isFull ? .noSpace : .ioFailure,
            "The render could not \(action) in \(folder): \(String(cString: strerror(number)))."
                + (isFull ? " Free some space, or raise the quota." : ""))
    }
}
