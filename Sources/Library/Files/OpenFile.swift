public import Edits
import CMinilab
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
    /// - Throws: `noSpace`, `ioFailure`.
    public static func inMemory(name: String) throws(Failure) -> OpenFile {
        OpenFile(
            adopting: try describing(
                "\(name) cannot be made in memory",
                Descriptor.uninterrupted { minilab_open_memory(name) }), name: name)
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
