/// An edited colour of 10-bit planes in 32 bits: luma in the highest 10, then red and blue chroma in halves of a code, 11 bits
/// each.
enum DeepColour {
    static let bits = 10
    private static let codeMax: Float = 1023

    /// Packs codes, which are clamped and rounded.
    @inline(__always)
    static func pack(luma: Float, blue: Float, red: Float) -> UInt32 {
        whole(luma, 1) &<< 22 | whole(red, 2) &<< 11 | whole(blue, 2)
    }

    @inline(__always)
    private static func whole(_ code: Float, _ parts: Float) -> UInt32 {
        let above = code > 0 ? code : 0
        let clamped = above < codeMax ? above : codeMax
        // No range check, as in FrameCoding.
        return (clamped * parts + 8_388_608).bitPattern & 0x7F_FFFF
    }

    @inline(__always)
    static func luma(_ colour: UInt32) -> UInt16 { UInt16(truncatingIfNeeded: colour &>> 22) }

    /// Returns the blue chroma in halves of a code.
    @inline(__always)
    static func blue(_ colour: UInt32) -> UInt32 { colour & 0x7FF }

    /// Returns the red chroma in halves of a code.
    @inline(__always)
    static func red(_ colour: UInt32) -> UInt32 { colour &>> 11 & 0x7FF }

    /// Returns the code for a sum of 2^shift chromas.
    @inline(__always)
    static func mean(_ sum: UInt32, shift: UInt32) -> UInt16 {
        UInt16(truncatingIfNeeded: (sum &+ 1 &<< shift) &>> (1 &+ shift))
    }
}

/// A row of 10-bit chroma and the luma that shares it, of a decoder and of an encoder.
struct DeepRows {
    /// The first row of luma, the second row if there is one, and chroma.
    let luma, below, blue, red: UnsafePointer<UInt16>
    let newLuma, newBelow, newBlue, newRed: UnsafeMutablePointer<UInt16>
    /// Samples of chroma.
    let count: Int
}
