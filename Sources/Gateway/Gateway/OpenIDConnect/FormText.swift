import Edits

/// Names and values of a form or a query.
enum FormText {
    static func encode(_ fields: [(String, String)]) -> String {
        fields.map { "\($0.0.percentEncoded())=\($0.1.percentEncoded())" }.joined(separator: "&")
    }
}
