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
