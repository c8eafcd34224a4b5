extension HEIFProperty {
    /// Whether readers without support for it must not show the item: properties for decoding and orientation.
    var isEssential: Bool {
        switch self {
        case .rotation, .mirror, .other("hvcC", _), .other("clap", _): true
        default: false
        }
    }

    /// Returns the light level of the picture with its gain map applied: the brightest pixel and the highest average, in candela
    /// per square metre (`clli`, ISO/IEC 23008-12 §6.5.32).
    public static func lightLevel(most: Int, average: Int) -> HEIFProperty {
        var content = ByteWriter()
        content.add(most, 2)
        content.add(average, 2)
        return .other(type: "clli", content: content.bytes[...])
    }

    /// Appends its box, in the form that ``init(type:content:)`` reads.
    func add(to bytes: inout ByteWriter) {
        switch self {
        case .size(let width, let height):
            bytes.fullBox("ispe") { box in
                box.add(width, 4)
                box.add(height, 4)
            }
        case .rotation(let turns): bytes.box("irot") { $0.add(turns & 3, 1) }
        case .mirror(let isAcross): bytes.box("imir") { $0.add(isAcross ? 1 : 0, 1) }
        case .bits(let bits):
            bytes.fullBox("pixi") { box in
                box.add(bits.count, 1)
                for count in bits { box.add(count, 1) }
            }
        case .codedColour(let colour):
            bytes.box("colr") { box in
                box.add("nclx")
                box.add(colour.primaries, 2)
                box.add(colour.transfer, 2)
                box.add(colour.matrix, 2)
                box.add(colour.isFullRange ? 0x80 : 0, 1)
            }
        case .profile(let profile):
            bytes.box("colr") { box in
                box.add("prof")
                box.add(profile)
            }
        case .auxiliary(let name):
            bytes.fullBox("auxC") { box in
                box.add(name)
                box.add(0, 1)
            }
        case .other(let type, let content): bytes.box(type) { $0.add(content) }
        }
    }
}

extension HEVCConfiguration {
    /// Creates the content of `hvcC` for a stream with these parameter sets (ISO/IEC 14496-15 §8.3.3.1); nil if they are invalid.
    ///
    /// NAL units in the file are preceded by their lengths in four bytes.
    ///
    /// - Parameters:
    ///   - parameterSets: NAL units of types 32 to 34: video, sequence and picture parameter sets.
    ///   - chromaFormat: 0 for grey, 1 for 4:2:0, 2 for 4:2:2, 3 for 4:4:4.
    ///   - bits: bits of a sample.
    public init?(parameterSets: [[UInt8]], chromaFormat: Int, bits: Int) {
        func sets(_ type: Int) -> [[UInt8]] {
            parameterSets.filter { ($0.first.map { Int($0) >> 1 & 63 }) == type }
        }
        guard let sequence = sets(Self.sequenceType).first else { return nil }
        // Two bytes of header, one with the number of temporal layers and their nesting, then twelve of profile and level.
        let content = Self.withoutEmulation(sequence).dropFirst(2)
        guard content.count >= 13, let layers = content.first else { return nil }
        var bytes = ByteWriter()
        bytes.add(1, 1)
        bytes.add(content.dropFirst().prefix(12))
        // Reserved bits are ones; no declared minimum of spatial segmentation.
        bytes.add(0xF000, 2)
        bytes.add(0xFC, 1)
        bytes.add(0xFC | chromaFormat, 1)
        bytes.add(0xF8 | (bits - 8), 1)
        bytes.add(0xF8 | (bits - 8), 1)
        // No frame rate; temporal layers, their nesting, and lengths of four bytes.
        bytes.add(0, 2)
        bytes.add(((Int(layers) >> 1 & 7) + 1) << 3 | (Int(layers) & 1) << 2 | 3, 1)
        bytes.add(3, 1)
        for type in Self.videoType...Self.pictureType {
            let sets = sets(type)
            // All sets of the type are here, and none is in the stream.
            bytes.add(0x80 | type, 1)
            bytes.add(sets.count, 2)
            for set in sets {
                bytes.add(set.count, 2)
                bytes.add(set)
            }
        }
        self.init(bytes.bytes[...])
    }

    private static let videoType = 32, sequenceType = 33, pictureType = 34

    /// Returns a unit without its emulation prevention bytes (ITU-T H.265 §7.4.2).
    static func withoutEmulation(_ unit: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var zeros = 0
        for byte in unit {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            bytes.append(byte)
        }
        return bytes
    }
}

/// Writes consecutive bytes of boxes.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// Appends a big-endian number of `count` bytes; higher bits are ignored.
    mutating func add(_ number: Int, _ count: Int) {
        for shift in (0..<count).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: number >> (8 * shift)))
        }
    }

    mutating func add(_ more: some Sequence<UInt8>) { bytes += more }

    mutating func add(_ text: String) { bytes += text.utf8 }

    mutating func box(_ type: String, _ content: (inout ByteWriter) -> Void) {
        let start = bytes.count
        add(0, 4)
        add(type)
        content(&self)
        let length = bytes.count - start
        for index in 0..<4 {
            bytes[start + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index))
        }
    }

    mutating func fullBox(
        _ type: String, version: Int = 0, flags: Int = 0, _ content: (inout ByteWriter) -> Void
    ) {
        box(type) { box in
            box.add(version, 1)
            box.add(flags, 3)
            content(&box)
        }
    }
}
