import CMinilab
public import Edits
import Glibc
public import SystemPackage

/// An open file, which is closed with this object. It is passed on instead of a path.
///
/// Bytes are read and written at offsets, so that several readers do not move each other's position.
public final class OpenFile: Sendable {
    /// The descriptor, valid as long as this object lives.
    public let descriptor: Int32
    /// Its name in messages: a path, or an asset's name. It is not used to open the file.
    public let name: String
    /// The SHA-256 of its bytes in hex, if the opener knows it and no process writes to the file; otherwise nil.
    public let sha256: String?
    /// An object that must live as long as this one, for example a lease of the file's space.
    private let keeps: (any Sendable)?

    /// Takes ownership of an open descriptor.
    ///
    /// - Parameter keeps: an object to release after the descriptor is closed.
    public init(
        adopting descriptor: Int32, name: String, sha256: String? = nil,
        keeps: (any Sendable)? = nil
    ) {
        self.descriptor = descriptor
        self.name = name
        self.sha256 = sha256
        self.keeps = keeps
    }

    /// Opens a path of any kind. Started programs do not inherit the descriptor.
    ///
    /// - Parameters:
    ///   - path: the path. Symbolic links are followed unless the flags forbid it.
    ///   - flags: the flags of open(2); `O_CLOEXEC` is added.
    ///   - name: its name in messages; by default the path.
    /// - Throws: the kernel's error.
    public convenience init(
        opening path: String, _ flags: Int32, name: String? = nil
    ) throws(Errno) {
        let descriptor = try Descriptor.uninterrupted { open(path, flags | O_CLOEXEC, 0o666) }
        self.init(adopting: descriptor, name: name ?? path)
    }

    /// Opens a file for reading.
    ///
    /// - Parameters:
    ///   - path: the path of the file. Symbolic links are followed.
    ///   - name: its name in messages; by default the path.
    /// - Throws: `missingAsset` if there is no such file, `unsupportedFormat` if it is not a regular file,
    ///   `ioFailure`.
    public convenience init(reading path: String, name: String? = nil) throws(Failure) {
        let name = name ?? path
        do throws(Errno) {
            // Prevents the call from waiting for a writer if the path is a pipe.
            try self.init(opening: path, O_RDONLY | O_NONBLOCK, name: name)
        } catch {
            throw [.noSuchFileOrDirectory, .notDirectory].contains(error)
                ? Failure(.missingAsset, "There is no file at \(name). Check the asset's path.")
                : Self.failure("\(name) cannot be read", error)
        }
        guard try isRegular() else {
            throw Failure(
                .unsupportedFormat, "\(name) is not a file. Give the path of a photo's file.")
        }
    }

    /// Creates an empty file in a folder that has no name and never gets one. It is removed with its last
    /// descriptor.
    ///
    /// - Throws: the kernel's error.
    public convenience init(namelessIn folder: String, name: String) throws(Errno) {
        let descriptor: Int32
        do throws(Errno) {
            descriptor = try Descriptor.uninterrupted { minilab_open_nameless(folder) }
        } catch {
            guard [EOPNOTSUPP, EISDIR, EINVAL].contains(error.rawValue) else { throw error }
            // NFS and some FUSE file systems do not support nameless files: the name is removed immediately.
            var path = Array("\(folder)/.scratch-XXXXXX".utf8CString)
            descriptor = try Descriptor.uninterrupted { minilab_open_unique(&path) }
            unlink(path)
        }
        self.init(adopting: descriptor, name: name)
    }

    /// Creates a nameless file like ``init(namelessIn:name:)``.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public static func nameless(in folder: String, name: String) throws(Failure) -> OpenFile {
        try describing("no file can be made in \(folder)", OpenFile(namelessIn: folder, name: name))
    }

    /// Creates an empty file in memory, for small contents. It needs no folder.
    ///
    /// Whoever gets it can let it grow. One that is handed to a child is made with a length, or sealed.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public static func inMemory(name: String) throws(Failure) -> OpenFile {
        OpenFile(
            adopting: try describing(
                "\(name) cannot be made in memory",
                Descriptor.uninterrupted { minilab_open_memory(name) }), name: name)
    }

    /// Creates a file of zeros in memory whose length nobody can change. Its bytes take memory when they are written.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public static func inMemory(name: String, bytes: Int) throws(Failure) -> OpenFile {
        let file = try inMemory(name: name)
        _ = try describing(
            "\(name) cannot be made in memory",
            Descriptor.uninterrupted { ftruncate(file.descriptor, off_t(bytes)) })
        _ = try describing(
            "\(name) cannot be sealed",
            Descriptor.uninterrupted { minilab_seal(file.descriptor, 0) })
        return file
    }

    /// Makes a file in memory one that nobody can change.
    ///
    /// - Throws: `ioFailure`.
    public func seal() throws(Failure) {
        _ = try Self.describing(
            "\(name) cannot be sealed", Descriptor.uninterrupted { minilab_seal(descriptor, 1) })
    }

    deinit { close(descriptor) }

    /// Returns the failure for the kernel's error, with a sentence that describes the prevented operation.
    static func failure(_ sentence: String, _ error: Errno) -> Failure {
        let code: FailureCode =
            switch error.rawValue {
            case ENOSPC, EDQUOT, EFBIG: .noSpace
            case ENAMETOOLONG: .invalidValue
            default: .ioFailure
            }
        return Failure(code, "\(sentence): \(error).")
    }

    /// Returns the result of a call, or throws the failure for its error.
    static func describing<Result>(
        _ sentence: @autoclosure () -> String, _ call: @autoclosure () throws(Errno) -> Result
    ) throws(Failure) -> Result {
        do throws(Errno) { return try call() } catch { throw failure(sentence(), error) }
    }
}

extension OpenFile {
    /// Returns its length in bytes.
    ///
    /// - Throws: `ioFailure`.
    public func length() throws(Failure) -> Int { Int(try readableStatus().st_size) }

    /// Returns whether it is a regular file, and not a folder, pipe or device.
    ///
    /// - Throws: `ioFailure`.
    public func isRegular() throws(Failure) -> Bool {
        try readableStatus().st_mode & S_IFMT == S_IFREG
    }

    /// Returns a stamp. If a later stamp is equal, the file was not written in between.
    ///
    /// - Parameter getsLinks: whether it may get further hard links in the meantime. Those set its change time, so
    ///   only its modification time is compared, which a writer can set back.
    /// - Throws: `ioFailure`.
    public func stamp(getsLinks: Bool) throws(Failure) -> FileStamp {
        FileStamp(try readableStatus(), getsLinks: getsLinks)
    }

    /// Locks the file exclusively for this process, without waiting. The kernel releases the lock when the file is
    /// closed.
    ///
    /// - Returns: false if another process has the lock.
    /// - Throws: the kernel's error.
    public func lock() throws(Errno) -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        let error = Errno.latest
        guard error == .wouldBlock || error == .interrupted else { throw error }
        return false
    }

    /// Returns whether a path leads to this very file, and not through a link: false also if the file was removed
    /// after it was opened.
    ///
    /// On NFS no single property is sufficient. A file that this machine removes while it is open continues to
    /// exist under another name with the same link count. If another machine removes it, this machine may cache the
    /// path for seconds.
    ///
    /// - Throws: the kernel's error.
    public func isAt(_ path: String) throws(Errno) -> Bool {
        let own: stat
        do throws(Errno) {
            own = try status()
        } catch {
            if error == .staleNFSFileHandle { return false }
            throw error
        }
        guard own.st_nlink > 0 else { return false }
        var found = stat()
        guard lstat(path, &found) == 0 else {
            guard errno == ENOENT || errno == ESTALE else { throw .latest }
            return false
        }
        return found.st_dev == own.st_dev && found.st_ino == own.st_ino
    }

    private func readableStatus() throws(Failure) -> stat {
        try Self.describing("\(name) cannot be read", status())
    }

    func status() throws(Errno) -> stat {
        var status = stat()
        try Descriptor.uninterrupted { fstat(descriptor, &status) }
        return status
    }
}

extension OpenFile {
    /// Returns up to `count` bytes from an offset on: fewer at the end of the file, none after an error, which the
    /// decoder meets when it reads.
    public func bytes(from offset: Int, count: Int) -> [UInt8] {
        // The decoder will meet the same error.
        (try? Descriptor.bytes(descriptor, from: offset, count: count)) ?? []
    }

    /// Fills memory from an offset on, up to the end of the file.
    ///
    /// - Returns: the number of bytes.
    /// - Throws: `ioFailure`.
    public func read(
        into memory: UnsafeMutableRawBufferPointer, from offset: Int
    ) throws(Failure) -> Int {
        try Self.describing(
            "\(name) cannot be read", Descriptor.read(descriptor, into: memory, from: offset))
    }

    /// Writes bytes at an offset.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(Failure) {
        try Self.describing(
            "\(name) cannot be written", Descriptor.write(descriptor, bytes, at: offset))
    }

    /// Writes bytes at an offset.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public func write(_ bytes: [UInt8], at offset: Int) throws(Failure) {
        try Self.describing(
            "\(name) cannot be written", Descriptor.write(descriptor, bytes, at: offset))
    }

    /// Truncates the file, or extends it by zeros.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public func cut(to length: Int) throws(Failure) {
        try Self.describing("\(name) cannot be written", Descriptor.cut(descriptor, to: length))
    }
}

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
