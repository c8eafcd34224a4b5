import CCodecs

/// An encoder of libavcodec, with one thread: it knows no containers and opens no files.
///
/// Not for several threads at once. The same frames give the same bytes.
public final class VideoEncoder {
    /// The encoders that may be opened, by libavcodec's names.
    public enum Codec: String, Sendable, CaseIterable {
        case hevc = "libx265"
    }

    /// The shape of frames, and what the stream says of them.
    public struct Settings: Sendable {
        /// Size, bits, chroma and colour; what is nil is not said.
        public var layout: FrameLayout
        /// Ranks of a second.
        public var ticksPerSecond = 1
        /// Frames from a key frame to the next at most: 1 where each stands by itself.
        public var keyDistance = 1
        /// The encoder's own options, by libavcodec's names.
        public var options: [(name: String, value: String)] = []
        /// Most pixels of a frame, as a decoder of HEVC of level 6.2 has to know (ITU-T H.265 table A.8).
        public var pixelsMax = 35_651_584

        /// Makes settings.
        public init(_ layout: FrameLayout) { self.layout = layout }
    }

    private let encoder: OpaquePointer
    private let layout: FrameLayout

    /// Opens an encoder.
    ///
    /// - Throws: `unsupported` when libavcodec has no such encoder, or it takes no such frames or options.
    public init(_ codec: Codec, _ settings: Settings) throws(CodecError) {
        layout = settings.layout
        var shape = minilab_encoder_settings(
            width: Int32(clamping: layout.width), height: Int32(clamping: layout.height),
            pixels_max: Int64(settings.pixelsMax), plane_count: layout.hasChroma ? 3 : 1,
            chroma_shift_x: Int32(layout.chromaShift.x),
            chroma_shift_y: Int32(layout.chromaShift.y), bits: Int32(layout.bits),
            // H.273: 2 is unspecified.
            primaries: Int32(layout.primaries ?? 2), transfer: Int32(layout.transfer ?? 2),
            matrix: Int32(layout.matrix ?? 2), full_range: layout.isFullRange == true ? 1 : 0,
            ticks_per_second: Int32(settings.ticksPerSecond),
            key_distance: Int32(settings.keyDistance))
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

    /// Options as C has them, as long as a call lasts.
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

    /// A plane of the frame that is sent next.
    public struct Plane {
        /// The first sample of the first row. Samples of more than 8 bits have two bytes in the machine's order.
        public let start: UnsafeMutableRawPointer
        /// Bytes from a row to the next one.
        public let stride: Int
        public let width: Int
        public let height: Int
    }

    /// Fills the planes of a frame and sends it.
    ///
    /// - Parameters:
    ///   - rank: more than that of the frame before.
    ///   - isKey: whether it refers to no other.
    public func send(
        rank: Int, isKey: Bool, _ fill: ([Plane]) -> Void
    ) throws(CodecError) {
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
        try check(minilab_encoder_send(encoder, Int64(rank), isKey ? 1 : 0), "encode")
    }

    /// Says that nothing follows: what is held back can be received.
    public func finish() throws(CodecError) { try check(minilab_encoder_finish(encoder), "finish") }

    /// A coded frame.
    public struct Packet {
        /// Units of ``AnnexB``, valid until the encoder is used again.
        public let bytes: UnsafeRawBufferPointer
        /// When it is shown, and when it is decoded.
        public let rank: Int, order: Int
        public let isKey: Bool
    }

    /// The next coded frame, in the order in which they are decoded; nil when more must be sent before there is one.
    public func receive() throws(CodecError) -> Packet? {
        var packet = minilab_packet()
        let status = minilab_encoder_receive(encoder, &packet)
        if status == MINILAB_CODEC_WANTS_MORE.rawValue { return nil }
        try check(status, "encode")
        return Packet(
            bytes: UnsafeRawBufferPointer(start: packet.bytes, count: packet.count),
            rank: Int(packet.rank), order: Int(packet.order), isKey: packet.is_key == 1)
    }

    private func check(_ status: Int32, _ step: String) throws(CodecError) {
        guard status != MINILAB_CODEC_OK.rawValue else { return }
        let isMemory = status == MINILAB_CODEC_MEMORY.rawValue
        throw CodecError(kind: isMemory ? .memory : .unsupported, step: step)
    }
}
