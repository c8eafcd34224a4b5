/// A picture or a text that is drawn over a rendition by a rule of place and size.
public struct Mark: Sendable, Equatable {
    static func list(_ reader: JSONObjectReader) throws(Failure) -> [Mark] {
        guard reader.optional("marks") == nil else {
            throw Failure(.invalidValue, "\(reader.path).marks is not supported yet.")
        }
        return []
    }

    var json: JSONValue { .null }
}
