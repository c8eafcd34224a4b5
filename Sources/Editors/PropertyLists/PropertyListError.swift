/// The reason why bytes are not a supported property list: a sentence to which the caller adds the file.
public struct PropertyListError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The fault, with the value, the position and the expected value.
    public let message: String

    /// Makes an error.
    init(_ message: String) { self.message = message }

    public var description: String { message }
}

extension String {
    /// The beginning of an untrusted text, in quotes, for an error.
    var excerpt: String {
        let beginning = String(String.UnicodeScalarView(unicodeScalars.prefix(40)))
        return beginning.debugDescription
    }
}
