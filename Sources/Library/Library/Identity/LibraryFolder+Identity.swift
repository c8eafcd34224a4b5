public import Edits
import Files
import FoundationEssentials
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

    public func checkPresence() async throws(Failure) {
        try await offPool { () throws(Failure) in
            guard let found = try checkIdentity() else { return }
            // Another process may have seen the first original.
            guard found.hasOriginals || originalsSeen.isNoted else { return }
            guard try files.hasEntry(originals, where: Self.isContent) else {
                throw found.absenceOfOriginals(at: originals.string)
            }
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

/// The identity of a library: `library.json` at its root.
///
/// An explicit first use makes it, once. A place without it is no library, but perhaps the mount point of one: workers
/// make nothing there and believe nothing of what is absent there.
public struct LibraryIdentity: Sendable, Equatable {
    /// 32 random hex digits. A copy of a library has another one.
    public let id: String
    /// Whether an original was ever seen in the library. If so, a place without any original is not theirs.
    public let hasOriginals: Bool

    /// The name of the file, or the key of the object.
    package static let fileName = "library.json"
    /// The format that is written. Libraries in a bucket had it without `id` and `hasOriginals` before.
    private static let formatWritten = 1
    /// The most bytes of the file.
    package static let bytesMax = 4_096

    package init(hasOriginals: Bool) {
        let halves = (0..<2).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }
        (id, self.hasOriginals) = (halves.joined(), hasOriginals)
    }

    private init(id: String, hasOriginals: Bool) {
        (self.id, self.hasOriginals) = (id, hasOriginals)
    }

    /// The same library, in which an original was seen.
    package var withOriginals: LibraryIdentity { LibraryIdentity(id: id, hasOriginals: true) }

    private struct Document: Codable {
        let format: Int
        let id: String?
        let hasOriginals: Bool?
    }

    /// Decodes the file.
    ///
    /// - Returns: nil if an earlier release wrote it, which knew the format alone.
    /// - Throws: `laterFormat`, `damagedVersion`.
    package static func decoded(
        _ bytes: [UInt8], at location: String
    ) throws(Failure) -> LibraryIdentity? {
        let document: Document
        do {
            document = try JSONDecoder().decode(Document.self, from: Data(bytes))
        } catch {
            throw Failure(
                .damagedVersion,
                "\(location) does not say the library's format and id: \(error.decodingReason). Restore it from a backup."
            )
        }
        try LibraryDocument.checkFormat(document.format, upTo: formatWritten, at: location)
        guard let id = document.id else { return nil }
        guard id.utf8.count == 32, id.utf8.allSatisfy({ $0.isHexDigit }) else {
            throw Failure(
                .damagedVersion,
                "\(location) has the id \(id.debugDescription); expected are 32 hex digits. Restore it from a backup."
            )
        }
        return LibraryIdentity(id: id, hasOriginals: document.hasOriginals ?? false)
    }

    /// The bytes of the file.
    package func encoded() throws(Failure) -> [UInt8] {
        try LibraryDocument.encoded(
            Document(format: Self.formatWritten, id: id, hasOriginals: hasOriginals),
            "the identity of a library")
    }
}

extension LibraryIdentity {
    /// The failure of a call on a library that is not at its place, or not the one that was opened there.
    ///
    /// - Parameter found: the identity that is there; nil: none.
    package func absence(at place: String, found: LibraryIdentity?) -> Failure {
        Failure(
            .storeUnavailable,
            found.map {
                "\(place) has the library \($0.id) now, and this process works on \(id). Mount the right one, or restart."
            }
                ?? "the library \(id) is not at \(place): there is no \(Self.fileName). Is its disk mounted?"
        )
    }

    /// The failure of a call that needs the originals, where none is left.
    package func absenceOfOriginals(at place: String) -> Failure {
        Failure(
            .storeUnavailable,
            "there is no original left at \(place), and the library \(id) has had some. Is their disk mounted, and the "
                + "name right?")
    }
}

extension UInt8 {
    fileprivate var isHexDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
    }
}
