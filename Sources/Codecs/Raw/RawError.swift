/// An error of LibRaw.
public struct RawError: Error, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Kind: Sendable {
        /// The camera or its packing is not supported.
        case unsupported
        /// The bytes contradict the header.
        case damaged
        /// The allowed or available memory is exceeded.
        case memory
        /// The file could not be read.
        case io
    }

    /// The kind of error.
    public let kind: Kind
    /// The step that failed.
    public let step: String
    /// LibRaw's message.
    public let text: String

    public var description: String { "LibRaw, \(step): \(text)" }
}
