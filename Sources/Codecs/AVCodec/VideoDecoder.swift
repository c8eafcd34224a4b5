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
