import Edits
import Files
import Foundation
import Glibc

/// The files that a process has open.
struct OpenInodes {
    let all: Set<UInt64>
    let writable: Set<UInt64>
    let targets: [String]
    /// Kept open: a number is not given to another file as long as its own is.
    private let held: [OpenFile]

    init(of pid: pid_t) throws {
        let folder = "/proc/\(pid)/fd"
        var (all, writable, targets): (Set<UInt64>, Set<UInt64>, [String]) = ([], [], [])
        var held: [OpenFile] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            var (status, link) = (stat(), stat())
            guard stat("\(folder)/\(name)", &status) == 0, lstat("\(folder)/\(name)", &link) == 0
            else { continue }
            targets.append(
                try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"))
            guard status.st_mode & S_IFMT == S_IFREG else { continue }
            let file = open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC)
            if file >= 0 { held.append(OpenFile(adopting: file, name: name)) }
            all.insert(UInt64(status.st_ino))
            if link.st_mode & S_IWUSR != 0 { writable.insert(UInt64(status.st_ino)) }
        }
        (self.all, self.writable, self.targets, self.held) = (all, writable, targets, held)
    }

    static func inode(_ descriptor: Int32) throws -> UInt64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw Failure(.internalError, "a file that is open has no inode")
        }
        return UInt64(status.st_ino)
    }
}
