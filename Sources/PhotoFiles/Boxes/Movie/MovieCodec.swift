/// The codec of a video track and the interpretation of its pictures, by its sample description.
///
/// Source: ISO/IEC 14496-12 §12.1, ISO/IEC 14496-15 §5 and §8, ISO/IEC 14496-1 §7.2.6 (`esds`), the QuickTime File Format, and the
/// bindings of AV1 and VP9 to ISO's files.
public struct MovieCodec: Sendable, Equatable {
    /// Supported codecs.
    public enum Kind: String, Sendable, CaseIterable {
        case h264, hevc, mpeg4, mjpeg, prores, av1, vp9

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
    /// The sampling of chroma, if the entry declares it: 0 for grey, 1 for 4:2:0, 2 for 4:2:2, 3 for 4:4:4.
    public let chroma: Int?
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
        case dolbyVision
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
        chroma = boxes.chroma(of: kind, format, configuration)
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

/// The colour of a movie in the box `colr` of its sample description.
///
/// Source: ISO/IEC 14496-12 §12.1.5 (`nclx`) and the QuickTime File Format (`nclc`, which has no range). ICC profiles are not read.
public struct MovieColour: Sendable, Equatable {
    /// Numbers of ITU-T H.273; nil if the box declares them as unspecified.
    public let primaries: Int?, transfer: Int?, matrix: Int?
    /// Whether codes have full range; nil if the box does not declare it.
    public let isFullRange: Bool?

    public init(primaries: Int?, transfer: Int?, matrix: Int?, isFullRange: Bool?) {
        (self.primaries, self.transfer) = (primaries, transfer)
        (self.matrix, self.isFullRange) = (matrix, isFullRange)
    }

    /// Reads the content of a `colr`; nil for a profile, and if it is too short.
    init?(_ content: ArraySlice<UInt8>) {
        var cursor = ByteCursor(content)
        guard let kind = cursor.type(), kind == "nclx" || kind == "nclc",
            let primaries = cursor.number(2), let transfer = cursor.number(2),
            let matrix = cursor.number(2)
        else { return nil }
        // H.273: 2 is unspecified. A writer of `nclx` may omit the byte of the range.
        let numbers = [primaries, transfer, matrix].map { $0 == 2 ? nil : $0 }
        let range = kind == "nclx" ? cursor.number(1).map { $0 & 0x80 != 0 } : nil
        self.init(
            primaries: numbers[0], transfer: numbers[1], matrix: numbers[2], isFullRange: range)
    }
}

extension SampleTable {
    /// The most samples that are decoded before a sample that is shown earlier, up to ``reorderDepthMax``.
    ///
    /// A decoder of H.264 delays this number of frames. If neither it nor the stream knows the number, it guesses, and drops
    /// frames.
    public var reorderDepth: Int {
        // The latest times so far, ascending.
        var latest: [Int] = []
        var depth = 0
        for time in times {
            let index = latest.firstIndex { $0 > time } ?? latest.count
            depth = max(depth, latest.count - index)
            latest.insert(time, at: index)
            if latest.count > Self.reorderDepthMax { latest.removeFirst() }
        }
        return depth
    }

    /// The most frames that may be delayed, according to H.264 and HEVC (ITU-T H.264 §A.3.1, MaxDpbFrames).
    public static let reorderDepthMax = 16
}

/// Sample descriptions by their four-character codes.
extension MovieCodec.Boxes {
    /// Returns the codec, and the configuration for its decoder.
    func codec(
        _ format: BoxType
    ) throws(MovieProblem) -> (MovieCodec.Kind, configuration: [UInt8]) {
        switch format {
        // `avc3` and `hev1` may also have parameter sets in the stream; decoders support both.
        case "avc1", "avc3": return (.h264, try needed("avcC", atLeast: 7, of: format))
        case "hvc1", "hev1": return (.hevc, try needed("hvcC", atLeast: 23, of: format))
        case "dvh1", "dvhe":
            // HEVC whose base layer may have a colour space of Dolby's own.
            try checkDolbyVision()
            return (.hevc, try needed("hvcC", atLeast: 23, of: format))
        case "apco", "apcs", "apcn", "apch", "ap4h", "ap4x": return (.prores, [])
        case "jpeg", "mjpa": return (.mjpeg, [])
        case "vp09": return (.vp9, [])
        // Four bytes about the stream, followed by its units.
        case "av01": return (.av1, Array(try needed("av1C", atLeast: 4, of: format).dropFirst(4)))
        case "mp4v": return try ofDescriptors()
        default:
            throw .unsupported(
                "a video track of the codec \(format); H.264, HEVC, AV1, VP9, ProRes, MPEG-4 and Motion JPEG are read"
            )
        }
    }

    /// Rejects pictures that other decoders show in wrong colours. The record of Dolby Vision (Dolby Vision Streams Within the ISO
    /// Base Media File Format 2.1.2 §3.2) has the profile in the seven bits after its version; profile 5 has no compatible base
    /// layer.
    private func checkDolbyVision() throws(MovieProblem) {
        let record = first("dvcC") ?? first("dvvC")
        guard let record, record.count >= 3, record.number(at: 2, 1) >> 1 == 5 else { return }
        throw .unsupported(
            "a video track of Dolby Vision's profile 5, whose colours are Dolby's own; export it as HLG or HDR10"
        )
    }

    /// Returns the bits of a sample; nil if only the stream declares them.
    ///
    /// Source: ISO/IEC 14496-15 §5.3 and §8.3, "AV1 Codec ISO Media File Format Binding" §2.3.3, "VP Codec ISO Media File Format
    /// Binding" §"VP Codec Configuration Box".
    func bits(of kind: MovieCodec.Kind, _ configuration: [UInt8]) -> Int? {
        switch kind {
        case .h264: AVCConfiguration.bits(in: configuration)
        case .hevc: HEVCConfiguration(configuration[...])?.lumaBits
        case .av1:
            // Bits of the third byte: one for more than 8, and with it one for 12.
            first("av1C").map { box in
                let flags = box.number(at: 2, 1)
                return flags & 0x40 == 0 ? 8 : flags & 0x20 == 0 ? 10 : 12
            }
        // After version and flags: profile, level, and the bit depth in half a byte.
        case .vp9: first("vpcC").map { $0.number(at: 6, 1) >> 4 }
        case .mpeg4, .mjpeg: 8
        case .prores: nil
        }
    }

    /// Returns the sampling of chroma; nil if only the stream declares it. Sources: as those of the bits, and Apple's ProRes white paper.
    func chroma(
        of kind: MovieCodec.Kind, _ format: BoxType, _ configuration: [UInt8]
    ) -> Int? {
        switch kind {
        case .h264: return AVCConfiguration.chroma(in: configuration)
        // Bits 0 and 1 of byte 16 (ISO/IEC 14496-15 §8.3.2.1).
        case .hevc: return configuration.number(at: 16, 1) & 3
        case .av1:
            // Grey, then whether chroma has half of the columns and of the rows.
            return first("av1C").map { box in
                switch box.number(at: 2, 1) >> 2 & 7 {
                case 4...7: 0
                case 3: 1
                case 2: 2
                default: 3
                }
            }
        // 0 and 1 are 4:2:0.
        case .vp9: return first("vpcC").map { max(1, $0.number(at: 6, 1) >> 1 & 7) }
        case .mpeg4: return 1
        case .mjpeg: return nil
        case .prores: return ["ap4h", "ap4x"].contains(format) ? 3 : 2
        }
    }

    private func needed(
        _ type: BoxType, atLeast count: Int, of format: BoxType
    ) throws(MovieProblem) -> [UInt8] {
        guard let content = first(type) else {
            throw .damaged("a sample description \(format) without \(type)")
        }
        guard content.count >= count else {
            throw .damaged("\(type) of \(content.count) bytes; it has \(count) at least")
        }
        return Array(content)
    }

    /// Reads MPEG-4's own form: a tree of descriptors with a number for the codec (ISO/IEC 14496-1 §7.2.6, table 5).
    private func ofDescriptors() throws(MovieProblem) -> (MovieCodec.Kind, configuration: [UInt8]) {
        let content = try needed("esds", atLeast: 4, of: "mp4v")
        guard let stream = ElementaryStream(content.dropFirst(4)) else {
            throw .damaged("esds without the description of a decoder")
        }
        switch stream.objectType {
        case 0x20: return (.mpeg4, stream.configuration)
        case 0x6C: return (.mjpeg, [])
        default:
            throw .unsupported(
                "a video track of the codec mp4v with the object type \(stream.objectType); 32, MPEG-4, and 108, JPEG, are read"
            )
        }
    }
}

/// The decoder description in an `esds`.
private struct ElementaryStream {
    let objectType: Int
    let configuration: [UInt8]

    private static let streamTag = 3, decoderTag = 4, specificTag = 5

    /// Reads the content after version and flags; nil if there is no decoder configuration.
    init?(_ content: ArraySlice<UInt8>) {
        guard var stream = Self.descriptor(Self.streamTag, in: content),
            stream.bytes(2) != nil, let flags = stream.number(1)
        else { return nil }
        // Optional fields, according to flags: a dependency, a URL, and a clock.
        if flags & 0x80 != 0 { guard stream.bytes(2) != nil else { return nil } }
        if flags & 0x40 != 0 {
            guard let count = stream.number(1), stream.bytes(count) != nil else { return nil }
        }
        if flags & 0x20 != 0 { guard stream.bytes(2) != nil else { return nil } }
        // The kind of stream, and the sizes of buffers and rates: twelve bytes.
        guard var decoder = Self.descriptor(Self.decoderTag, in: stream.rest),
            let type = decoder.number(1), decoder.bytes(12) != nil
        else { return nil }
        objectType = type
        configuration =
            Self.descriptor(Self.specificTag, in: decoder.rest).map { Array($0.rest) } ?? []
    }

    /// Returns the content of the first descriptor with a tag: a tag, a length in up to four bytes of seven bits, and the content.
    private static func descriptor(_ wanted: Int, in content: ArraySlice<UInt8>) -> ByteCursor? {
        var cursor = ByteCursor(content)
        while let tag = cursor.number(1) {
            var length = 0
            for _ in 0..<4 {
                guard let byte = cursor.number(1) else { return nil }
                length = length << 7 | byte & 0x7F
                if byte & 0x80 == 0 { break }
            }
            // The declared length may exceed the content.
            let inside = cursor.rest.prefix(length)
            if tag == wanted { return ByteCursor(inside) }
            guard cursor.bytes(length) != nil else { return nil }
        }
        return nil
    }
}
