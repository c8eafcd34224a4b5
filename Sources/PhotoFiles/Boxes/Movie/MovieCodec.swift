/// The codec of a video track and the interpretation of its pictures, by its sample description.
///
/// Source: ISO/IEC 14496-12 §12.1, ISO/IEC 14496-15 §5 and §8, ISO/IEC 14496-1 §7.2.6 (`esds`), the QuickTime File Format, and the
/// bindings of AV1 and VP9 to ISO's files.
public struct MovieCodec: Sendable, Equatable {
    /// Supported codecs.
    public enum Kind: String, Sendable, CaseIterable {
        case h264, hevc, mpeg4, mjpeg, prores, av1, vp9

        /// libavcodec's name of the decoder.
        public var decoderName: String {
            switch self {
            case .av1: "libdav1d"
            case .vp9: "libvpx-vp9"
            default: rawValue
            }
        }
    }

    public let kind: Kind
    /// `avc1`, `hvc1`, `apcn` …
    public let format: BoxType
    /// The decoder's configuration; empty if the stream contains it.
    public let configuration: [UInt8]
    /// Bits of a sample, if the entry declares them.
    public let bits: Int?
    /// The size of the coded pictures, in pixels.
    public let width, height: Int
    /// The meaning of codes, if the entry declares it; it takes precedence over the stream.
    public let colour: MovieColour?
    /// The contents of `mdcv` and `clli`: the display on which the movie was graded, and its light levels (ISO/IEC 14496-12 §12.1.6
    /// and §12.1.7); nil if the entry does not declare them.
    public let masteringDisplay, contentLight: [UInt8]?
    /// Whether a picture has the rows of two fields; nil if the entry does not declare it.
    public let isInterlaced: Bool?
    /// The aspect ratio of a pixel; nil for square pixels.
    public let pixelAspect: PixelAspect?
    /// The part of the pictures that is meant to be displayed: phones write it in Live Photos, but do not crop the frames to it.
    public let cleanAperture: CleanAperture?
    /// The contents of the stream besides one view of plain pictures, which an encoder's stream lacks.
    public let extras: Set<Extra>

    /// A part of a stream that decoders skip.
    public enum Extra: Sendable, CaseIterable {
        /// The display metadata of Dolby Vision.
        case dolbyVision
        /// The other eye's view.
        case secondView

        /// The boxes of a sample description that declare it.
        var boxes: [BoxType] {
            switch self {
            case .dolbyVision: ["dvcC", "dvvC", "dvwC"]
            case .secondView: ["lhvC", "vexu"]
            }
        }
    }

    /// The shape of a pixel.
    public struct PixelAspect: Sendable, Equatable {
        public let horizontal, vertical: Int
    }

    /// Reads a track's sample description.
    ///
    /// - Throws: `unsupported` for another codec, which is named; `damaged` if the codec's box is missing or invalid.
    public init(_ track: MovieTrack) throws(MovieProblem) { try self.init(entry: track.entry) }

    /// Reads a separate sample description, beginning with its length and its four characters.
    ///
    /// - Throws: as ``init(_:)``.
    public init(entry: [UInt8]) throws(MovieProblem) {
        guard entry.count >= SampleEntry.header else {
            throw .damaged(
                "a sample description of \(entry.count) bytes; one of pictures has \(SampleEntry.header)"
            )
        }
        let boxes = Boxes(entry)
        format = BoxType(UInt32(entry.number(at: 4, 4)))
        (kind, configuration) = try boxes.codec(format)
        guard configuration.count <= HEVCConfiguration.bytesMax else {
            throw .damaged("a configuration of \(configuration.count) bytes for \(format)")
        }
        bits = boxes.bits(of: kind, configuration)
        width = entry.number(at: SampleEntry.sizeAt, 2)
        height = entry.number(at: SampleEntry.sizeAt + 2, 2)
        colour = boxes.all("colr").lazy.compactMap { MovieColour($0) }.first
        masteringDisplay = boxes.first("mdcv").map { Array($0) }
        contentLight = boxes.first("clli").map { Array($0) }
        isInterlaced = boxes.first("fiel").flatMap(\.first).map { $0 > 1 }
        pixelAspect = boxes.first("pasp").flatMap { box in
            let (across, down) = (box.number(at: 0, 4), box.number(at: 4, 4))
            guard across > 0, down > 0, across != down else { return nil }
            return PixelAspect(horizontal: across, vertical: down)
        }
        cleanAperture = boxes.first("clap").flatMap { CleanAperture($0) }
        extras = Set(
            Extra.allCases.filter { $0.boxes.contains { boxes.first($0) != nil } })
    }

    /// Whether its pictures may be transparent: ProRes 4444, and HEVC with a layer of alpha, which decoders of one layer skip.
    public var hasAlpha: Bool {
        switch kind {
        case .prores: ["ap4h", "ap4x"].contains(format)
        case .hevc: HEVCConfiguration.hasAlphaLayer(configuration[...])
        default: false
        }
    }

    /// The boxes of a sample description.
    struct Boxes {
        private var boxes: [(type: BoxType, content: ArraySlice<UInt8>)] = []

        /// Most boxes of one description; phones write up to nine.
        private static let countMax = 100

        /// Reads up to the first invalid box: QuickTime may end with four bytes of zero.
        init(_ entry: [UInt8]) {
            var rest = entry.dropFirst(SampleEntry.header)
            while rest.count >= 8, boxes.count < Self.countMax {
                let length = rest.number(at: 0, 4)
                guard (8...rest.count).contains(length) else { break }
                boxes.append(
                    (BoxType(UInt32(rest.number(at: 4, 4))), rest.prefix(length).dropFirst(8)))
                rest = rest.dropFirst(length)
            }
        }

        func first(_ type: BoxType) -> ArraySlice<UInt8>? {
            boxes.first { $0.type == type }?.content
        }

        func all(_ type: BoxType) -> [ArraySlice<UInt8>] {
            boxes.filter { $0.type == type }.map(\.content)
        }
    }
}
