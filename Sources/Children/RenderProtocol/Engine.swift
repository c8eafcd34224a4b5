/// The name and version of the renderer, for provenance and logs.
public enum Engine {
    /// The version of minilab, as `minilab --version` prints it.
    public static let version = "0.4.0"

    /// The name and version in one text.
    public static let name = "minilab/\(version)"
}

/// A library that a render child decodes or encodes with, or the child's program itself.
public struct LibraryVersion: Sendable, Codable, Equatable {
    /// The name that its project uses.
    public let name: String
    public let version: String

    /// The name of the child's program.
    public static let renderer = "minilab-render"

    /// Creates a record; control characters are removed from the texts, and long texts are cut.
    public init(name: String, version: String) {
        self.name = ReplyBounds.text(name)
        self.version = ReplyBounds.text(version)
    }
}
