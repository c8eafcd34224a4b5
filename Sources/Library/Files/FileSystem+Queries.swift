public import Edits
public import FoundationEssentials
import Glibc
public import SystemPackage

/// Queries about existing files and folders.
extension FileSystem {
    /// Returns the target of a symbolic link; nil if there is nothing or a folder at the path.
    public func linkTarget(_ path: FilePath) throws(Failure) -> String? {
        do throws(Errno) {
            return try Self.target(ofLink: path.string)
        } catch {
            if [.noSuchFileOrDirectory, .notDirectory].contains(error) { return nil }
            // The folder of an asset whose name is that of a pointer.
            if error == .invalidArgument, try isFolder(path) { return nil }
            throw Self.failure("reading the link", path, error)
        }
    }

    /// Returns the target of a symbolic link.
    ///
    /// - Throws: the kernel's error; `invalidArgument` if it is not a link.
    public static func target(ofLink path: String) throws(Errno) -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = try buffer.withUnsafeMutableBufferPointer { buffer throws(Errno) in
            try Descriptor.uninterrupted {
                buffer.withMemoryRebound(to: CChar.self) {
                    readlink(path, $0.baseAddress!, $0.count)
                }
            }
        }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// Returns whether anything exists at a path. A link counts, whatever its target.
    public func exists(_ path: FilePath) throws(Failure) -> Bool { try status(path) != nil }

    /// Returns whether there is a folder at a path. A link to a folder does not count.
    public func isFolder(_ path: FilePath) throws(Failure) -> Bool {
        guard let status = try status(path) else { return false }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns the status of a file, folder or link; nil if nothing exists at the path.
    private func status(_ path: FilePath) throws(Failure) -> stat? {
        var info = stat()
        if lstat(path.string, &info) == 0 { return info }
        guard errno == ENOENT || errno == ENOTDIR else {
            throw Self.failure("reading the status of", path)
        }
        return nil
    }

    /// Returns the time of the last write to a file, or of the last change of a folder's entries; nil if it does
    /// not exist.
    public func modified(_ path: FilePath) throws(Failure) -> Date? {
        try status(path).map { Date(timeIntervalSince1970: Double($0.st_mtim.tv_sec)) }
    }

    /// Returns the length of a file. Links are followed.
    public func length(of path: FilePath) throws(Failure) -> Int {
        var info = stat()
        guard stat(path.string, &info) == 0 else {
            throw Self.failure("reading the status of", path)
        }
        return Int(info.st_size)
    }

    /// Returns the names in a folder, sorted; none if there is no such folder.
    public func list(_ path: FilePath) throws(Failure) -> [String] {
        var names: [String] = []
        _ = try hasEntry(path) { name in
            names.append(name)
            return false
        }
        return names.sorted()
    }

    /// Returns whether a folder has an entry that counts; false if there is no such folder. It reads no further than that.
    ///
    /// - Parameter counts: tells by the name whether an entry counts.
    public func hasEntry(
        _ path: FilePath, where counts: (String) -> Bool = { _ in true }
    ) throws(Failure) -> Bool {
        guard let folder = opendir(path.string) else {
            if errno == ENOENT || errno == ENOTDIR { return false }
            throw Self.failure("listing", path)
        }
        defer { closedir(folder) }
        while true {
            errno = 0
            guard let entry = readdir(folder) else {
                // An incomplete list must not be taken for the complete one.
                guard errno == 0 else { throw Self.failure("listing", path) }
                return false
            }
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != "..", counts(name) { return true }
        }
    }

    /// Returns the bytes that are freed if the folders are removed together: those of files with no other name
    /// outside them.
    public func freedBytes(in folders: [FilePath]) throws(Failure) -> Int {
        var found: [ino_t: (names: nlink_t, links: nlink_t, bytes: Int)] = [:]
        var open = folders
        while let folder = open.popLast() {
            for name in try list(folder) {
                let path = folder.appending(name)
                var info = stat()
                guard lstat(path.string, &info) == 0 else {
                    throw Self.failure("reading the status of", path)
                }
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

    /// Returns all bytes of an open file, which must not have more than `bytesMax`.
    ///
    /// - Parameter oversized: the code for a longer file.
    /// - Throws: that code; `ioFailure`.
    public func read(
        _ file: OpenFile, bytesMax: Int, oversized: FailureCode
    ) throws(Failure) -> [UInt8] {
        let path = FilePath(file.name)
        let length = try Self.describing("reading the status of", path, Int(file.status().st_size))
        guard length <= bytesMax else {
            throw Failure(
                oversized, "\(path) has \(length) bytes; at most \(bytesMax) are expected.")
        }
        return try Self.describing(
            "reading", path, Descriptor.bytes(file.descriptor, count: length))
    }
}

/// The space of a file system, as available to this user.
public struct DiskSpace: Sendable, Equatable {
    /// The number of free bytes.
    public let free: Int
    /// The total number of bytes.
    public let total: Int

    private init(_ status: statvfs) {
        let unit = Int(clamping: status.f_frsize)
        func bytes(_ blocks: fsblkcnt_t) -> Int {
            let (bytes, isTooMany) = Int(clamping: blocks).multipliedReportingOverflow(by: unit)
            return isTooMany ? .max : bytes
        }
        (free, total) = (bytes(status.f_bavail), bytes(status.f_blocks))
    }

    /// Reads the space of the file system with an open file.
    ///
    /// - Throws: `ioFailure`.
    public init(of file: OpenFile) throws(Failure) {
        var status = statvfs()
        guard fstatvfs(file.descriptor, &status) == 0 else {
            throw FileSystem.failure("asking for the free space at", FilePath(file.name))
        }
        self.init(status)
    }

    /// Reads the space of the file system with a folder.
    ///
    /// - Throws: `ioFailure`.
    public init(at folder: FilePath) throws(Failure) {
        var status = statvfs()
        guard statvfs(folder.string, &status) == 0 else {
            throw FileSystem.failure("asking for the free space at", folder)
        }
        self.init(status)
    }
}

/// The mount of a file system.
public struct Mount: Sendable, Equatable {
    /// Its type: `ext4`, `nfs4`.
    public let type: String
    /// The options of the file system: `hard`, `vers=4.2`.
    public let options: Set<String>

    /// Parses a line of `/proc/self/mountinfo`; nil if it is not the mount of this device (`major:minor`).
    ///
    /// Source: proc(5): `36 35 98:0 /root /mnt rw,noatime master:1 - ext3 /dev/root rw,errors=continue`.
    public init?(line: Substring, device: String) {
        let fields = line.split(separator: " ")
        guard fields.count > 2, fields[2] == device, let dash = fields.firstIndex(of: "-"),
            fields.count > dash + 3
        else { return nil }
        type = String(fields[dash + 1])
        options = Set(fields[dash + 3].split(separator: ",").map(String.init))
    }

    /// Finds the mount of a path; nil if the kernel does not report it.
    ///
    /// - Throws: `ioFailure` if nothing exists at the path, or the kernel's list cannot be read.
    public init?(of path: FilePath) throws(Failure) {
        var info = stat()
        guard stat(path.string, &info) == 0 else {
            throw FileSystem.failure("reading the status of", path)
        }
        // Linux' encoding of device numbers: glibc, `bits/sysmacros.h`.
        let major = (info.st_dev >> 8) & 0xFFF | (info.st_dev >> 32) & ~0xFFF
        let minor = info.st_dev & 0xFF | (info.st_dev >> 12) & ~0xFF
        let device = "\(major):\(minor)"
        let list = FilePath("/proc/self/mountinfo")
        let text: String
        do {
            text = try String(contentsOfFile: list.string, encoding: .utf8)
        } catch {
            throw Failure(.ioFailure, "\(list) cannot be read: \(error)")
        }
        for line in text.split(separator: "\n") {
            guard let mount = Mount(line: line, device: device) else { continue }
            self = mount
            return
        }
        return nil
    }

    /// The reason why a library must not be on this mount, with the remedy; nil if there is none.
    public var objection: String? {
        guard type.hasPrefix("nfs") else { return nil }
        let value = options.first { $0.hasPrefix("vers=") }?.dropFirst(5) ?? ""
        if type == "nfs", !value.hasPrefix("4") {
            return
                "it is NFS \(value). Mount it with vers=4.2: older versions lock through a separate service, and "
                + "were not tested."
        }
        if !options.isDisjoint(with: ["nolock", "local_lock=all", "local_lock=flock"]) {
            return "its locks hold on this machine alone. Mount it without nolock and local_lock."
        }
        if !options.isDisjoint(with: ["soft", "softerr"]) {
            return
                "it is mounted soft: while the server does not answer calls fail, and some of them were done. Mount it hard."
        }
        return nil
    }
}
