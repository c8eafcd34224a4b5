/// The parameter sets of an H.264 stream in the form of the box `avcC`.
///
/// Source: ISO/IEC 14496-15 §5.3.3.1.2.
public struct AVCConfiguration: Sendable, Equatable {
    public let bytes: [UInt8]

    private static let sequenceType: UInt8 = 7, pictureType: UInt8 = 8
    /// Most sequence and picture parameter sets that fit into the box.
    private static let sequencesMax = 31, picturesMax = 255
    /// Profiles without an extension: Baseline, Main and Extended.
    private static let plainProfiles: Set<UInt8> = [66, 77, 88]
    /// Profiles whose sequence parameter sets declare chroma and bits (ITU-T H.264 §7.3.2.1.1); others are 4:2:0 of 8 bits.
    private static let highProfiles: Set<UInt8> = [
        44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 244,
    ]

    /// Creates the content for a stream with these NAL units, of which other types are ignored; nil if parameter sets are missing.
    ///
    /// NAL units in the file are preceded by their lengths in four bytes.
    public init?(parameterSets: [[UInt8]]) {
        func sets(_ type: UInt8) -> [[UInt8]] {
            parameterSets.filter { $0.first.map { $0 & 31 } == type && $0.count <= 0xFFFF }
        }
        let (sequences, pictures) = (sets(Self.sequenceType), sets(Self.pictureType))
        guard let sequence = sequences.first, sequence.count >= 4, !pictures.isEmpty,
            sequences.count <= Self.sequencesMax, pictures.count <= Self.picturesMax
        else { return nil }
        var writer = ByteWriter()
        writer.add(1, 1)
        // Profile, compatibility flags and level follow the unit's first byte.
        writer.add(sequence[1...3])
        // Reserved bits are ones; lengths of four bytes.
        writer.add(0xFC | 3, 1)
        writer.add(0xE0 | sequences.count, 1)
        for set in sequences { Self.add(set, to: &writer) }
        writer.add(pictures.count, 1)
        for set in pictures { Self.add(set, to: &writer) }
        if !Self.plainProfiles.contains(sequence[1]) {
            guard let format = Self.format(of: sequence) else { return nil }
            writer.add(0xFC | format.chroma, 1)
            writer.add(0xF8 | (format.lumaBits - 8), 1)
            writer.add(0xF8 | (format.chromaBits - 8), 1)
            // No extensions of sequence parameter sets: those are for alpha.
            writer.add(0, 1)
        }
        bytes = writer.bytes
    }

    /// Returns the bits of a luma sample from the first sequence parameter set of an `avcC`; nil if it is unreadable.
    static func bits(in content: [UInt8]) -> Int? { format(in: content)?.lumaBits }

    /// Returns the sampling of chroma likewise: 1 for 4:2:0, 2 for 4:2:2, 3 for 4:4:4.
    static func chroma(in content: [UInt8]) -> Int? { format(in: content)?.chroma }

    private static func format(
        in content: [UInt8]
    ) -> (chroma: Int, lumaBits: Int, chromaBits: Int)? {
        let (countAt, firstAt) = (5, 8)
        guard content.count > firstAt, content[countAt] & 31 > 0 else { return nil }
        let sequence = content[firstAt...].prefix(content.number(at: firstAt - 2, 2))
        guard sequence.count >= 4 else { return nil }
        return format(of: Array(sequence))
    }

    private static func add(_ set: [UInt8], to writer: inout ByteWriter) {
        writer.add(set.count, 2)
        writer.add(set)
    }

    /// Reads chroma (1 for 4:2:0, 2 for 4:2:2, 3 for 4:4:4) and bits of a sequence parameter set.
    private static func format(
        of sequence: [UInt8]
    ) -> (chroma: Int, lumaBits: Int, chromaBits: Int)? {
        guard highProfiles.contains(sequence[1]) else { return (1, 8, 8) }
        var bits = BitReader(
            HEVCConfiguration.withoutEmulation(sequence).dropFirst(4), highestFirst: true)
        guard bits.exponential() != nil, let chroma = bits.exponential(), chroma <= 3 else {
            return nil
        }
        // Planes of 4:4:4 may be coded separately.
        if chroma == 3 { guard bits.bit() != nil else { return nil } }
        guard let luma = bits.exponential(), let difference = bits.exponential(), luma <= 6,
            difference <= 6
        else { return nil }
        return (chroma, luma + 8, difference + 8)
    }
}

extension BitReader {
    /// Most leading zeros of a number: no parameter set has more.
    private static let zerosMax = 31

    /// Reads a number as an Exp-Golomb code (ITU-T H.264 §9.1).
    fileprivate mutating func exponential() -> Int? {
        var zeros = 0
        while true {
            guard let bit = bit(), zeros <= Self.zerosMax else { return nil }
            if bit == 1 { break }
            zeros += 1
        }
        var number = 1
        for _ in 0..<zeros {
            guard let bit = bit() else { return nil }
            number = number << 1 | bit
        }
        return number - 1
    }
}

extension SampleEntry {
    /// Creates the sample description of an encoder's stream; nil if the units contain no parameter sets of the codec, or the codec
    /// is not supported for encoding.
    ///
    /// - Parameters:
    ///   - parameterSets: NAL units without start codes.
    ///   - chromaFormat: 0 for grey, 1 for 4:2:0, 2 for 4:2:2, 3 for 4:4:4.
    ///   - bits: bits of a sample.
    ///   - width: the width of the displayed pictures before the matrix; nil, like `height`, for no change.
    public init?(
        _ kind: MovieCodec.Kind, parameterSets: [[UInt8]], chromaFormat: Int, bits: Int,
        width: Int? = nil, height: Int? = nil
    ) {
        switch kind {
        case .h264:
            guard let configuration = AVCConfiguration(parameterSets: parameterSets) else {
                return nil
            }
            self.init(
                format: "avc1", configuration: ("avcC", configuration.bytes), width: width,
                height: height)
        case .hevc:
            let configuration = HEVCConfiguration(
                parameterSets: parameterSets, chromaFormat: chromaFormat, bits: bits)
            guard let configuration else { return nil }
            self.init(
                format: "hvc1", configuration: ("hvcC", configuration.bytes), width: width,
                height: height)
        default: return nil
        }
    }
}

/// The codec of a video track's samples: the sample description of an encoder.
public struct SampleEntry: Sendable, Equatable {
    /// `avc1`, `hvc1` …
    public var format: BoxType
    /// The type of the box with the codec's parameter sets, `avcC` or `hvcC`, and its content.
    public var configuration: (type: BoxType, content: [UInt8])
    /// The size of the pictures; nil for no change.
    public var width: Int?, height: Int?

    public init(
        format: BoxType, configuration: (type: BoxType, content: [UInt8]), width: Int? = nil,
        height: Int? = nil
    ) {
        (self.format, self.configuration) = (format, configuration)
        (self.width, self.height) = (width, height)
    }

    public static func == (a: SampleEntry, b: SampleEntry) -> Bool {
        a.format == b.format && a.configuration == b.configuration && a.width == b.width
            && a.height == b.height
    }

    /// Both sides, if they change.
    var size: (width: Int, height: Int)? {
        guard let width, let height else { return nil }
        return (width, height)
    }

    /// Bytes of an entry before its boxes: those of all entries, and those of visual entries (ISO/IEC 14496-12 §12.1.3).
    static let header = 86
    /// The offset of its width, which its height follows: two bytes each.
    static let sizeAt = 32
    static let compressorName = 50..<82

    /// Boxes of the source's codec, which are invalid for another one, and of additions by its encoder: a second eye (`lhvC`,
    /// `vexu`, `hfov`), Dolby Vision, ambient light, bit rates.
    static let ofCodecs: Set<BoxType> = [
        "avcC", "hvcC", "lhvC", "av1C", "vpcC", "esds", "dvcC", "dvvC", "dvwC", "vexu", "hfov",
        "amve", "btrt", "glbl",
    ]

    /// Returns an entry without its boxes of a type. Bytes after the boxes stay, such as the zeros at the end of a QuickTime list.
    static func without(_ type: BoxType, _ entry: ArraySlice<UInt8>) -> [UInt8] {
        var kept = Array(entry.prefix(header))
        var rest = entry.dropFirst(header)
        while rest.count >= 8 {
            let length = rest.number(at: 0, 4)
            guard (8...rest.count).contains(length) else { break }
            if BoxType(UInt32(rest.number(at: 4, 4))) != type { kept += rest.prefix(length) }
            rest = rest.dropFirst(length)
        }
        kept += rest
        var length = ByteWriter()
        length.add(kept.count, 4)
        kept.replaceSubrange(0..<4, with: length.bytes)
        return kept
    }

    /// Returns the source's entry with this codec instead of its own. Colours, aperture and pixel aspect stay.
    func replacing(_ entry: ArraySlice<UInt8>) -> [UInt8] {
        var header = Array(entry.prefix(Self.header))
        header += [UInt8](repeating: 0, count: Self.header - header.count)
        if BoxType(UInt32(header.number(at: 4, 4))) != format {
            header.replaceSubrange(4..<8, with: format.bytes)
            for index in Self.compressorName { header[index] = 0 }
        }
        for (offset, side) in [(Self.sizeAt, width), (Self.sizeAt + 2, height)] {
            guard let side else { continue }
            header[offset] = UInt8(truncatingIfNeeded: side >> 8)
            header[offset + 1] = UInt8(truncatingIfNeeded: side)
        }
        var boxes = ByteWriter()
        boxes.box(configuration.type) { $0.add(configuration.content) }
        var rest = entry.dropFirst(Self.header)
        while rest.count >= 8 {
            let length = rest.number(at: 0, 4)
            guard (8...rest.count).contains(length) else { break }
            if !Self.ofCodecs.contains(BoxType(UInt32(rest.number(at: 4, 4)))) {
                boxes.add(rest.prefix(length))
            }
            rest = rest.dropFirst(length)
        }
        boxes.add(rest)
        var whole = ByteWriter()
        whole.add(header.count + boxes.bytes.count, 4)
        whole.add(header.dropFirst(4))
        whole.add(boxes.bytes)
        return whole.bytes
    }
}

extension ByteWriter {
    mutating func box(_ type: BoxType, _ content: (inout ByteWriter) -> Void) {
        box(type.description, content)
    }
}
