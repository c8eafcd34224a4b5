/// A rendition as it was made: what the render child reports, and an event shows.
public struct RenditionResult: Sendable, Codable, Equatable {
    public let width: Int
    public let height: Int
    /// The quality of a lossy format, 0 to 1; nil for a lossless one.
    public let quality: Double?
    /// The number of times that it was encoded until its file had the size or quality that was asked for.
    public let encodes: Int
    /// The hashes that were asked for, by their names.
    public let hash: [String: String]?

    public init(
        size: PixelSize, quality: Double?, encodes: Int = 1, hash: [String: String]? = nil
    ) {
        (width, height) = (size.width, size.height)
        self.quality = quality
        self.encodes = encodes
        self.hash = hash
    }
}
