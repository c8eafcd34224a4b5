public import Codecs

/// Why pixels of a HEIC cannot be had.
public enum HEICError: Error, Sendable {
    case codec(CodecError)
    /// A decoded tile is not what the boxes say, in these words.
    case contradiction(String)
    /// Codes of colours that we do not read, in these words.
    case unsupported(String)
}

extension HEICError: CustomStringConvertible {
    /// In words for people, behind the name of what could not be had.
    public var description: String {
        switch self {
        case .codec(let error): "\(error)"
        case .contradiction(let words): words
        case .unsupported(let words): "\(words), which is not supported"
        }
    }
}
