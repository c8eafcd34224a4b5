/// The name of an asset: the path of its original below the library's originals.
///
/// Every name that a file system holds and UTF-8 spells is one, apart from control characters: also one with a soft hyphen, which
/// macOS writes into Dutch screenshots, a mark of direction, or a flag of tags. Output escapes what cannot be seen
/// (``Swift/String/printable``). Names are bytes, as on disk: `é` in one code point and in two are two assets.
///
/// This type checks only the text. Symbolic links can only be checked on the file system: the library does that when it opens the
/// original.
public struct AssetPath: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The path, components joined by `/`, without a leading one.
    public let string: String

    private static let slash = UInt8(ascii: "/")
    /// The longest component in bytes: Linux's limit for a file name (NAME_MAX).
    private static let componentBytesMax = 255

    /// Checks a path.
    ///
    /// - Throws: `missingField` (empty), `oversizedField`, `assetOutsideLibrary` (absolute, or a component is `..`) or
    ///   `invalidValue` (empty or `.` component, control characters, or a component longer than a file name).
    public init(_ string: String) throws(Failure) {
        guard !string.isEmpty else {
            throw Failure(
                .missingField,
                "asset is empty; it names a photo by its path below the library's originals.")
        }
        guard string.utf8.count <= ContractLimits.assetBytesMax else {
            throw Failure(
                .oversizedField,
                "asset has \(string.utf8.count) bytes; at most \(ContractLimits.assetBytesMax) "
                    + "are allowed.")
        }
        // Split by bytes, as the file system does: for Swift, a slash followed by a combining mark is one character, which differs
        // from a slash.
        let components = string.utf8.split(separator: Self.slash, omittingEmptySubsequences: false)
        guard string.utf8.first != Self.slash,
            !components.contains(where: { $0.elementsEqual("..".utf8) })
        else {
            throw Failure(
                .assetOutsideLibrary,
                "asset \(string.debugDescription.printable) leads out of the library; give the path below "
                    + "the originals, without a leading / and without \"..\".")
        }
        guard
            components.allSatisfy({
                !$0.isEmpty && !$0.elementsEqual(".".utf8) && $0.count <= Self.componentBytesMax
            }),
            !string.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw Failure(
                .invalidValue,
                "asset \(string.debugDescription.printable) is not a plain relative path: no empty or "
                    + "\".\" component, no control character, at most \(Self.componentBytesMax) bytes per "
                    + "component.")
        }
        self.string = string
    }

    /// Compares bytes. Swift's strings are equal if their characters are, in any normal form.
    public static func == (a: AssetPath, b: AssetPath) -> Bool {
        a.string.utf8.elementsEqual(b.string.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(string.utf8.count)
        for byte in string.utf8 { hasher.combine(byte) }
    }

    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }

    /// The file name without its last extension: `2024/IMG_0001.JPG` → `IMG_0001`.
    public var stem: String {
        let name = string.utf8.split(separator: Self.slash).last ?? string.utf8[...]
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else {
            return String(decoding: name, as: UTF8.self)
        }
        return String(decoding: name[..<dot], as: UTF8.self)
    }

    public var description: String { string }
}
