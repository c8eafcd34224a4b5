/// Why bytes are no property list that we read: a sentence, for whoever knows what file it was.
public struct PropertyListError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, with which value, where, and what was expected.
    public let message: String

    /// Makes an error.
    init(_ message: String) { self.message = message }

    public var description: String { message }
}

extension String {
    /// The beginning of a stranger's text, in quotes, for an error.
    var excerpt: String {
        let beginning = String(String.UnicodeScalarView(unicodeScalars.prefix(40)))
        return beginning.debugDescription
    }
}
