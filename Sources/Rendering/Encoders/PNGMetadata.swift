import Edits
import CDeflate

/// The metadata of a PNG.
struct PNGMetadata {
    /// An ICC profile, or nil.
    let profile: [UInt8]?
    /// EXIF as a TIFF structure, or nil.
    let exif: [UInt8]?
    /// An XMP packet, or nil.
    let xmp: [UInt8]?
    /// Texts of the original, with their keys.
    let texts: [(key: String, text: String)]

    private static let profileLevel = 9
    /// The largest 4-byte number (§7.1).
    private static let numberMax = Double(Int32.max)

    /// Converts a resolution to whole pixels per metre. A TIFF may declare any number, including infinity: a value outside PNG's
    /// range is clamped, and NaN becomes 0.
    private static func perMetre(_ perMillimetre: Double) -> Int {
        let pixels = (perMillimetre * 1000).rounded()
        return pixels.isNaN ? 0 : Int(min(max(pixels, 0), numberMax))
    }

    /// Returns all chunks that precede the pixels.
    ///
    /// - Throws: `outOfMemory`.
    func head(of shape: EncodedShape) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = [0x89] + Array("PNG\r\n".utf8) + [0x1A, 0x0A]
        // Size, bits, colour type (2: RGB, 6: with alpha), and three zeros: zlib, the five filters, not interlaced.
        bytes += PNGChunk.bytes(
            "IHDR",
            PNGChunk.number(shape.width) + PNGChunk.number(shape.height)
                + [UInt8(shape.bits), shape.bands == 4 ? 6 : 2, 0, 0, 0])
        if let profile {
            let compressor = try DeflateCompressor(
                level: Self.profileLevel, blockBytesMax: profile.count)
            let deflated = profile.withUnsafeBytes { Array(compressor.zlib($0)) }
            // A name, and 0 for zlib compression.
            bytes += PNGChunk.bytes("iCCP", Array("icc\0\0".utf8) + deflated)
        }
        // Pixels per metre, horizontally and vertically, and 1 for that unit.
        bytes += PNGChunk.bytes(
            "pHYs",
            PNGChunk.number(Self.perMetre(shape.resolution.x))
                + PNGChunk.number(Self.perMetre(shape.resolution.y)) + [1])
        if let exif { bytes += PNGChunk.bytes("eXIf", exif) }
        for (key, text) in texts {
            let isPlain = text.utf8.allSatisfy { $0 < 128 }
            bytes +=
                isPlain
                ? PNGChunk.bytes("tEXt", Array(key.utf8) + [0] + Array(text.utf8))
                : PNGChunk.international(key, Array(text.utf8))
        }
        if let xmp { bytes += PNGChunk.international("XML:com.adobe.xmp", xmp) }
        return bytes
    }
}

/// A chunk of a PNG (third edition §5.3).
enum PNGChunk {
    /// Returns a chunk: length, name, data and the CRC of name and data.
    static func bytes(_ name: String, _ data: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(data.count + 12)
        bytes += number(data.count)
        bytes += Array(name.utf8)
        bytes += data
        let checksum = bytes.withUnsafeBytes { bytes in
            let checked = UnsafeRawBufferPointer(rebasing: bytes[4...])
            return libdeflate_crc32(0, checked.baseAddress, checked.count)
        }
        return bytes + number(Int(checksum))
    }

    /// Returns an uncompressed UTF-8 text without a language (§11.3.3.4; the form for XMP, too, part 3 §1.1.5).
    static func international(_ key: String, _ text: [UInt8]) -> [UInt8] {
        bytes("iTXt", Array(key.utf8) + [0, 0, 0, 0, 0] + text)
    }

    /// Encodes a number in PNG's form: 4 bytes, big-endian.
    static func number(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }
}
