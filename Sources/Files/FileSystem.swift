public import Adjustments
import Glibc
public import SystemPackage

/// The calls that change a tree of files, each failing with a sentence that names the path.
///
/// They block; callers keep them off Swift's cooperative threads.
public struct FileSystem: Sendable {
    /// Where a test lets the process crash; nil everywhere else.
    public let faults: FaultInjection?

    /// Most bytes of a file's name (Linux' NAME_MAX).
    public static let nameBytesMax = 255

    /// Calls of a program, or of a test that lets it crash between two of them.
    public init(faults: FaultInjection? = nil) { self.faults = faults }

    /// The failure that the kernel's error means: a full disk, and a name that will never fit, can be told from the
    /// rest.
    public static func failure(
        _ what: String, _ path: FilePath, _ error: Errno = .latest
    ) -> Failure {
        if error == .fileNameTooLong {
            return Failure(
                .invalidValue,
                "\(what) \(path) failed: the name is too long. A file's name may have "
                    + "\(nameBytesMax) bytes; give the original a shorter one.")
        }
        let full = error == .noSpace || error.rawValue == EDQUOT
        return Failure(
            full ? .noSpace : .ioFailure,
            "\(what) \(path) failed: \(error)."
                + (full ? " Free some space; the job is retried." : ""))
    }

    /// The result of a call, or the failure that its error means.
    public static func saying<Result>(
        _ what: @autoclosure () -> String, _ path: FilePath,
        _ call: @autoclosure () throws(Errno) -> Result
    ) throws(Failure) -> Result {
        do throws(Errno) { return try call() } catch { throw failure(what(), path, error) }
    }

    /// Makes a folder and those above it that are missing.
    ///
    /// - Returns: whether it was not there.
    @discardableResult
    public func makeFolder(_ path: FilePath) throws(Failure) -> Bool {
        try faults?.reach("makeFolder", path)
        if mkdir(path.string, 0o777) == 0 { return true }
        if errno == EEXIST { return false }
        guard errno == ENOENT, !path.removingLastComponent().isEmpty else {
            throw Self.failure("making the folder", path)
        }
        try makeFolder(path.removingLastComponent())
        guard mkdir(path.string, 0o777) == 0 || errno == EEXIST else {
            throw Self.failure("making the folder", path)
        }
        return true
    }

    /// Writes a new file and fsyncs it.
    public func write(_ bytes: some Collection<UInt8>, to path: FilePath) throws(Failure) {
        try faults?.reach("write", path)
        let file = try Self.saying(
            "making the file", path, OpenFile(opening: path.string, O_WRONLY | O_CREAT | O_EXCL))
        try Self.saying("writing to", path, Descriptor.write(file.descriptor, Array(bytes), at: 0))
        try Self.saying("syncing", path, Descriptor.sync(file.descriptor))
    }

    /// Makes what is in a file or folder last through a power cut.
    public func sync(_ path: FilePath) throws(Failure) {
        try faults?.reach("sync", path)
        let file = try Self.saying("opening", path, OpenFile(opening: path.string, O_RDONLY))
        try Self.saying("syncing", path, Descriptor.sync(file.descriptor))
    }

    /// Removes a file, a link, or a folder with all that is in it; nothing there is fine.
    ///
    /// A file that NFS keeps for a process of this machine stays, with the folders that it is in, until that
    /// process closes it; the next call for the same path removes those.
    public func remove(_ path: FilePath) throws(Failure) {
        try faults?.reach("remove", path)
        var info = stat()
        guard lstat(path.string, &info) == 0 else {
            if errno == ENOENT { return }
            throw Self.failure("looking at", path)
        }
        guard info.st_mode & S_IFMT == S_IFDIR else {
            if unlink(path.string) == 0 || errno == ENOENT { return }
            if errno == EBUSY, path.lastComponent.map({ Self.isSilly($0.string) }) == true {
                return
            }
            throw Self.failure("removing", path)
        }
        for name in try list(path) { try remove(path.appending(name)) }
        guard rmdir(path.string) != 0, errno != ENOENT else { return }
        let error = Errno.latest
        guard error == .directoryNotEmpty, try hasOnlySilly(path) else {
            throw Self.failure("removing", path, error)
        }
    }
}
