/// Sample descriptions by their four characters.
extension MovieCodec.Boxes {
    /// The codec, and the bytes for its decoder.
    func codec(
        _ format: BoxType
    ) throws(MovieProblem) -> (MovieCodec.Kind, configuration: [UInt8]) {
        switch format {
        // `avc3` and `hev1` may have parameter sets among the pictures too; a decoder reads both.
        case "avc1", "avc3": return (.h264, try needed("avcC", atLeast: 7, of: format))
        case "hvc1", "hev1": return (.hevc, try needed("hvcC", atLeast: 23, of: format))
        case "dvh1", "dvhe":
            // HEVC whose base layer may be in colours of Dolby's own.
            try checkDolbyVision()
            return (.hevc, try needed("hvcC", atLeast: 23, of: format))
        case "apco", "apcs", "apcn", "apch", "ap4h", "ap4x": return (.prores, [])
        case "jpeg", "mjpa": return (.mjpeg, [])
        case "vp09": return (.vp9, [])
        // Four bytes about the stream, then its units.
        case "av01": return (.av1, Array(try needed("av1C", atLeast: 4, of: format).dropFirst(4)))
        case "mp4v": return try ofDescriptors()
        default:
            throw .unsupported(
                "a video track of the codec \(format); H.264, HEVC, AV1, VP9, ProRes, MPEG-4 and Motion JPEG are read"
            )
        }
    }

    /// Refuses pictures that other decoders show in wrong colours: the record of Dolby Vision (Dolby Vision Streams Within the ISO Base Media
    /// File Format 2.1.2 §3.2) has the profile in the seven bits behind its version; 5 has no base layer that is compatible.
    private func checkDolbyVision() throws(MovieProblem) {
        let record = first("dvcC") ?? first("dvvC")
        guard let record, record.count >= 3, record.number(at: 2, 1) >> 1 == 5 else { return }
        throw .unsupported(
            "a video track of Dolby Vision's profile 5, whose colours are Dolby's own; export it as HLG or HDR10"
        )
    }

    /// Bits of a sample; nil where only the stream says.
    ///
    /// Source: ISO/IEC 14496-15 §5.3 and §8.3, "AV1 Codec ISO Media File Format Binding" §2.3.3, "VP Codec ISO Media File Format
    /// Binding" §"VP Codec Configuration Box".
    func bits(of kind: MovieCodec.Kind, _ configuration: [UInt8]) -> Int? {
        switch kind {
        case .h264: AVCConfiguration.bits(in: configuration)
        case .hevc: HEVCConfiguration(configuration[...])?.lumaBits
        case .av1:
            // Bits of the third byte: more than 8, and with it 12.
            first("av1C").map { box in
                let said = box.number(at: 2, 1)
                return said & 0x40 == 0 ? 8 : said & 0x20 == 0 ? 10 : 12
            }
        // Behind version and flags: profile, level, and bits in half a byte.
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

    /// MPEG-4's own way: a tree of descriptors says the codec by a number (ISO/IEC 14496-1 §7.2.6, table 5).
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

/// What `esds` says of a decoder.
private struct ElementaryStream {
    let objectType: Int
    let configuration: [UInt8]

    private static let streamTag = 3, decoderTag = 4, specificTag = 5

    /// Reads the content behind version and flags; nil where a decoder is missing.
    init?(_ content: ArraySlice<UInt8>) {
        guard var stream = Self.descriptor(Self.streamTag, in: content),
            stream.bytes(2) != nil, let flags = stream.number(1)
        else { return nil }
        // What it hangs on, an address, and a clock, where a bit says so.
        if flags & 0x80 != 0 { guard stream.bytes(2) != nil else { return nil } }
        if flags & 0x40 != 0 {
            guard let count = stream.number(1), stream.bytes(count) != nil else { return nil }
        }
        if flags & 0x20 != 0 { guard stream.bytes(2) != nil else { return nil } }
        // The kind of stream, and the size of buffers and rates: twelve bytes.
        guard var decoder = Self.descriptor(Self.decoderTag, in: stream.rest),
            let type = decoder.number(1), decoder.bytes(12) != nil
        else { return nil }
        objectType = type
        configuration =
            Self.descriptor(Self.specificTag, in: decoder.rest).map { Array($0.rest) } ?? []
    }

    /// The content of the first descriptor of a tag: a tag, a length in up to four bytes of seven bits, and what it says.
    private static func descriptor(_ wanted: Int, in content: ArraySlice<UInt8>) -> ByteCursor? {
        var cursor = ByteCursor(content)
        while let tag = cursor.number(1) {
            var length = 0
            for _ in 0..<4 {
                guard let byte = cursor.number(1) else { return nil }
                length = length << 7 | byte & 0x7F
                if byte & 0x80 == 0 { break }
            }
            // A writer may count more than there is.
            let inside = cursor.rest.prefix(length)
            if tag == wanted { return ByteCursor(inside) }
            guard cursor.bytes(length) != nil else { return nil }
        }
        return nil
    }
}
