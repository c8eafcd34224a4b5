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
