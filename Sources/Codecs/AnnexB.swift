/// NAL units in a stream of bytes, each behind a start code (ITU-T H.264 and H.265, annex B).
public enum AnnexB {
    /// The units of some bytes, without start codes and without the zeros that may follow a unit.
    public static func units(in bytes: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer] {
        var units: [UnsafeRawBufferPointer] = []
        var start: Int?
        var place = 0
        func end(at end: Int) {
            guard var first = start else { return }
            var last = end
            while last > first, bytes[last - 1] == 0 { last -= 1 }
            first = min(first, last)
            if last > first { units.append(UnsafeRawBufferPointer(rebasing: bytes[first..<last])) }
        }
        while place + 3 <= bytes.count {
            // A start code is two zeros and a one, so where the third byte is larger none begins before it.
            if bytes[place + 2] > 1 {
                place += 3
            } else if bytes[place] == 0, bytes[place + 1] == 0, bytes[place + 2] == 1 {
                end(at: place)
                place += 3
                start = place
            } else {
                place += 1
            }
        }
        end(at: bytes.count)
        return units
    }
}
