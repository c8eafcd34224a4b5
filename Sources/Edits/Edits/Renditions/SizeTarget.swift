/// The bound of a rendition's file, or the quality that it aims at.
public struct SizeTarget: Sendable, Equatable {
    init?(_ reader: JSONObjectReader, _ format: Recipe.Format) throws(Failure) {
        for name in ["maxBytes", "minQuality", "onMiss", "target"]
        where reader.optional(name) != nil {
            throw Failure(.invalidValue, "\(reader.path).\(name) is not supported yet.")
        }
        return nil
    }

    var json: [String: JSONValue] { [:] }
}
