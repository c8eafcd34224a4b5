import CZlib

/// Builders of file contents: numbers and the elements of each format.
public enum Bytes {
    /// Returns a number in big-endian order.
    public static func big(_ number: Int, _ count: Int = 4) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * (count - 1 - $0))) }
    }

    /// Returns a number in little-endian order.
    public static func little(_ number: Int, _ count: Int = 4) -> [UInt8] {
        big(number, count).reversed()
    }

    /// Returns the UTF-8 bytes of a text.
    public static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// Returns a JPEG segment.
    public static func segment(_ code: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xFF, code] + big(content.count + 2, 2) + content
    }

    /// Returns a PNG chunk. Its checksum is 0, because no reader in the tests verifies it.
    public static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        big(content.count) + text(name) + content + [0, 0, 0, 0]
    }

    /// Returns a RIFF chunk.
    public static func riff(_ name: String, _ content: [UInt8]) -> [UInt8] {
        text(name) + little(content.count) + content
            + [UInt8](repeating: 0, count: content.count % 2)
    }

    /// Returns a box of ISO/IEC 14496-12.
    public static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        big(content.count + 8) + text(type) + content
    }

    /// Returns zeros as zlib compresses them, to a thousandth of their length.
    public static func deflatedZeros(_ count: Int) -> [UInt8] {
        let zeros = [UInt8](repeating: 0, count: count)
        var length = compressBound(UInt(count))
        var packed = [UInt8](repeating: 0, count: Int(length))
        let status = compress2(&packed, &length, zeros, UInt(count), Z_BEST_COMPRESSION)
        precondition(status == Z_OK, "zlib cannot compress")
        return Array(packed.prefix(Int(length)))
    }
}
