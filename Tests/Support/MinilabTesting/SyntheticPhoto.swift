public import Foundation

/// Small photos that a formula generates, so that tests need no files.
public enum SyntheticPhoto {
    /// Returns an 8-bit RGB PNG whose pixels vary everywhere and depend on `seed`.
    ///
    /// It has stored blocks, which every decoder reads and which need no compressor. Source: RFC 1950, RFC 1951 §3.2.4,
    /// PNG specification (third edition).
    public static func png(width: Int, height: Int, seed: Int = 0) -> Data {
        var rows: [UInt8] = []
        for y in 0..<height {
            rows.append(0)  // no row filter
            for x in 0..<width {
                rows.append(UInt8(truncatingIfNeeded: x &* 3 &+ seed))
                rows.append(UInt8(truncatingIfNeeded: y &* 5 &+ seed &* 7))
                rows.append(UInt8(truncatingIfNeeded: x ^ y))
            }
        }
        return png(width: width, height: height, rows: rows)
    }

    /// Returns a PNG whose header declares more pixels than it has.
    public static func pngBomb(width: Int, height: Int) -> Data {
        png(width: width, height: height, rows: [0, 0, 0, 0])
    }

    private static func png(width: Int, height: Int, rows: [UInt8]) -> Data {
        var header = bigEndian(UInt32(width)) + bigEndian(UInt32(height))
        header += [8, 2, 0, 0, 0]  // 8 bit, RGB, the only compression and filter, no interlace
        var png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        png += chunk("IHDR", header)
        png += chunk("IDAT", stored(rows))
        png += chunk("IEND", [])
        return png
    }

    private static func chunk(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + bytes
        return bigEndian(UInt32(bytes.count)) + body + bigEndian(crc32(body))
    }

    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = [0x78, 0x01]
        var start = 0
        repeat {
            let end = min(start + 65_535, bytes.count)
            let count = UInt16(end - start)
            out.append(end == bytes.count ? 1 : 0)
            out += [UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255), UInt8(~count >> 8)]
            out += bytes[start..<end]
            start = end
        } while start < bytes.count
        return out + bigEndian(adler32(bytes))
    }

    private static func adler32(_ bytes: [UInt8]) -> UInt32 {
        var a: UInt32 = 1
        var b: UInt32 = 0
        for byte in bytes {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return b << 16 | a
    }

    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        var crc: UInt32 = ~0
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return ~crc
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
