public import Edits
import Glibc
public import SystemPackage

/// The calls that change a tree of files. Their failures have messages that name the path.
///
/// They block; call them outside Swift's cooperative threads.
public struct FileSystem: Sendable {
    /// The point at which a test simulates a crash; nil outside tests.
    public let faults: FaultInjection?

    /// A file without which no folder is made, because the disk that has it is not mounted then; nil: none.
    let anchor: FilePath?

    /// The most bytes of a file's name (Linux' NAME_MAX).
    public static let nameBytesMax = 255

    /// Creates the calls for a program, or for a test that simulates a crash between two of them.
    ///
    /// - Parameter anchor: a file without which no folder is made; nil: none.
    public init(faults: FaultInjection? = nil, anchor: FilePath? = nil) {
        (self.faults, self.anchor) = (faults, anchor)
    }

    /// Refuses to make a folder where a disk is not mounted: what is made in its mount point is found by nobody.
    ///
    /// - Throws: `storeUnavailable`.
    func checkAnchor() throws(Failure) {
        guard let anchor, access(anchor.string, F_OK) != 0 else { return }
        throw Failure(
            .storeUnavailable,
            "\(anchor) cannot be found (\(Errno.latest)), so nothing is made beside it. Is its disk mounted?"
        )
    }

    /// Returns the failure for the kernel's error. A full disk and a name that is too long have codes of their own.
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

    /// Returns the result of a call, or throws the failure for its error.
    public static func describing<Result>(
        _ what: @autoclosure () -> String, _ path: FilePath,
        _ call: @autoclosure () throws(Errno) -> Result
    ) throws(Failure) -> Result {
        do throws(Errno) { return try call() } catch { throw failure(what(), path, error) }
    }

    /// Creates a folder and the missing folders above it.
    ///
    /// - Returns: whether the folder was created.
    /// - Throws: `storeUnavailable` if the anchor is missing; `ioFailure`, `noSpace`.
    @discardableResult
    public func makeFolder(_ path: FilePath) throws(Failure) -> Bool {
        try faults?.reach("makeFolder", path)
        try checkAnchor()
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

    /// Writes a new file and syncs it.
    public func write(_ bytes: some Collection<UInt8>, to path: FilePath) throws(Failure) {
        try faults?.reach("write", path)
        let file = try Self.describing(
            "making the file", path, OpenFile(opening: path.string, O_WRONLY | O_CREAT | O_EXCL))
        try Self.describing(
            "writing to", path, Descriptor.write(file.descriptor, Array(bytes), at: 0))
        try Self.describing("syncing", path, Descriptor.sync(file.descriptor))
    }

    /// Makes the content of a file or folder durable, so that it survives a power cut.
    public func sync(_ path: FilePath) throws(Failure) {
        try faults?.reach("sync", path)
        let file = try Self.describing("opening", path, OpenFile(opening: path.string, O_RDONLY))
        try Self.describing("syncing", path, Descriptor.sync(file.descriptor))
    }

    /// Removes a file, a link, or a folder with its content. If nothing exists at the path, the call succeeds.
    ///
    /// A file that NFS keeps for a process of this machine stays, with the folders that contain it, until that
    /// process closes it. The next call for the same path removes those folders.
    public func remove(_ path: FilePath) throws(Failure) {
        try faults?.reach("remove", path)
        var info = stat()
        guard lstat(path.string, &info) == 0 else {
            if errno == ENOENT { return }
            throw Self.failure("reading the status of", path)
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
