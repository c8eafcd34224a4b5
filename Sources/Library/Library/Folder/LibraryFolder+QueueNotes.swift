public import Edits
import Files
import Glibc
import SystemPackage

/// What a queue has to find again although its Redis has lost it: `queues/<queue>.json` at the root.
extension LibraryFolder {
    public func note(of queue: String) async throws(Failure) -> [UInt8]? {
        try await offPool { () throws(Failure) in
            let path = noteFolder.appending(queue + ".json")
            let file: OpenFile
            do throws(Errno) {
                file = try OpenFile(opening: path.string, O_RDONLY)
            } catch {
                if error == .noSuchFileOrDirectory { return nil }
                throw FileSystem.failure("opening", path, error)
            }
            return try FileSystem.describing(
                "reading", path,
                Descriptor.bytes(file.descriptor, count: LibraryIdentity.bytesMax))
        }
    }

    public func keep(_ note: [UInt8], of queue: String) async throws(Failure) {
        try await offPool { () throws(Failure) in
            // Not into the mount point of an absent disk.
            try checkIdentity()
            if try files.makeFolder(noteFolder) { try files.sync(root) }
            let written = noteFolder.appending(
                ".\(queue)-\(UInt64.random(in: .min ... .max))")
            try files.write(note, to: written)
            try files.move(written, to: noteFolder.appending(queue + ".json"))
            try files.sync(noteFolder)
        }
    }

    private var noteFolder: FilePath { root.appending("queues") }
}
