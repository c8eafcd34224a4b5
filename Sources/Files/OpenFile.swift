public import Adjustments
import CSpool
import Glibc

/// A file that somebody opened, closed with this object: what is handed over instead of a path.
///
/// Bytes are read and written at offsets, so that several readers do not move each other's place.
public final class OpenFile: Sendable {
    /// The descriptor; valid as long as this object lives.
    public let descriptor: Int32
    /// How sentences call it: a path, or an asset's name. Nothing is opened by it.
    public let name: String

    /// Takes over an open descriptor.
    public init(adopting descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// Opens a file for reading.
    ///
    /// - Parameters:
    ///   - path: of the file; symbolic links are followed.
    ///   - name: how sentences call it; the path unless given.
    /// - Throws: `missingAsset` when there is no such file, `unsupportedFormat` when it is no regular file,
    ///   `ioFailure`.
    public convenience init(reading path: String, name: String? = nil) throws(Failure) {
        let name = name ?? path
        // Not to wait for a writer when somebody put a pipe there.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let isMissing = errno == ENOENT || errno == ENOTDIR
            throw isMissing
                ? Failure(.missingAsset, "There is no file at \(name). Check the asset's path.")
                : Self.failure("\(name) cannot be read")
        }
        self.init(adopting: descriptor, name: name)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.failure("\(name) cannot be read") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(
                .unsupportedFormat, "\(name) is not a file. Give the path of a photo's file.")
        }
    }

    deinit { close(descriptor) }

    /// Makes an empty file in a folder that has no name and never gets one: it is gone with the last descriptor.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public static func nameless(in folder: String, name: String) throws(Failure) -> OpenFile {
        var descriptor = minilab_open_nameless(folder)
        if descriptor < 0, [EOPNOTSUPP, EISDIR, EINVAL].contains(errno) {
            // NFS and some FUSE lack such files: the name is removed at once.
            var path = Array("\(folder)/.scratch-XXXXXX".utf8CString)
            descriptor = minilab_open_unique(&path)
            if descriptor >= 0 { unlink(path) }
        }
        guard descriptor >= 0 else { throw failure("no file can be made in \(folder)") }
        return OpenFile(adopting: descriptor, name: name)
    }

    /// Its length in bytes.
    ///
    /// - Throws: `ioFailure`.
    public func length() throws(Failure) -> Int { Int(try status().st_size) }

    /// Tells, compared with a later one, that the file was not written to.
    ///
    /// - Parameter getsLinks: whether it may get further hard links meanwhile. Those set its time of change, so only its
    ///   time of writing is looked at, which whoever writes can set back.
    /// - Throws: `ioFailure`.
    public func stamp(getsLinks: Bool) throws(Failure) -> FileStamp {
        FileStamp(try status(), getsLinks: getsLinks)
    }

    private func status() throws(Failure) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.failure("\(name) cannot be read") }
        return status
    }

    /// Up to so many bytes from a place on; fewer at the end, none after an error, which then shows when the
    /// decoder reads.
    public func bytes(from offset: Int, count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(descriptor, &bytes, count, offset)
        return Array(bytes.prefix(max(0, read)))
    }

    /// Fills memory from a place on, as far as the file goes.
    ///
    /// - Returns: the number of bytes.
    /// - Throws: `ioFailure`.
    public func read(
        into memory: UnsafeMutableRawBufferPointer, from offset: Int
    ) throws(Failure) -> Int {
        var done = 0
        while done < memory.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: memory[done...])
            let count = pread(descriptor, rest.baseAddress, rest.count, offset + done)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure("\(name) cannot be read") }
            if count == 0 { break }
            done += count
        }
        return done
    }

    /// Writes bytes at a place.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(Failure) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, offset + done)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure("\(name) cannot be written") }
            done += count
        }
    }

    /// Writes bytes at a place.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public func write(_ bytes: [UInt8], at offset: Int) throws(Failure) {
        let result = bytes.withUnsafeBytes { bytes -> Result<Void, Failure> in
            do throws(Failure) { return .success(try write(bytes, at: offset)) } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Cuts the file off, or lengthens it by zeros.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public func cut(to length: Int) throws(Failure) {
        guard ftruncate(descriptor, length) == 0 else {
            throw Self.failure("\(name) cannot be written")
        }
    }

    static func failure(_ sentence: String) -> Failure {
        let code: FailureCode =
            switch errno {
            case ENOSPC, EDQUOT, EFBIG: .noSpace
            case ENAMETOOLONG: .invalidValue
            default: .ioFailure
            }
        return Failure(code, "\(sentence): \(String(cString: strerror(errno))).")
    }
}

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
}
