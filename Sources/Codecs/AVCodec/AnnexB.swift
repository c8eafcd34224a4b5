/// NAL units in a byte stream, each after a start code (ITU-T H.264 and H.265, annex B).
public enum AnnexB {
    /// Returns the units in some bytes, without start codes and without trailing zeros.
    public static func units(in bytes: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer] {
        var units: [UnsafeRawBufferPointer] = []
        var start: Int?
        var offset = 0
        func end(at end: Int) {
            guard var first = start else { return }
            var last = end
            while last > first, bytes[last - 1] == 0 { last -= 1 }
            first = min(first, last)
            if last > first { units.append(UnsafeRawBufferPointer(rebasing: bytes[first..<last])) }
        }
        while offset + 3 <= bytes.count {
            // A start code is two zeros and a one. If the third byte is larger, no start code begins before it.
            if bytes[offset + 2] > 1 {
                offset += 3
            } else if bytes[offset] == 0, bytes[offset + 1] == 0, bytes[offset + 2] == 1 {
                end(at: offset)
                offset += 3
                start = offset
            } else {
                offset += 1
            }
        }
        end(at: bytes.count)
        return units
    }

    /// Returns a unit's content with a 3 after each pair of zeros that would otherwise precede a byte of at most 3, so that it
    /// contains no start code (ITU-T H.264 §7.4.1, H.265 §7.4.2).
    static func escaped(_ content: [UInt8]) -> [UInt8] {
        var escaped: [UInt8] = []
        var zeros = 0
        for byte in content {
            if zeros == 2, byte <= 3 {
                escaped.append(3)
                zeros = 0
            }
            zeros = byte == 0 ? zeros + 1 : 0
            escaped.append(byte)
        }
        return escaped
    }
}

extension AnnexB {
    /// Returns an access unit as a sample of a file: its NAL units, each preceded by its length in four bytes.
    ///
    /// Units that belong into the sample description, or are not needed, are removed: parameter sets, delimiters, filler data, and
    /// data about the encoder (x264: version and options, unregistered user data in an SEI of its own).
    public static func sample(
        of bytes: UnsafeRawBufferPointer, _ codec: VideoEncoder.Codec
    ) -> [UInt8] {
        var sample: [UInt8] = []
        sample.reserveCapacity(bytes.count)
        for unit in units(in: bytes) where belongsToSample(unit, codec) {
            for shift in [24, 16, 8, 0] {
                sample.append(UInt8(truncatingIfNeeded: unit.count >> shift))
            }
            sample += unit
        }
        return sample
    }

    /// The SEI payload type of unregistered user data (ITU-T H.264 §D.1.1 and H.265 §D.2.1).
    private static let userData: UInt8 = 5

    /// Returns whether a unit belongs into a sample. Types of units: ITU-T H.264 table 7-1 and H.265 table 7-1.
    private static func belongsToSample(
        _ unit: UnsafeRawBufferPointer, _ codec: VideoEncoder.Codec
    ) -> Bool {
        switch codec {
        case .h264:
            switch unit[0] & 31 {
            case 6: return unit.count > 1 && unit[1] != userData
            case 7, 8, 9, 12: return false
            default: return true
            }
        case .hevc:
            switch unit[0] >> 1 & 63 {
            case 32...35, 38: return false
            case 39, 40: return unit.count > 2 && unit[2] != userData
            default: return true
            }
        }
    }
}
