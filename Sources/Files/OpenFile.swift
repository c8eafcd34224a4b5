public import Adjustments
import CSpool
import Glibc
public import SystemPackage

/// A file that somebody opened, closed with this object: what is handed over instead of a path.
///
/// Bytes are read and written at offsets, so that several readers do not move each other's place.
public final class OpenFile: Sendable {
    /// The descriptor; valid as long as this object lives.
    public let descriptor: Int32
    /// How sentences call it: a path, or an asset's name. Nothing is opened by it.
    public let name: String
    /// SHA-256 in hex of its bytes, where whoever opened it knows it and nobody writes to the file; else nil.
    public let sha256: String?
    /// Lives as long as this object: a lease of the space that the file takes, say.
    private let keeps: (any Sendable)?

    /// Takes over an open descriptor.
    ///
    /// - Parameter keeps: let go after the descriptor is closed.
    public init(
        adopting descriptor: Int32, name: String, sha256: String? = nil,
        keeps: (any Sendable)? = nil
    ) {
        self.descriptor = descriptor
        self.name = name
        self.sha256 = sha256
        self.keeps = keeps
    }

    /// Opens whatever has a path; programs that are started do not get it.
    ///
    /// - Parameters:
    ///   - path: symbolic links are followed unless the flags say otherwise.
    ///   - flags: of open(2); `O_CLOEXEC` is added.
    ///   - name: how sentences call it; the path unless given.
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
    ///   - path: of the file; symbolic links are followed.
    ///   - name: how sentences call it; the path unless given.
    /// - Throws: `missingAsset` when there is no such file, `unsupportedFormat` when it is no regular file,
    ///   `ioFailure`.
    public convenience init(reading path: String, name: String? = nil) throws(Failure) {
        let name = name ?? path
        do throws(Errno) {
            // Not to wait for a writer when somebody put a pipe there.
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

    /// Makes an empty file in a folder that has no name and never gets one: it is gone with the last descriptor.
    ///
    /// - Throws: the kernel's error.
    public convenience init(namelessIn folder: String, name: String) throws(Errno) {
        let descriptor: Int32
        do throws(Errno) {
            descriptor = try Descriptor.uninterrupted { minilab_open_nameless(folder) }
        } catch {
            guard [EOPNOTSUPP, EISDIR, EINVAL].contains(error.rawValue) else { throw error }
            // NFS and some FUSE lack such files: the name is removed at once.
            var path = Array("\(folder)/.scratch-XXXXXX".utf8CString)
            descriptor = try Descriptor.uninterrupted { minilab_open_unique(&path) }
            unlink(path)
        }
        self.init(adopting: descriptor, name: name)
    }

    /// As ``init(namelessIn:name:)``.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public static func nameless(in folder: String, name: String) throws(Failure) -> OpenFile {
        try saying("no file can be made in \(folder)", OpenFile(namelessIn: folder, name: name))
    }

    /// Makes an empty file in memory, for what is small: no folder is needed.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    public static func inMemory(name: String) throws(Failure) -> OpenFile {
        OpenFile(
            adopting: try saying(
                "\(name) cannot be made in memory",
                Descriptor.uninterrupted { minilab_open_memory(name) }), name: name)
    }

    deinit { close(descriptor) }

    /// The failure that the kernel's error means, with a sentence of what it prevented.
    static func failure(_ sentence: String, _ error: Errno) -> Failure {
        let code: FailureCode =
            switch error.rawValue {
            case ENOSPC, EDQUOT, EFBIG: .noSpace
            case ENAMETOOLONG: .invalidValue
            default: .ioFailure
            }
        return Failure(code, "\(sentence): \(error).")
    }

    /// The result of a call, or the failure that its error means.
    static func saying<Result>(
        _ sentence: @autoclosure () -> String, _ call: @autoclosure () throws(Errno) -> Result
    ) throws(Failure) -> Result {
        do throws(Errno) { return try call() } catch { throw failure(sentence(), error) }
    }
}
