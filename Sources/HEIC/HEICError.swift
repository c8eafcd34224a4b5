public import Codecs

/// Why pixels of a HEIC cannot be had.
public enum HEICError: Error, Sendable {
    case codec(CodecError)
    /// A decoded tile is not what the boxes say, in these words.
    case contradiction(String)
    /// Codes of colours that we do not read, in these words.
    case unsupported(String)
}
