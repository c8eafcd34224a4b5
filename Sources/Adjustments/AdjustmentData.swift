public import FoundationEssentials

/// What PhotoKit keeps beside an edited photo so that the edit can be changed later.
public struct AdjustmentData: Sendable, Equatable {
    /// Who can read `data`, as reverse DNS.
    public let formatIdentifier: String
    /// The version of that format.
    public let formatVersion: String
    /// The edit, in that format. Never empty.
    public let data: Data

    /// The identifier of Minilab's own format: the canonical JSON of a ``Recipe``.
    public static let minilabFormatIdentifier = "org.minilab.recipe"
    /// The version of Minilab's own format that is written.
    public static let minilabFormatVersion = "1.0"

    /// Most bytes of `data`. Apple documents no limit; what phones write has 0.2 to 3 KB.
    public static let bytesMax = 2 << 20

    /// Identifier and version, for people.
    public var format: String { "\(formatIdentifier) \(formatVersion)" }

    /// SHA-256 of `data`, in hex.
    public var digest: String { data.sha256 }

    /// Wraps data of any format.
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
