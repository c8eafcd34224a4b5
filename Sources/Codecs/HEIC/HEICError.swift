/// The reason why pixels of a HEIC cannot be decoded.
public enum HEICError: Error, Sendable {
    case codec(CodecError)
    /// A decoded tile contradicts the boxes; the text gives the details.
    case contradiction(String)
    /// Unsupported colour codes; the text gives the details.
    case unsupported(String)
}

extension HEICError: CustomStringConvertible {
    /// Text for people, to follow the name of the file or part.
    public var description: String {
        switch self {
        case .codec(let error): "\(error)"
        case .contradiction(let reason): reason
        case .unsupported(let reason): "\(reason), which is not supported"
        }
    }
}
