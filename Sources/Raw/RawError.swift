/// What LibRaw refused.
public struct RawError: Error, Sendable, CustomStringConvertible {
    /// What kind of refusal it is.
    public enum Kind: Sendable {
        /// No decoder for this camera or this way of packing.
        case unsupported
        /// The bytes are not what the header says.
        case damaged
        /// More memory than allowed, or than there is.
        case memory
        /// The file could not be read.
        case io
    }

    /// What kind of refusal it is.
    public let kind: Kind
    /// The step that failed.
    public let step: String
    /// LibRaw's words.
    public let text: String

    public var description: String { "LibRaw, \(step): \(text)" }
}
