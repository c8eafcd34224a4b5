extension Error {
    /// Why a JSON document could not be read, as a clause for people: the place in the document and what is wrong there, without the
    /// types of this program. Of any other error its description.
    package var decodingReason: String {
        guard let error = self as? DecodingError else { return "\(self)" }
        let place = error.place.isEmpty ? "the document" : error.place
        switch error {
        case .keyNotFound: return "\(place) is missing"
        case .valueNotFound: return "\(place) is null"
        case .typeMismatch(let type, _): return "\(place) is not \(DecodingError.kind(of: type))"
        case .dataCorrupted(let context):
            // The parser tells no place, and takes a number that is too large for damage, too.
            if context.codingPath.isEmpty {
                return "it is not valid JSON, or has a number that is out of range"
            }
            // Of a raw value, the standard library names the type.
            if context.debugDescription.hasPrefix("Cannot initialize ") {
                return "\(place) has a value that this release does not know"
            }
            let text = context.debugDescription
            return "\(place): \(text.hasSuffix(".") ? String(text.dropLast()) : text)"
        @unknown default: return "\(place) cannot be read"
        }
    }
}

extension DecodingError {
    /// The place of the error in the document, with dots between names; empty for the whole document.
    package var place: String {
        let (path, key): ([any CodingKey], (any CodingKey)?) =
            switch self {
            case .keyNotFound(let key, let context): (context.codingPath, key)
            case .typeMismatch(_, let context), .valueNotFound(_, let context),
                .dataCorrupted(let context):
                (context.codingPath, nil)
            @unknown default: ([], nil)
            }
        return (path + [key].compactMap { $0 })
            .map { key in key.intValue.map { "\($0)" } ?? key.stringValue }
            .joined(separator: ".")
    }

    /// The kind of JSON value that a type is decoded from.
    fileprivate static func kind(of type: Any.Type) -> String {
        let name = "\(type)"
        if name.hasPrefix("Dictionary<") { return "an object" }
        if name.hasPrefix("Array<") { return "a list" }
        if type is any BinaryInteger.Type { return "a whole number" }
        if type is any BinaryFloatingPoint.Type { return "a number" }
        return switch name {
        case "String": "a text"
        case "Bool": "true or false"
        default: "of the type that it must have"
        }
    }
}
