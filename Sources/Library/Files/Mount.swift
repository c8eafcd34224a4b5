public import Edits
import FoundationEssentials
import Glibc
public import SystemPackage

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
