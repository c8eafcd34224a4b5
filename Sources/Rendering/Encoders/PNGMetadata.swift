import Adjustments
import CDeflate

/// The words of a PNG beside its pixels.
struct PNGMetadata {
    /// An ICC profile, or nil.
    let profile: [UInt8]?
    /// EXIF as a TIFF structure, or nil.
    let exif: [UInt8]?
    /// An XMP packet, or nil.
    let xmp: [UInt8]?
    /// Texts of the original, by their keys.
    let texts: [(key: String, text: String)]

    private static let profileLevel = 9
    /// Largest number of 4 bytes (§7.1).
    private static let numberMax = Double(Int32.max)

    /// Whole pixels of a metre. A TIFF may call any number its resolution, infinity too: what is beyond PNG's numbers
    /// becomes the nearest, and no number 0.
    private static func perMetre(_ perMillimetre: Double) -> Int {
        let pixels = (perMillimetre * 1000).rounded()
        return pixels.isNaN ? 0 : Int(min(max(pixels, 0), numberMax))
    }

    /// All chunks that come before the pixels.
    ///
    /// - Throws: `outOfMemory`.
    func head(of shape: EncodedShape) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = [0x89] + Array("PNG\r\n".utf8) + [0x1A, 0x0A]
        // Size, bits, colours (2: RGB, 6: with alpha), and three zeros: zlib, the five filters, from top to bottom.
        bytes += PNGChunk.bytes(
            "IHDR",
            PNGChunk.number(shape.width) + PNGChunk.number(shape.height)
                + [UInt8(shape.bits), shape.bands == 4 ? 6 : 2, 0, 0, 0])
        if let profile {
            let compressor = try DeflateCompressor(
                level: Self.profileLevel, blockBytesMax: profile.count)
            let deflated = profile.withUnsafeBytes { Array(compressor.zlib($0)) }
            // A name, and 0 for zlib.
            bytes += PNGChunk.bytes("iCCP", Array("icc\0\0".utf8) + deflated)
        }
        // Pixels per metre, across and down, and 1 for that unit.
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
    /// Length, name, data and CRC of name and data.
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

    /// A text in UTF-8, not compressed, of no language (§11.3.3.4; so is XMP, part 3 §1.1.5).
    static func international(_ key: String, _ text: [UInt8]) -> [UInt8] {
        bytes("iTXt", Array(key.utf8) + [0, 0, 0, 0, 0] + text)
    }

    /// A number as PNG has it: 4 bytes, highest first.
    static func number(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }
}
