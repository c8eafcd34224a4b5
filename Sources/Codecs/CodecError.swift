/// A refusal of libavcodec.
public struct CodecError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of refusal.
    public enum Kind: Sendable {
        /// The codec is not in this build, or does not know what the stream or the settings use.
        case unsupported
        /// The bytes contradict themselves, or something is missing.
        case damaged
        /// Beyond the limits, or than there is memory.
        case memory
    }

    public let kind: Kind
    /// The step that failed.
    public let step: String

    /// Makes a refusal.
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
