import CCodecs

/// A single-threaded decoder of libavcodec for access units. It supports no containers and opens no files.
///
/// Not thread-safe.
public final class VideoDecoder {
    /// The allowed decoders, by libavcodec's names.
    ///
    /// AV1 uses dav1d: libavcodec's own decoder, `av1`, needs hardware. VP9 uses libvpx: libavcodec's own decoder returns frames of
    /// truncated samples without an error. libvpx applies ``Limits`` only after it has decoded a frame.
    public enum Codec: String, Sendable, CaseIterable {
        case h264, hevc, mpeg4, mjpeg, prores
        case vp9 = "libvpx-vp9"
        case av1 = "libdav1d"
    }

    /// Facts from a movie's tables that some decoders need.
    public struct Container: Sendable {
        /// The four-character code of the sample entry, which alone distinguishes ProRes of 10 and 12 bits.
        public var format: [UInt8] = []
        /// The size of the pictures in the sample entry: Motion JPEG of half the height has two fields in a sample. 0 if unknown.
        public var width = 0, height = 0
        /// The most samples that are decoded before one that is shown earlier: an H.264 stream need not declare it, and a decoder
        /// that guesses too few drops frames.
        public var reorderDepth = 0

        /// Creates a value without any facts.
        public init() {}

        /// The most frames whose output H.264 and HEVC allow to delay.
        static let reorderDepthMax = 16
    }

    /// The limits for a stream.
    public struct Limits: Sendable {
        /// Most pixels of a frame.
        public var pixelsMax: Int
        /// Most bytes of one allocation. libavutil has one such limit for the process: the highest requested one applies.
        public var bytesMax: Int

        /// Creates limits. By default, a frame has at most as many pixels as a HEVC decoder of level 6.2 must support (ITU-T H.265
        /// table A.8), and an allocation has four bytes for each of its pixels.
        public init(pixelsMax: Int = 35_651_584, bytesMax: Int? = nil) {
            self.pixelsMax = pixelsMax
            self.bytesMax = bytesMax ?? 4 * pixelsMax
        }
    }

    private let decoder: OpaquePointer

    /// libavcodec's version, such as `59.37.100`.
    public static var version: String {
        let number = minilab_codecs_version()
        return "\(number >> 16).\(number >> 8 & 0xFF).\(number & 0xFF)"
    }

    /// Opens a decoder.
    ///
    /// - Parameter configuration: the container's parameter sets: the content of `hvcC` or `avcC`, with which access units are NAL
    ///   units with their lengths; the decoder's part of `esds`; the units of `av1C`; nothing for other codecs.
    /// - Parameter firstRank: the lowest rank of a requested frame. Pictures that are decoded after the first one and shown before
    ///   it may refer to pictures that were never sent: damage in units of lower ranks is ignored, and their frames are not
    ///   returned.
    /// - Throws: `unsupported` also for an unreadable configuration.
    public init(
        _ codec: Codec, configuration: [UInt8], container: Container = Container(),
        firstRank: Int = .min, limits: Limits = Limits()
    ) throws(CodecError) {
        var opened: OpaquePointer?
        let status = configuration.withUnsafeBufferPointer { bytes in
            var settings = minilab_decoder_settings(
                config: bytes.baseAddress, config_count: bytes.count,
                tag: container.format.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) },
                width: Int32(clamping: container.width), height: Int32(clamping: container.height),
                reorder: Int32(
                    clamping: min(max(0, container.reorderDepth), Container.reorderDepthMax)),
                first_rank: Int64(firstRank), pixels_max: Int64(limits.pixelsMax),
                bytes_max: limits.bytesMax)
            return minilab_decoder_open(codec.rawValue, &settings, &opened)
        }
        guard status == MINILAB_CODEC_OK.rawValue, let opened else {
            let isMemory = status == MINILAB_CODEC_MEMORY.rawValue
            throw CodecError(
                kind: isMemory ? .memory : .unsupported, step: "open \(codec.rawValue)")
        }
        decoder = opened
    }

    deinit { minilab_decoder_close(decoder) }

    /// The layout and colours of frames according to the configuration; nil if it does not declare them.
    ///
    /// A stream may contain parameter sets of its own, so frames can differ.
    public var configured: FrameLayout? {
        var frame = minilab_frame()
        guard minilab_decoder_configured(decoder, &frame) == MINILAB_CODEC_OK.rawValue else {
            return nil
        }
        return FrameLayout(frame)
    }

    /// Sends an access unit. Frames are received in presentation order, each with the rank of its unit.
    ///
    /// All available frames must be received before the next unit is sent. If pictures that it refers to are missing, a unit may
    /// result in no frame and no error: the caller must count.
    public func send(_ unit: [UInt8], rank: Int = 0) throws(CodecError) {
        try check(minilab_decoder_send(decoder, unit, unit.count, Int64(rank)), "decode")
    }

    /// Ends the stream, so that delayed frames can be received.
    public func finish() throws(CodecError) { try check(minilab_decoder_finish(decoder), "finish") }

    /// Resets the decoder for a new stream with the same configuration.
    public func restart() { minilab_decoder_restart(decoder) }

    /// Receives the next frame, or nil if more units must be sent first.
    public func receive() throws(CodecError) -> DecodedFrame? {
        var frame = minilab_frame()
        let status = minilab_decoder_receive(decoder, &frame)
        if status == MINILAB_CODEC_NEEDS_INPUT.rawValue { return nil }
        try check(status, "decode")
        return DecodedFrame(frame)
    }

    /// Decodes an independent access unit, such as a tile of a HEIC, into a single picture, which outlives the decoder.
    ///
    /// - Throws: `damaged` also if it contains no picture, or more than one.
    public func decode(still unit: [UInt8]) throws(CodecError) -> KeptFrame {
        defer { restart() }
        try send(unit)
        try finish()
        guard let frame = try receive() else {
            throw CodecError(kind: .damaged, step: "find a picture")
        }
        guard let kept = minilab_decoder_keep(decoder) else {
            throw CodecError(kind: .memory, step: "keep a picture")
        }
        return KeptFrame(frame, kept)
    }

    private func check(_ status: Int32, _ step: String) throws(CodecError) {
        let kind: CodecError.Kind
        switch status {
        case MINILAB_CODEC_OK.rawValue: return
        case MINILAB_CODEC_UNSUPPORTED.rawValue: kind = .unsupported
        case MINILAB_CODEC_MEMORY.rawValue: kind = .memory
        default: kind = .damaged
        }
        throw CodecError(kind: kind, step: step)
    }
}

extension DecodedFrame {
    /// Converts the shim's frame; nil pointers cannot occur.
    fileprivate init?(_ frame: minilab_frame) {
        layout = FrameLayout(frame)
        light = withUnsafeBytes(of: frame.mastering_display) { display in
            withUnsafeBytes(of: frame.content_light) { levels in
                LightMetadata(
                    masteringDisplay: Array(display.prefix(frame.mastering_display_count)),
                    contentLight: Array(levels.prefix(frame.content_light_count)))
            }
        }
        let shift = layout.chromaShift
        rank = Int(frame.rank)
        (hasAlpha, isInterlaced) = (frame.has_alpha == 1, frame.is_interlaced == 1)
        let starts = [frame.planes.0, frame.planes.1, frame.planes.2]
        let strides = [frame.strides.0, frame.strides.1, frame.strides.2]
        var planes: [Plane] = []
        for index in 0..<Int(frame.plane_count) {
            guard let start = starts[index] else { return nil }
            let (dx, dy) = index == 0 ? (0, 0) : shift
            planes.append(
                Plane(
                    start: UnsafeRawPointer(start), stride: strides[index],
                    width: (layout.width + (1 << dx) - 1) >> dx,
                    height: (layout.height + (1 << dy) - 1) >> dy))
        }
        self.planes = planes
    }
}

extension FrameLayout {
    fileprivate init(_ frame: minilab_frame) {
        self.init(
            width: Int(frame.width), height: Int(frame.height), bits: Int(frame.bits),
            hasChroma: frame.plane_count == 3,
            chromaShift: (x: Int(frame.chroma_shift_x), y: Int(frame.chroma_shift_y)),
            primaries: Self.specified(frame.primaries), transfer: Self.specified(frame.transfer),
            matrix: Self.specified(frame.matrix),
            isFullRange: frame.full_range < 0 ? nil : frame.full_range == 1)
    }

    /// Returns a number of H.273, or nil for 2, which means unspecified.
    private static func specified(_ number: Int32) -> Int? { number == 2 ? nil : Int(number) }
}

/// A decoded frame in the decoder's memory: planes of samples, valid until the decoder is used again.
public struct DecodedFrame {
    /// Rows of samples at a constant stride.
    public struct Plane {
        /// The first sample of the first row. Samples of more than 8 bits have two bytes in the machine's byte order.
        public let start: UnsafeRawPointer
        /// Bytes from one row to the next.
        public let stride: Int
        public let width: Int
        public let height: Int
    }

    /// Luma only; or luma, blue and red difference; or, with matrix 0, green, blue and red. Alpha is omitted.
    public let planes: [Plane]
    public let layout: FrameLayout
    public let light: LightMetadata
    /// Whether the frame had alpha, as ProRes 4444 may have.
    public let hasAlpha: Bool
    /// Whether its rows alternate between two fields.
    public let isInterlaced: Bool
    /// The rank of its access unit.
    public let rank: Int
}

/// A decoded frame that is valid for the life of this object, whatever its decoder does.
///
/// Not thread-safe.
public final class KeptFrame {
    public let frame: DecodedFrame
    private let memory: OpaquePointer

    init(_ frame: DecodedFrame, _ memory: OpaquePointer) {
        (self.frame, self.memory) = (frame, memory)
    }

    deinit { minilab_kept_frame_free(memory) }
}

/// The layout of a frame's samples, and the colours that the stream declares.
public struct FrameLayout: Sendable, Equatable {
    /// The size of luma, after cropping.
    public let width: Int, height: Int
    /// Bits of a sample: 8 to 16.
    public let bits: Int
    public let hasChroma: Bool
    /// The subsampling of chroma as shifts of columns and rows: 0 or 1, or 2 for a few Motion JPEGs.
    public let chromaShift: (x: Int, y: Int)
    /// Primaries, transfer function and matrix of ITU-T H.273; nil if the stream does not declare them.
    public let primaries: Int?, transfer: Int?, matrix: Int?
    /// Whether codes have full range; nil if the stream does not declare it.
    public let isFullRange: Bool?

    public static func == (a: FrameLayout, b: FrameLayout) -> Bool {
        a.width == b.width && a.height == b.height && a.bits == b.bits
            && a.hasChroma == b.hasChroma && a.chromaShift == b.chromaShift
            && a.primaries == b.primaries && a.transfer == b.transfer && a.matrix == b.matrix
            && a.isFullRange == b.isFullRange
    }

    public init(
        width: Int, height: Int, bits: Int = 8, hasChroma: Bool = true,
        chromaShift: (x: Int, y: Int) = (1, 1), primaries: Int? = nil, transfer: Int? = nil,
        matrix: Int? = nil, isFullRange: Bool? = nil
    ) {
        (self.width, self.height, self.bits) = (width, height, bits)
        (self.hasChroma, self.chromaShift) = (hasChroma, chromaShift)
        (self.primaries, self.transfer) = (primaries, transfer)
        (self.matrix, self.isFullRange) = (matrix, isFullRange)
    }

    public var sampleBytes: Int { bits > 8 ? 2 : 1 }
}

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
    public let step: String

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
