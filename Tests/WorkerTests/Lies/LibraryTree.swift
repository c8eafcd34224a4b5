import Edits
import Files
import Foundation
import Glibc
import SystemPackage

/// All that a library's folder has, to be compared with what it had before.
struct LibraryTree: Equatable {
    /// A file or folder.
    struct Entry: Equatable {
        let inode: UInt64
        let mode: UInt32
        let bytes: Int
        let digest: String
    }

    let entries: [String: Entry]

    init(_ root: FilePath) throws {
        var entries: [String: Entry] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: root.string) {
            let path = root.pushing(FilePath(name)).string
            var status = stat()
            guard lstat(path, &status) == 0 else { throw Errno(rawValue: errno) }
            let isFile = status.st_mode & S_IFMT == S_IFREG
            entries[name] = Entry(
                inode: UInt64(status.st_ino), mode: status.st_mode,
                bytes: isFile ? Int(status.st_size) : 0,
                digest: isFile ? try FileDigest.sha256(of: OpenFile(reading: path)).hex : "")
        }
        self.entries = entries
    }

    /// Names of what is not as it was before, or was not there; without what jobs keep for themselves: staging, and
    /// which of them renders what.
    func differences(from before: LibraryTree) -> [String] {
        Set(entries.keys).union(before.entries.keys)
            .filter { !$0.hasPrefix("staging") && !$0.hasPrefix("renders") }
            .filter { entries[$0] != before.entries[$0] }.sorted()
    }
}
