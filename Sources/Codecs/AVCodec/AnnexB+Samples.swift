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
