extension AnnexB {
    /// The bytes of an access unit as a sample of a file: its units, each behind its length in four bytes.
    ///
    /// Left out is what stands in the sample's description, or nowhere: parameter sets, delimiters, filling, and what an encoder
    /// writes about itself (x264: version and options, unregistered user data in an SEI of its own).
    public static func sample(
        of bytes: UnsafeRawBufferPointer, _ codec: VideoEncoder.Codec
    ) -> [UInt8] {
        var sample: [UInt8] = []
        sample.reserveCapacity(bytes.count)
        for unit in units(in: bytes) where isOfSample(unit, codec) {
            for shift in [24, 16, 8, 0] {
                sample.append(UInt8(truncatingIfNeeded: unit.count >> shift))
            }
            sample += unit
        }
        return sample
    }

    /// The payload of an SEI that is unregistered user data (ITU-T H.264 §D.1.1 and H.265 §D.2.1).
    private static let userData: UInt8 = 5

    /// Types of units: ITU-T H.264 table 7-1 and H.265 table 7-1.
    private static func isOfSample(
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
