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
