public import Edits
import Files
public import FoundationEssentials
import Glibc
import SystemPackage

/// Dead jobs that Redis does not keep: `dead/<queue>-<month>.ndjson` at the root.
extension LibraryFolder {
    /// Appends with one write, because other workers append to the same file. The lines begin with a line feed: a crash may have left
    /// an incomplete line at its end.
    public func append(
        deadLetters lines: [UInt8], of queue: String, at time: Date
    ) async throws(Failure) -> String {
        try await offPool { () throws(Failure) in
            // Not into the mount point of an absent disk, where nobody would find them.
            try checkIdentity()
            let folder = root.appending(DeadLetterFile.folder)
            if try files.makeFolder(folder) { try files.sync(root) }
            let path = folder.appending(DeadLetterFile.name(of: queue, at: time))
            let file = try FileSystem.open(path, O_WRONLY | O_CREAT | O_APPEND)
            try FileSystem.describing(
                "writing to", path,
                Descriptor.write(file.descriptor, [UInt8(ascii: "\n")] + lines))
            try FileSystem.describing("syncing", path, Descriptor.sync(file.descriptor))
            // Makes the name of a new file survive a power cut.
            try files.sync(folder)
            return path.string
        }
    }

    /// Lengths are those of now: what dies again is appended to the same files.
    public func forEachDeadLetterFile(
        at place: String, of queue: String, until time: Date,
        _ body: (DeadLetterFile) async throws -> Void
    ) async throws -> [String: Int] {
        let found = try await offPool { () throws(Failure) in
            try DeadLetterFile.files(at: place, of: queue)
        }
        for file in found.own { try await body(file) }
        return found.others
    }
}
