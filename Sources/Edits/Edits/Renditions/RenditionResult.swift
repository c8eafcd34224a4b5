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

/// A short text that stands for a picture.
public enum RenditionHash: String, Sendable, CaseIterable {
    /// A blurred picture, by the rules of ThumbHash.
    case thumb
    /// A blurred picture, by the rules of BlurHash.
    case blur
    /// 64 bits that similar pictures share.
    case perceptual

    static func list(_ reader: JSONObjectReader) throws(Failure) -> [RenditionHash] {
        guard let value = reader.optional("hash") else { return [] }
        if case .string = value { return [try reader.choice("hash") ?? .thumb] }
        var hashes: Set<String> = []
        for value in try reader.array("hash") {
            guard case .string(let name) = value, RenditionHash(rawValue: name) != nil else {
                throw Failure(
                    .invalidValue,
                    "\(reader.path).hash has \(value.canonical); allowed: "
                        + allCases.map(\.rawValue).joined(separator: ", ") + ".")
            }
            hashes.insert(name)
        }
        return allCases.filter { hashes.contains($0.rawValue) }
    }
}
