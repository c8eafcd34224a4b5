public import Edits
import Files
import Glibc
import Synchronization
public import SystemPackage

extension LibraryIdentity {
    /// Reads the identity of a library in a folder; nil if there is none.
    ///
    /// - Throws: `laterFormat`, `damagedVersion`, `ioFailure`.
    static func read(in root: FilePath) throws(Failure) -> LibraryIdentity? {
        let path = root.appending(fileName)
        let file: OpenFile
        do throws(Errno) {
            file = try OpenFile(opening: path.string, O_RDONLY)
        } catch {
            if [.noSuchFileOrDirectory, .notDirectory].contains(error) { return nil }
            throw FileSystem.failure("opening", path, error)
        }
        let bytes = try FileSystem.describing(
            "reading", path, Descriptor.bytes(file.descriptor, count: bytesMax))
        guard let identity = try decoded(bytes, at: path.string) else {
            throw Failure(.damagedVersion, "\(path) has no id. Restore it from a backup.")
        }
        return identity
    }

    /// Writes the identity of a new library, unless another process was faster.
    ///
    /// - Returns: the identity that is there now.
    func begin(in root: FilePath) throws(Failure) -> LibraryIdentity {
        let files = FileSystem()
        let written = try write(beside: root, files)
        do throws(Failure) {
            try files.moveToFreeName(written, to: root.appending(Self.fileName))
        } catch {
            try files.remove(written)
            guard let other = try Self.read(in: root) else { throw error }
            return other
        }
        try files.sync(root)
        return self
    }

    /// Replaces the file by this one.
    func replace(in root: FilePath) throws(Failure) {
        let files = FileSystem()
        try files.move(try write(beside: root, files), to: root.appending(Self.fileName))
        try files.sync(root)
    }

    private func write(beside root: FilePath, _ files: FileSystem) throws(Failure) -> FilePath {
        let path = root.appending(".library-\(UInt64.random(in: .min ... .max))")
        try files.write(try encoded(), to: path)
        return path
    }
}

extension LibraryFolder {
    /// The contents of a folder that is given as a library.
    public enum Contents: Sendable, Equatable {
        /// A library with an identity.
        case library(LibraryIdentity)
        /// Originals or versions without an identity: a library of an earlier release, or one that a person has prepared.
        case unmarked
        /// Neither: a new folder, a wrong name, or the mount point of a disk. Earlier releases made their folders there
        /// nevertheless, so three empty ones are no library either.
        case nothing
    }

    /// Returns what a folder that is given as a library contains.
    public static func contents(of root: FilePath) throws(Failure) -> Contents {
        if let identity = try LibraryIdentity.read(in: root) { return .library(identity) }
        let files = FileSystem()
        let own = [root.appending("originals"), root.appending("edits")]
        for folder in own where try files.hasEntry(folder, where: isContent) { return .unmarked }
        if try files.exists(root.appending("staging")) {
            // A worker was here and left nothing, or has begun the library since.
            return try LibraryIdentity.read(in: root).map { .library($0) } ?? .nothing
        }
        for folder in own where try files.exists(folder) { return .unmarked }
        return .nothing
    }

    /// Returns whether an entry of a folder of originals or edits is a photo or a folder of photos: not one that a disk
    /// has when it is empty, nor one of unfinished uploads.
    static func isContent(_ name: String) -> Bool {
        name != "lost+found" && !name.hasPrefix(OriginalsListing.copyPrefix)
    }

    /// Checks that the library is at its place, and is the one that was opened.
    ///
    /// - Returns: its identity now; nil if an earlier release made it, and it is only read.
    /// - Throws: `storeUnavailable`, `ioFailure`.
    @discardableResult
    func checkIdentity() throws(Failure) -> LibraryIdentity? {
        guard let identity else { return nil }
        let found = try LibraryIdentity.read(in: root)
        guard let found, found.id == identity.id else {
            throw identity.absence(at: root.string, found: found)
        }
        return found
    }

    /// Checks that library and originals are at their places, so that what is absent in them is absent.
    ///
    /// - Throws: `storeUnavailable`, `ioFailure`.
    public func checkPresence() throws(Failure) {
        guard let found = try checkIdentity() else { return }
        // Another process may have seen the first original.
        guard found.hasOriginals || originalsSeen.isNoted else { return }
        guard try files.hasEntry(originals, where: Self.isContent) else {
            throw found.absenceOfOriginals(at: originals.string)
        }
    }

    /// Records in the identity that the library has originals, once.
    func noteOriginals() {
        guard let identity, !originalsSeen.isNoted else { return }
        originalsSeen.note()
        do throws(Failure) {
            guard let found = try LibraryIdentity.read(in: root), found.id == identity.id,
                !found.hasOriginals
            else { return }
            try found.withOriginals.replace(in: root)
        } catch {
            // The next process that opens an original records it; until then this one knows.
        }
    }
}

/// Whether a process knows that the library has originals.
final class OriginalsSeen: Sendable {
    private let noted: Mutex<Bool>

    init(_ isNoted: Bool) { noted = Mutex(isNoted) }

    var isNoted: Bool { noted.withLock { $0 } }

    func note() { noted.withLock { $0 = true } }
}
