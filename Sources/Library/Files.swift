import Adjustments
import Files
import Glibc
import SystemPackage

/// The file calls of the library, each failing with a sentence that names the path.
///
/// They block; callers keep them off Swift's cooperative threads.
struct Files: Sendable {
    /// Where a test lets the process crash; nil everywhere else.
    let faults: FaultInjection?

    /// The failure that `errno` means: a full disk, and a name that will never fit, can be told from the rest.
    static func failure(_ what: String, _ path: FilePath, _ code: CInt = errno) -> Failure {
        if code == ENAMETOOLONG {
            return Failure(
                .invalidValue,
                "\(what) \(path) failed: the name is too long. A file's name may have "
                    + "\(Library.fileNameBytesMax) bytes; give the original a shorter one.")
        }
        let full = code == ENOSPC || code == EDQUOT
        return Failure(
            full ? .noSpace : .ioFailure,
            "\(what) \(path) failed: \(String(cString: strerror(code)))."
                + (full ? " Free some space; the job is retried." : ""))
    }

    /// Makes a folder and those above it that are missing.
    ///
    /// - Returns: whether it was not there.
    @discardableResult
    func makeFolder(_ path: FilePath) throws(Failure) -> Bool {
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
    func write(_ bytes: some Collection<UInt8>, to path: FilePath) throws(Failure) {
        try faults?.reach("write", path)
        let file = open(path.string, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw Self.failure("making the file", path) }
        defer { close(file) }
        var rest = ArraySlice(bytes)
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw Self.failure("writing to", path) }
            rest = rest.dropFirst(count)
        }
        guard fsync(file) == 0 else { throw Self.failure("syncing", path) }
    }

    /// All bytes of an open file, which must not have more than `bytesMax`.
    ///
    /// - Parameter oversized: the code for a file that has more.
    func read(
        _ file: CInt, _ path: FilePath, bytesMax: Int, oversized: FailureCode
    ) throws(Failure) -> [UInt8] {
        var info = stat()
        guard fstat(file, &info) == 0 else { throw Self.failure("looking at", path) }
        guard info.st_size <= bytesMax else {
            throw Failure(
                oversized,
                "\(path) has \(info.st_size) bytes; at most \(bytesMax) are expected.")
        }
        var bytes = [UInt8](repeating: 0, count: Int(info.st_size))
        var length = 0
        while length < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(file, $0.baseAddress! + length, $0.count - length)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure("reading", path) }
            if count == 0 { break }
            length += count
        }
        return Array(bytes[..<length])
    }

    /// Makes what is in a file or folder last through a power cut.
    func sync(_ path: FilePath) throws(Failure) {
        try faults?.reach("sync", path)
        let file = open(path.string, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Self.failure("opening", path) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw Self.failure("syncing", path) }
    }

    /// Moves a file, folder or link within one file system, atomically.
    func move(_ from: FilePath, to path: FilePath) throws(Failure) {
        try faults?.reach("move", path)
        guard rename(from.string, path.string) == 0 else {
            throw Self.failure("moving \(from) to", path)
        }
    }

    /// Moves a file to a name that nothing has.
    ///
    /// A link that must not be there yet, then the old name goes: a crash between leaves both, which the next call
    /// takes for what it is.
    ///
    /// - Throws: `ioFailure` when something else has the name; both stay as they are.
    func moveToFreeName(_ from: FilePath, to path: FilePath) throws(Failure) {
        try faults?.reach("moveToFreeName", path)
        guard Glibc.link(from.string, path.string) != 0 else { return try remove(from) }
        switch errno {
        case EEXIST where isSameFile(from, path): try remove(from)
        case EPERM, EOPNOTSUPP, EMLINK:
            // Memory cards (FAT) know no links.
            if try exists(path) {
                errno = EEXIST
                throw Self.failure("moving \(from) to", path)
            }
            try move(from, to: path)
        default: throw Self.failure("moving \(from) to", path)
        }
    }

    private func isSameFile(_ one: FilePath, _ other: FilePath) -> Bool {
        var (first, second) = (stat(), stat())
        defer { errno = EEXIST }
        return lstat(one.string, &first) == 0 && lstat(other.string, &second) == 0
            && first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Gives a file a second name; where the file system has no hard links, copies it.
    func link(_ source: FilePath, at path: FilePath) throws(Failure) {
        try faults?.reach("link", path)
        if Glibc.link(source.string, path.string) == 0 { return }
        switch errno {
        case EPERM, EOPNOTSUPP, EMLINK, EXDEV: try copy(source, to: path)
        default: throw Self.failure("linking \(source) to", path)
        }
    }

    /// Copies a file and fsyncs it.
    func copy(_ source: FilePath, to path: FilePath) throws(Failure) {
        try faults?.reach("copy", path)
        try FileCopy.copy(OpenFile(reading: source.string), toNew: path.string)
        try sync(path)
    }

    /// Makes a symbolic link.
    func point(_ path: FilePath, to target: String) throws(Failure) {
        try faults?.reach("point", path)
        guard symlink(target, path.string) == 0 else {
            throw Self.failure("making the link", path)
        }
    }

    /// Where a symbolic link points, or nil when there is none: nothing, or a folder.
    func linkTarget(_ path: FilePath) throws(Failure) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path.string, &buffer, buffer.count - 1)
        if count < 0 && (errno == ENOENT || errno == ENOTDIR) { return nil }
        guard count >= 0 else {
            let code = errno
            // The folder of an asset that is named like a pointer.
            if code == EINVAL, try isFolder(path) { return nil }
            throw Self.failure("reading the link", path, code)
        }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether anything is at a path; a link counts by itself.
    func exists(_ path: FilePath) throws(Failure) -> Bool {
        var info = stat()
        if lstat(path.string, &info) == 0 { return true }
        guard errno == ENOENT || errno == ENOTDIR else { throw Self.failure("looking at", path) }
        return false
    }

    /// The length of a file; links are followed.
    func length(of path: FilePath) throws(Failure) -> Int {
        var info = stat()
        guard stat(path.string, &info) == 0 else { throw Self.failure("looking at", path) }
        return Int(info.st_size)
    }

    /// Whether there is a folder at a path; a link to one is none.
    func isFolder(_ path: FilePath) throws(Failure) -> Bool {
        var info = stat()
        if lstat(path.string, &info) == 0 { return info.st_mode & S_IFMT == S_IFDIR }
        guard errno == ENOENT || errno == ENOTDIR else { throw Self.failure("looking at", path) }
        return false
    }

    /// The names in a folder, sorted; none when there is no such folder.
    func list(_ path: FilePath) throws(Failure) -> [String] {
        guard let folder = opendir(path.string) else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw Self.failure("listing", path)
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

    /// Bytes that get free when folders go together: of files that have no other name than in them.
    func freedBytes(in folders: [FilePath]) throws(Failure) -> Int {
        var found: [ino_t: (names: nlink_t, links: nlink_t, bytes: Int)] = [:]
        var open = folders
        while let folder = open.popLast() {
            for name in try list(folder) {
                let path = folder.appending(name)
                var info = stat()
                guard lstat(path.string, &info) == 0 else { throw Self.failure("looking at", path) }
                if info.st_mode & S_IFMT == S_IFDIR {
                    open.append(path)
                } else {
                    let names = (found[info.st_ino]?.names ?? 0) + 1
                    found[info.st_ino] = (names, info.st_nlink, Int(info.st_size))
                }
            }
        }
        return found.values.reduce(0) { $1.names == $1.links ? $0 + $1.bytes : $0 }
    }

    /// Removes a file, a link, or a folder with all that is in it; nothing there is fine.
    func remove(_ path: FilePath) throws(Failure) {
        try faults?.reach("remove", path)
        var info = stat()
        guard lstat(path.string, &info) == 0 else {
            if errno == ENOENT { return }
            throw Self.failure("looking at", path)
        }
        guard info.st_mode & S_IFMT == S_IFDIR else {
            guard unlink(path.string) == 0 || errno == ENOENT else {
                throw Self.failure("removing", path)
            }
            return
        }
        for name in try list(path) { try remove(path.appending(name)) }
        guard rmdir(path.string) == 0 || errno == ENOENT else {
            throw Self.failure("removing", path)
        }
    }
}
