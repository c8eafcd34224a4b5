import CZlib

/// What files are made of: numbers, and the pieces that each format has.
public enum Bytes {
    /// The highest byte first.
    public static func big(_ number: Int, _ count: Int = 4) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * (count - 1 - $0))) }
    }

    /// The lowest byte first.
    public static func little(_ number: Int, _ count: Int = 4) -> [UInt8] {
        big(number, count).reversed()
    }

    /// A text's bytes.
    public static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// A segment of a JPEG.
    public static func segment(_ code: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xFF, code] + big(content.count + 2, 2) + content
    }

    /// A chunk of a PNG; nobody here looks at its check sum.
    public static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        big(content.count) + text(name) + content + [0, 0, 0, 0]
    }

    /// A chunk of a RIFF.
    public static func riff(_ name: String, _ content: [UInt8]) -> [UInt8] {
        text(name) + little(content.count) + content
            + [UInt8](repeating: 0, count: content.count % 2)
    }

    /// A box of ISO/IEC 14496-12.
    public static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        big(content.count + 8) + text(type) + content
    }

    /// What zlib makes of so many zeros: a thousandth of them.
    public static func deflatedZeros(_ count: Int) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: count)
        var length = compressBound(UInt(count))
        var packed = [UInt8](repeating: 0, count: Int(length))
        let status = compress2(&packed, &length, zeros, UInt(count), Z_BEST_COMPRESSION)
        precondition(status == Z_OK, "zlib cannot compress")
        return Array(packed.prefix(Int(length)))
    }
}
