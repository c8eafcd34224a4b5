/// A library that a render child decodes or encodes with.
public struct LibraryVersion: Sendable, Codable, Equatable {
    /// As its project calls it.
    public let name: String
    /// As the library says it of itself.
    public let version: String

    /// Makes a record; texts become plain and are cut.
    public init(name: String, version: String) {
        self.name = ReplyBounds.text(name)
        self.version = ReplyBounds.text(version)
    }
}
