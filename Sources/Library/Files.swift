import Adjustments
import Glibc
import SystemPackage

/// The file calls of the library, each failing with a sentence that names the path.
///
/// They block; callers keep them off Swift's cooperative threads.
enum Files {
    /// The failure that `errno` means: a full disk can be told from the rest.
    static func failure(_ what: String, _ path: FilePath, _ code: CInt = errno) -> Failure {
        let full = code == ENOSPC || code == EDQUOT
        return Failure(
            full ? .noSpace : .ioFailure,
            "\(what) \(path) failed: \(String(cString: strerror(code)))."
                + (full ? " Free some space; the job is retried." : ""))
    }

    /// Makes a folder and those above it that are missing.
    static func makeFolder(_ path: FilePath) throws(Failure) {
        if mkdir(path.string, 0o777) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, !path.removingLastComponent().isEmpty else {
            throw failure("making the folder", path)
        }
        try makeFolder(path.removingLastComponent())
        guard mkdir(path.string, 0o777) == 0 || errno == EEXIST else {
            throw failure("making the folder", path)
        }
    }

    /// Writes a new file and fsyncs it.
    static func write(_ bytes: some Collection<UInt8>, to path: FilePath) throws(Failure) {
        let file = open(path.string, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw failure("making the file", path) }
        defer { close(file) }
        var rest = ArraySlice(bytes)
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure("writing to", path) }
            rest = rest.dropFirst(count)
        }
        guard fsync(file) == 0 else { throw failure("syncing", path) }
    }

    /// All bytes of a file, which must not have more than `bytesMax`.
    static func read(_ path: FilePath, bytesMax: Int) throws(Failure) -> [UInt8] {
        let file = open(path.string, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw failure("opening", path) }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: bytesMax + 1)
        var length = 0
        while length < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(file, $0.baseAddress! + length, $0.count - length)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw failure("reading", path) }
            if count == 0 { break }
            length += count
        }
        guard length <= bytesMax else {
            throw Failure(.ioFailure, "\(path) has more than \(bytesMax) bytes; it is not ours.")
        }
        return Array(bytes[..<length])
    }

    /// Makes what is in a file or folder last through a power cut.
    static func sync(_ path: FilePath) throws(Failure) {
        let file = open(path.string, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw failure("opening", path) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw failure("syncing", path) }
    }

    /// Moves a file, folder or link within one file system, atomically.
    static func move(_ from: FilePath, to path: FilePath) throws(Failure) {
        guard rename(from.string, path.string) == 0 else {
            throw failure("moving \(from) to", path)
        }
    }

    /// Where a symbolic link points, or nil when there is none.
    static func linkTarget(_ path: FilePath) throws(Failure) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path.string, &buffer, buffer.count - 1)
        if count < 0 && errno == ENOENT { return nil }
        guard count >= 0 else { throw failure("reading the link", path) }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether anything is at a path; a link counts by itself.
    static func exists(_ path: FilePath) throws(Failure) -> Bool {
        var info = stat()
        if lstat(path.string, &info) == 0 { return true }
        guard errno == ENOENT || errno == ENOTDIR else { throw failure("looking at", path) }
        return false
    }

    /// The names in a folder, sorted; none when there is no such folder.
    static func list(_ path: FilePath) throws(Failure) -> [String] {
        guard let folder = opendir(path.string) else {
            if errno == ENOENT { return [] }
            throw failure("listing", path)
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Removes a file, a link, or a folder with all that is in it; nothing there is fine.
    static func remove(_ path: FilePath) throws(Failure) {
        var info = stat()
        guard lstat(path.string, &info) == 0 else {
            if errno == ENOENT { return }
            throw failure("looking at", path)
        }
        guard info.st_mode & S_IFMT == S_IFDIR else {
            guard unlink(path.string) == 0 || errno == ENOENT else {
                throw failure("removing", path)
            }
            return
        }
        for name in try list(path) { try remove(path.appending(name)) }
        guard rmdir(path.string) == 0 || errno == ENOENT else { throw failure("removing", path) }
    }
}
