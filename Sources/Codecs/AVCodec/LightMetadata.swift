/// The light that a movie was made for: the display on which it was graded, and the levels of its frames.
///
/// Both are payloads of SEI messages, which H.264 and H.265 share, and the contents of the boxes `mdcv` and `clli`. Sources: ITU-T
/// H.265 §D.3.28 and §D.3.35, ITU-T H.264 §D.1.29 and §D.1.31, ISO/IEC 14496-12 §12.1.6 and §12.1.7.
public struct LightMetadata: Sendable, Equatable {
    /// The primaries, white and luminance of the display: 24 bytes; nil if not declared.
    public let masteringDisplay: [UInt8]?
    /// The highest level of a pixel and of a frame's mean, in cd/m²: 4 bytes; nil if not declared.
    public let contentLight: [UInt8]?

    private static let displayBytes = 24, lightBytes = 4

    /// Makes metadata; bytes of another length are not declared.
    public init(masteringDisplay: [UInt8]? = nil, contentLight: [UInt8]? = nil) {
        self.masteringDisplay =
            masteringDisplay?.count == Self.displayBytes ? masteringDisplay : nil
        self.contentLight = contentLight?.count == Self.lightBytes ? contentLight : nil
    }

    /// Returns these metadata, and those of another source where these declare nothing.
    public func or(_ other: LightMetadata) -> LightMetadata {
        LightMetadata(
            masteringDisplay: masteringDisplay ?? other.masteringDisplay,
            contentLight: contentLight ?? other.contentLight)
    }

    /// Returns an SEI unit as a part of a sample, preceded by its length in four bytes; empty if nothing is declared.
    ///
    /// Decoders forget the metadata at a key frame, so each key frame's sample begins with the unit.
    public func unit(_ codec: VideoEncoder.Codec) -> [UInt8] {
        // Types 137 and 144 of messages; types 6 and 39 of units, whose header is one byte in H.264 and two in H.265.
        let messages = [(UInt8(137), masteringDisplay), (144, contentLight)].flatMap {
            type, payload in
            payload.map { [type, UInt8($0.count)] + $0 } ?? []
        }
        guard !messages.isEmpty else { return [] }
        let header: [UInt8] = codec == .h264 ? [6] : [39 << 1, 1]
        let unit = header + AnnexB.escaped(messages + [0x80])
        return (0..<4).reversed().map { UInt8(truncatingIfNeeded: unit.count >> (8 * $0)) } + unit
    }
}
