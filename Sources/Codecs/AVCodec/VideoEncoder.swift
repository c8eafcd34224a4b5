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

        /// Makes settings.
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
