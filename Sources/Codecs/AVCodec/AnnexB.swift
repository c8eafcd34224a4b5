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
