public import FoundationEssentials

/// The data that PhotoKit stores beside an edited photo so that the edit can be changed later.
public struct AdjustmentData: Sendable, Equatable {
    /// The format of `data`, as reverse DNS; it identifies the editors that can read it.
    public let formatIdentifier: String
    public let formatVersion: String
    /// The edit in that format. Never empty.
    public let data: Data

    /// The identifier of Minilab's own format: the canonical JSON of a ``Recipe``.
    public static let minilabFormatIdentifier = "org.minilab.recipe"
    /// The version of Minilab's own format that this release writes.
    public static let minilabFormatVersion = "1.0"

    /// The most bytes of `data`. Apple documents no limit; phones write 0.2 to 3 KB.
    public static let bytesMax = 2 << 20

    /// Identifier and version, for messages.
    public var format: String { "\(formatIdentifier) \(formatVersion)" }

    /// SHA-256 of `data`, in hex.
    public var digest: String { data.sha256 }

    public init(formatIdentifier: String, formatVersion: String, data: Data) {
        self.formatIdentifier = formatIdentifier
        self.formatVersion = formatVersion
        self.data = data
    }

    /// Encodes a recipe in Minilab's own format.
    public init(_ recipe: Recipe) {
        self.init(
            formatIdentifier: Self.minilabFormatIdentifier,
            formatVersion: Self.minilabFormatVersion, data: Data(recipe.json.canonical.utf8))
    }
}
