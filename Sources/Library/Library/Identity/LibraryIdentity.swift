package import Edits
import FoundationEssentials

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

    /// Creates the identity of a new library.
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
                "\(location) does not say the library's format and id: \(error). Restore it from a backup."
            )
        }
        guard document.format <= formatWritten else {
            throw Failure(
                .laterFormat,
                "\(location) has the format \(document.format); this Minilab reads up to \(formatWritten). A later release "
                    + "made the library: upgrade this one.")
        }
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
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        do {
            return Array(
                try encoder.encode(
                    Document(format: Self.formatWritten, id: id, hasOriginals: hasOriginals)))
        } catch {
            throw Failure(.internalError, "the identity of a library does not encode: \(error)")
        }
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
