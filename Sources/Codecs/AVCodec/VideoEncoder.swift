import CCodecs

/// A single-threaded encoder of libavcodec. It supports no containers and opens no files.
///
/// Not thread-safe. The same frames result in the same bytes.
public final class VideoEncoder {
    /// The allowed encoders, by libavcodec's names.
    public enum Codec: String, Sendable, CaseIterable {
        case h264 = "libx264"
        case hevc = "libx265"
    }

    /// The layout of frames, and the declarations in the stream.
    public struct Settings: Sendable {
        /// Size, bits, chroma and colour; nil values are not declared.
        public var layout: FrameLayout
        /// Time units per second.
        public var unitsPerSecond = Fraction(1)
        /// Frames per second, the mean if it varies; nil for one per time unit.
        public var framesPerSecond: Fraction?
        /// The most frames from one key frame to the next: 1 if each is independent. Groups are closed: no frame refers across a
        /// key frame.
        public var keyDistance = 1
        /// The highest bit rate, and the bits of the playback buffer; nil for no limit.
        public var rate: (max: Int, buffer: Int)?
        /// The encoder's own options, by libavcodec's names.
        public var options: [(name: String, value: String)] = []
        /// Most pixels of a frame: those that a HEVC decoder of level 6.2 must support (ITU-T H.265 table A.8).
        public var pixelsMax = 35_651_584

        public init(_ layout: FrameLayout) { self.layout = layout }
    }

    /// A positive fraction.
    public struct Fraction: Sendable, Equatable {
        public let numerator: Int, denominator: Int

        /// Creates a fraction, such as 30,000 / 1,001.
        public init(_ numerator: Int, of denominator: Int = 1) {
            (self.numerator, self.denominator) = (numerator, denominator)
        }
    }

    private let encoder: OpaquePointer
    private let codec: Codec
    private let layout: FrameLayout
    /// The ranks of frames whose packets are pending, by their times.
    private var ranks: [Int: Int] = [:]
    private var lastTime: Int?
    private var received = 0

    /// Opens an encoder.
    ///
    /// - Throws: `unsupported` if libavcodec has no such encoder, or it does not support such frames or options.
    public init(_ codec: Codec, _ settings: Settings) throws(CodecError) {
        self.codec = codec
        layout = settings.layout
        let (units, frames) = (
            settings.unitsPerSecond, settings.framesPerSecond ?? settings.unitsPerSecond
        )
        guard
            [units.numerator, units.denominator, frames.numerator, frames.denominator].allSatisfy({
                (1...Int(Int32.max)).contains($0)
            })
        else { throw CodecError(kind: .unsupported, step: "open \(codec.rawValue)") }
        var shape = minilab_encoder_settings(
            width: Int32(clamping: layout.width), height: Int32(clamping: layout.height),
            pixels_max: Int64(settings.pixelsMax), plane_count: layout.hasChroma ? 3 : 1,
            chroma_shift_x: Int32(layout.chromaShift.x),
            chroma_shift_y: Int32(layout.chromaShift.y), bits: Int32(layout.bits),
            // H.273: 2 is unspecified.
            primaries: Int32(layout.primaries ?? 2), transfer: Int32(layout.transfer ?? 2),
            matrix: Int32(layout.matrix ?? 2), full_range: layout.isFullRange == true ? 1 : 0,
            units: Int32(units.numerator), units_seconds: Int32(units.denominator),
            frames: Int32(frames.numerator), frames_seconds: Int32(frames.denominator),
            key_distance: Int32(clamping: settings.keyDistance),
            rate_max: Int64(settings.rate?.max ?? 0),
            buffer_bits: Int32(clamping: settings.rate?.buffer ?? 0))
        var opened: OpaquePointer?
        let status = Self.withOptions(settings.options[...], []) { options in
            options.withUnsafeBufferPointer {
                minilab_encoder_open(codec.rawValue, &shape, $0.baseAddress, $0.count, &opened)
            }
        }
        guard status == MINILAB_CODEC_OK.rawValue, let opened else {
            let isMemory = status == MINILAB_CODEC_MEMORY.rawValue
            throw CodecError(
                kind: isMemory ? .memory : .unsupported, step: "open \(codec.rawValue)")
        }
        encoder = opened
    }

    deinit { minilab_encoder_close(encoder) }

    /// Provides options in C's form for the duration of a call.
    private static func withOptions(
        _ rest: ArraySlice<(name: String, value: String)>, _ made: [minilab_codec_option],
        _ body: ([minilab_codec_option]) -> Int32
    ) -> Int32 {
        guard let (name, value) = rest.first else { return body(made) }
        return name.withCString { name in
            value.withCString { value in
                withOptions(
                    rest.dropFirst(), made + [minilab_codec_option(name: name, value: value)],
                    body)
            }
        }
    }

    /// The parameter sets, as units of ``AnnexB``.
    public var parameterSets: [[UInt8]] {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        minilab_encoder_headers(encoder, &bytes, &count)
        return AnnexB.units(in: UnsafeRawBufferPointer(start: bytes, count: count)).map {
            Array($0)
        }
    }

    /// A plane of the next frame.
    public struct Plane {
        /// The first sample of the first row. Samples of more than 8 bits have two bytes in the machine's byte order.
        public let start: UnsafeMutableRawPointer
        /// Bytes from one row to the next.
        public let stride: Int
        public let width: Int
        public let height: Int
    }

    /// Fills the planes of a frame and sends it.
    ///
    /// All available packets must be received before the next frame is sent.
    ///
    /// - Parameters:
    ///   - rank: returned with the frame's packet.
    ///   - time: in time units, at most 2⁵⁰; a time that is not later than the previous frame's becomes the unit after it. The rank
    ///     by default.
    ///   - isKey: whether the frame is forced to be a key frame; the encoder chooses others itself.
    public func send(
        rank: Int, time: Int? = nil, isKey: Bool = false, _ fill: ([Plane]) -> Void
    ) throws(CodecError) {
        let time = max(time ?? rank, lastTime.map { $0 + 1 } ?? .min)
        var planes = minilab_planes()
        try check(minilab_encoder_frame(encoder, &planes), "get a frame")
        let starts = [planes.planes.0, planes.planes.1, planes.planes.2]
        let strides = [planes.strides.0, planes.strides.1, planes.strides.2]
        fill(
            (0..<(layout.hasChroma ? 3 : 1)).compactMap { index in
                guard let start = starts[index] else { return nil }
                let (dx, dy) = index == 0 ? (0, 0) : layout.chromaShift
                return Plane(
                    start: UnsafeMutableRawPointer(start), stride: strides[index],
                    width: (layout.width + (1 << dx) - 1) >> dx,
                    height: (layout.height + (1 << dy) - 1) >> dy)
            })
        (ranks[time], lastTime) = (rank, time)
        try check(minilab_encoder_send(encoder, Int64(time), isKey ? 1 : 0), "encode")
    }

    /// Ends the stream, so that delayed packets can be received.
    public func finish() throws(CodecError) { try check(minilab_encoder_finish(encoder), "finish") }

    /// An encoded frame.
    public struct Packet {
        /// Units of ``AnnexB``, valid until the encoder is used again.
        public let bytes: UnsafeRawBufferPointer
        /// The rank that was sent, and the index among received packets: the decoding order.
        public let rank: Int, order: Int
        /// Whether decoding can begin with it.
        public let isKey: Bool
        let codec: Codec

        /// The packet as a sample of a file: see ``AnnexB/sample(of:_:)``.
        public var sample: [UInt8] { AnnexB.sample(of: bytes, codec) }
    }

    /// Receives the next encoded frame, in decoding order; nil if more frames must be sent first.
    public func receive() throws(CodecError) -> Packet? {
        var packet = minilab_packet()
        let status = minilab_encoder_receive(encoder, &packet)
        if status == MINILAB_CODEC_NEEDS_INPUT.rawValue { return nil }
        try check(status, "encode")
        guard let rank = ranks.removeValue(forKey: Int(packet.time)) else {
            throw CodecError(kind: .unsupported, step: "find the frame of a packet")
        }
        defer { received += 1 }
        return Packet(
            bytes: UnsafeRawBufferPointer(start: packet.bytes, count: packet.count),
            rank: rank, order: received, isKey: packet.is_key == 1, codec: codec)
    }

    private func check(_ status: Int32, _ step: String) throws(CodecError) {
        guard status != MINILAB_CODEC_OK.rawValue else { return }
        let isMemory = status == MINILAB_CODEC_MEMORY.rawValue
        throw CodecError(kind: isMemory ? .memory : .unsupported, step: step)
    }
}

/// The encoding of a movie's frames: codec and quality.
public struct MovieCoding: Sendable, Equatable {
    /// The quality of the pictures.
    public enum Quality: Sendable, Equatable {
        case lossless
        /// The encoder's constant rate factor: lower is better.
        case rate(Double)
    }

    public var codec: VideoEncoder.Codec
    public var quality: Quality

    public init(_ codec: VideoEncoder.Codec, _ quality: Quality) {
        (self.codec, self.quality) = (codec, quality)
    }

    /// Creates a coding with a quality from 0 to 1, in hundredths of a JPEG's quality.
    public init(_ codec: VideoEncoder.Codec, quality: Double) {
        self.init(codec, .rate(Self.rate(quality, codec)))
    }

    /// The encoder's settings for a part of a movie.
    ///
    /// Parts with the same settings have the same parameter sets, so that they can be concatenated in a file.
    ///
    /// - Parameters:
    ///   - units: time units per second, in which the times of frames are sent.
    ///   - frames: frames per second, the mean of the whole movie.
    ///   - keyDistance: the most frames from one key frame to the next.
    public func settings(
        _ layout: FrameLayout, unitsPerSecond units: VideoEncoder.Fraction,
        framesPerSecond frames: VideoEncoder.Fraction, keyDistance: Int
    ) -> VideoEncoder.Settings {
        var settings = VideoEncoder.Settings(layout)
        (settings.unitsPerSecond, settings.framesPerSecond) = (units, frames)
        settings.keyDistance = keyDistance
        settings.options = options
        return settings
    }

    private var options: [(name: String, value: String)] {
        var parameters = codec == .h264 ? Self.h264Parameters : Self.hevcParameters
        // A forced key frame must be an IDR frame, at which decoding can begin.
        var options = [("preset", preset), ("forced-idr", "1")]
        switch (quality, codec) {
        case (.rate(let rate), _): options.append(("crf", "\(rate)"))
        case (.lossless, .h264): options.append(("qp", "0"))
        case (.lossless, .hevc): parameters.append("lossless=1")
        }
        let name = codec == .h264 ? "x264-params" : "x265-params"
        options.append((name, parameters.joined(separator: ":")))
        return options
    }

    /// The encoder's speed preset.
    ///
    /// Measured with 48 frames of 1920 × 1080, a panned photo with noise, one thread, rate 18; CPU milliseconds a frame, kilobytes,
    /// SSIM of luma:
    ///
    /// | | ms | KB | SSIM |
    /// |---|---|---|---|
    /// | x264 superfast | 21 | 3,107 | .8896 |
    /// | **x264 veryfast** | 28 | 1,240 | .8871 |
    /// | x264 faster | 45 | 1,547 | .8890 |
    /// | x264 medium | 70 | 1,916 | .8891 |
    /// | x265 ultrafast, 10 bit | 46 | 496 | .8787 |
    /// | **x265 superfast, 10 bit** | 75 | 1,044 | .8841 |
    /// | x265 veryfast, 10 bit | 105 | 1,330 | .8903 |
    ///
    /// `superfast` of x264 has no macroblock-tree rate control, and needs 2.5 times the bytes of `veryfast`; slower presets need
    /// more bytes and more time. Decoding took 9 ms a frame (H.264, 17 Mb/s) and 11 ms (a phone's HLG, 10 bit).
    private var preset: String { codec == .h264 ? "veryfast" : "superfast" }

    /// One thread, parameter sets that do not depend on the pictures, and no code that differs between processors.
    ///
    /// `cpu-independent` keeps the macroblock tree from code with AVX-512, which handles eight macroblocks at a time. In a frame whose
    /// width is no multiple of them, it reads beyond the last row's costs and motion vectors, and takes what it finds there, left by
    /// whatever ran before, into the macroblocks at the right (x264 0.164 of 2022 and of 2024, `mbtree_propagate_list_internal`). It
    /// also makes code for other processors round alike, so bytes do not depend on the machine. It takes 2 % of the encoder's time.
    private static let h264Parameters = [
        "threads=1", "lookahead-threads=1", "sliced-threads=0", "sync-lookahead=0", "open-gop=0",
        "stitchable=1", "cpu-independent=1",
    ]

    /// One thread besides the caller's; no log output, and nothing in the stream but pictures.
    private static let hevcParameters = [
        "pools=none", "frame-threads=1", "wpp=0", "open-gop=0", "opt-qp-pps=0",
        "opt-ref-list-length-pps=0", "info=0", "log-level=none", "repeat-headers=0",
    ]

    /// Qualities, and the rates at which frames have the SSIM of luma of a JPEG of that quality, by libjpeg-turbo, 4:2:0.
    ///
    /// They are the means of seven photos, panned in 24 frames of 1280 × 720 with different noise in each, at fifteen rates; x265
    /// with 10 bits. Photos differ by up to ±5 at 80 and ±1 at 95.
    private static let qualities: [Double] = [0, 10, 30, 50, 60, 70, 80, 85, 90, 95, 98, 100]
    private static let h264Rates: [Double] = [
        51, 38.1, 30.3, 26.7, 25, 22.5, 19.7, 18.1, 15.9, 12.5, 7.3, 2.2,
    ]
    private static let hevcRates: [Double] = [
        51, 44, 33.6, 29.2, 27.4, 24.8, 19.5, 17.5, 14.8, 10.2, 5.3, 2,
    ]

    private static func rate(_ quality: Double, _ codec: VideoEncoder.Codec) -> Double {
        let rates = codec == .h264 ? h264Rates : hevcRates
        let wanted = min(max(quality * 100, 0), 100)
        let above = max(1, qualities.firstIndex { $0 >= wanted } ?? qualities.count - 1)
        let share = (wanted - qualities[above - 1]) / (qualities[above] - qualities[above - 1])
        return rates[above - 1] + share * (rates[above] - rates[above - 1])
    }
}
