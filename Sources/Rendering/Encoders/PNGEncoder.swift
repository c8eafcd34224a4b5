import CDeflate
import Edits
import Files

/// Writes a PNG (third edition) of 8 or 16 bits, from top to bottom, in constant memory.
///
/// Each row is stored as differences to the row above (§9.2, "up"). For photos the result is as small as with libpng's choice per
/// row, and much cheaper. Measurements are in MEASURED.md beside this file.
final class PNGEncoder: RowEncoder {
    private static let filterUp: UInt8 = 2
    /// The approximate number of pixel bytes in a chunk.
    private static let chunkBytes = 1 << 15

    private let shape: EncodedShape
    private var file: AppendedFile
    private let deflate: DeflatePieces
    private var stream: [UInt8] = DeflatePieces.head
    /// Bytes that are not yet compressed.
    private let piece = UnsafeMutableRawBufferPointer.allocate(
        byteCount: DeflatePieces.pieceBytes, alignment: 16)
    private var pieceCount = 0
    /// The row above, and this row with its differences, in the file's byte order.
    private let above, row, differences: UnsafeMutableBufferPointer<UInt8>

    /// Writes everything that precedes the pixels.
    ///
    /// - Throws: `noSpace`, `ioFailure`, `outOfMemory`.
    init(_ shape: EncodedShape, _ metadata: PNGMetadata, to file: OpenFile) throws(Failure) {
        self.shape = shape
        deflate = try DeflatePieces()
        above = .allocate(capacity: shape.rowBytes)
        above.initialize(repeating: 0)
        row = .allocate(capacity: shape.rowBytes)
        row.initialize(repeating: 0)
        differences = .allocate(capacity: shape.rowBytes + 1)
        differences.initialize(repeating: Self.filterUp)
        self.file = AppendedFile(file)
        try self.file.append(try metadata.head(of: shape))
    }

    deinit {
        piece.deallocate()
        above.deallocate()
        row.deallocate()
        differences.deallocate()
    }

    func append(_ pixels: UnsafeRawBufferPointer) throws(Failure) {
        if shape.bits == 16 {
            BytePlanes.swapPairs(pixels, into: row)
        } else {
            UnsafeMutableRawBufferPointer(row).copyMemory(from: pixels)
        }
        BytePlanes.subtract(
            UnsafeBufferPointer(above), from: UnsafeBufferPointer(row),
            into: UnsafeMutableBufferPointer(rebasing: differences[1...]))
        UnsafeMutableRawBufferPointer(above).copyMemory(from: UnsafeRawBufferPointer(row))
        var rest = UnsafeRawBufferPointer(differences)
        while !rest.isEmpty {
            let count = min(rest.count, piece.count - pieceCount)
            UnsafeMutableRawBufferPointer(rebasing: piece[pieceCount...]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: rest[..<count]))
            pieceCount += count
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            if pieceCount == piece.count { try compressPiece() }
        }
    }

    private func compressPiece() throws(Failure) {
        try deflate.append(
            UnsafeRawBufferPointer(rebasing: piece[..<pieceCount]), to: &stream)
        pieceCount = 0
        if stream.count >= Self.chunkBytes { try writeChunk() }
    }

    private func writeChunk() throws(Failure) {
        try file.append(PNGChunk.bytes("IDAT", stream))
        stream.removeAll(keepingCapacity: true)
    }

    func finish() throws(Failure) {
        if pieceCount > 0 { try compressPiece() }
        stream += deflate.end()
        try writeChunk()
        try file.append(PNGChunk.bytes("IEND", []))
    }
}

/// The metadata of a PNG.
struct PNGMetadata {
    /// An ICC profile, or nil.
    let profile: [UInt8]?
    /// EXIF as a TIFF structure, or nil.
    let exif: [UInt8]?
    /// An XMP packet, or nil.
    let xmp: [UInt8]?
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

/// Loops over the bytes of a row that the compiler vectorizes.
enum BytePlanes {
    /// `into[i] = from[i] - subtrahend[i]`, modulo 256.
    static func subtract(
        _ subtrahend: UnsafeBufferPointer<UInt8>, from row: UnsafeBufferPointer<UInt8>,
        into result: UnsafeMutableBufferPointer<UInt8>
    ) {
        precondition(subtrahend.count == row.count && result.count == row.count)
        guard let a = row.baseAddress, let b = subtrahend.baseAddress,
            let out = result.baseAddress
        else { return }
        for index in 0..<row.count { out[index] = a[index] &- b[index] }
    }

    /// Swaps 16-bit samples from the machine's byte order to big-endian.
    static func swapPairs(
        _ row: UnsafeRawBufferPointer, into result: UnsafeMutableBufferPointer<UInt8>
    ) {
        precondition(row.count == result.count && row.count % 2 == 0)
        let samples = row.assumingMemoryBound(to: UInt16.self)
        guard let from = samples.baseAddress else { return }
        result.withMemoryRebound(to: UInt16.self) { result in
            guard let out = result.baseAddress else { return }
            for index in 0..<samples.count { out[index] = from[index].bigEndian }
        }
    }
}
