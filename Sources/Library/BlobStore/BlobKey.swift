public import Edits

/// The name of an object below a store's prefix, with `/` between its components.
///
/// Only names that every store preserves are valid: SeaweedFS removes empty components, refuses `.`
/// and treats a backslash as a slash, and URL parsers between client and store resolve `..`.
public struct BlobKey: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The most UTF-8 bytes of a whole key, including a store's prefix. Source: Amazon S3.
    public static let bytesMax = 1_024

    /// The most UTF-8 bytes between two slashes. Source: SeaweedFS, which uses the components as
    /// file names.
    public static let componentBytesMax = 255

    private static let slash = UInt8(ascii: "/")

    public let text: String

    /// Validates a key. Throws `invalid` with the invalid part.
    public init(_ text: String) throws(BlobError) {
        guard text.utf8.count <= Self.bytesMax else {
            throw BlobError(
                .invalid,
                "The key \(text.prefix(64))… has \(text.utf8.count) bytes; a store keeps at most "
                    + "\(Self.bytesMax): shorten the asset's path.")
        }
        // Split by bytes, as a store does: for Swift, a slash followed by a combining mark is another character.
        for component in text.utf8.split(separator: Self.slash, omittingEmptySubsequences: false) {
            let isPlain = component.allSatisfy {
                $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\")
            }
            let isFolder = component.elementsEqual(".".utf8) || component.elementsEqual("..".utf8)
            guard !component.isEmpty, !isFolder, isPlain else {
                throw BlobError(
                    .invalid,
                    "The key \"\(Self.printable(text))\" has the component "
                        + "\"\(Self.printable(Substring(component)))\"; expected one or more characters, no "
                        + "control characters, no backslash and neither \".\" nor \"..\".")
            }
            guard component.count <= Self.componentBytesMax else {
                throw BlobError(
                    .invalid,
                    "A component of the key \(text.prefix(64))… has \(component.count) bytes; "
                        + "stores keep at most \(Self.componentBytesMax): shorten the name.")
            }
        }
        self.text = text
    }

    /// Creates a key from a store's list, where other programs may have used any name.
    init(listed text: String) {
        self.text = text
    }

    public var description: String { text }

    /// Compares bytes, as stores do. Swift's strings are equal if their characters are, in any normal form.
    public static func == (a: BlobKey, b: BlobKey) -> Bool {
        a.text.utf8.elementsEqual(b.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(text.utf8.count)
        for byte in text.utf8 { hasher.combine(byte) }
    }

    /// Compares by UTF-8 bytes, the order in which stores list according to S3.
    public static func < (a: BlobKey, b: BlobKey) -> Bool {
        a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
    }

    /// Returns whether this key comes first in a tree of folders whose names are ordered by UTF-8
    /// bytes.
    func precedesByComponents(_ other: BlobKey) -> Bool {
        // The end of a name sorts before every byte that a name can contain.
        func ordered(_ key: BlobKey) -> some Sequence<UInt8> {
            key.text.utf8.lazy.map { $0 == UInt8(ascii: "/") ? 0 : $0 }
        }
        return ordered(self).lexicographicallyPrecedes(ordered(other))
    }

    private static func printable(_ text: some StringProtocol) -> String {
        String(text.prefix(64).map { $0.isASCII && $0.asciiValue! < 0x20 ? "?" : $0 })
    }
}
