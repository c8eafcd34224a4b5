/// An error of libavcodec.
public struct CodecError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of error.
    public enum Kind: Sendable {
        /// The codec is not in this build, or does not support a feature of the stream or the settings.
        case unsupported
        /// The bytes are inconsistent or incomplete.
        case damaged
        /// A limit is exceeded, or memory is exhausted.
        case memory
    }

    public let kind: Kind
    /// The step that failed.
    public let step: String

    /// Creates an error.
    public init(kind: Kind, step: String) { (self.kind, self.step) = (kind, step) }

    public var description: String {
        let reason =
            switch kind {
            case .unsupported: "is not supported"
            case .damaged: "contradicts itself"
            case .memory: "needs more memory than is allowed: out of memory"
            }
        return "libavcodec \(VideoDecoder.version), \(step): what it is given \(reason)"
    }
}
