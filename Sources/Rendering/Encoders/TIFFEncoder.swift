import Edits
import Files

/// Writes a TIFF (6.0) in strips, from top to bottom, with one strip in memory. The file is a BigTIFF if 32-bit offsets might not
/// suffice.
///
/// libdeflate compresses each strip as a whole; libtiff, fed row by row, uses zlib. The strips depend only on the picture's size,
/// so the bytes depend on nothing else.
final class TIFFEncoder: RowEncoder {
    /// Pixel bytes of a strip: enough that compression loses nothing, and small enough for the second-level cache.
    private static let stripBytes = 1 << 18
    /// The number of sample bytes from which the file is a BigTIFF. Offsets have 32 bits, noise grows slightly when compressed, and
    /// metadata follow.
    static let bigTIFFBytes = 3 << 30

    /// Rows of a strip.
    static func stripRows(rowBytes: Int, height: Int) -> Int {
        min(height, max(1, stripBytes / rowBytes))
    }

    private let shape: EncodedShape
    private let metadata: TIFFMetadata
    private let stripRows: Int
    private let isBig: Bool
    private let compressor: DeflateCompressor?
    private var file: AppendedFile
    private let strip: UnsafeMutableRawBufferPointer
    private var rows = 0
    private var strips: [(offset: Int, count: Int)] = []

    /// - Parameters:
    ///   - level: libdeflate's level, or nil for uncompressed strips.
    ///   - bigTIFFBytes: the number of sample bytes from which the file is a BigTIFF.
    /// - Throws: `outOfMemory`, `noSpace`, `ioFailure`.
    init(
        _ shape: EncodedShape, _ metadata: TIFFMetadata, level: Int?, to file: OpenFile,
        bigTIFFBytes: Int = TIFFEncoder.bigTIFFBytes
    ) throws(Failure) {
        self.shape = shape
        self.metadata = metadata
        isBig = shape.rowBytes * shape.height >= bigTIFFBytes
        stripRows = Self.stripRows(rowBytes: shape.rowBytes, height: shape.height)
        let stripBytes = stripRows * shape.rowBytes
        compressor =
            if let level { try DeflateCompressor(level: level, blockBytesMax: stripBytes) } else {
                nil
            }
        strip = .allocate(byteCount: stripBytes, alignment: 16)
        self.file = AppendedFile(file)
        try self.file.append(TIFFDirectory.head(isBig: isBig, directory: 0))
    }

    deinit { strip.deallocate() }

    func append(_ row: UnsafeRawBufferPointer) throws(Failure) {
        let target = UnsafeMutableRawBufferPointer(
            rebasing: strip[rows * shape.rowBytes..<(rows + 1) * shape.rowBytes])
        if compressor == nil {
            target.copyMemory(from: row)
        } else if shape.bits == 16 {
            Differences.of(
                row.assumingMemoryBound(to: UInt16.self), bands: shape.bands,
                into: target.assumingMemoryBound(to: UInt16.self))
        } else {
            Differences.of(
                row.assumingMemoryBound(to: UInt8.self), bands: shape.bands,
                into: target.assumingMemoryBound(to: UInt8.self))
        }
        rows += 1
        if rows == stripRows { try writeStrip() }
    }

    private func writeStrip() throws(Failure) {
        let samples = UnsafeRawBufferPointer(rebasing: strip[..<(rows * shape.rowBytes)])
        let bytes = compressor?.zlib(samples) ?? samples
        strips.append((file.length, bytes.count))
        try file.append(bytes)
        rows = 0
    }

    func finish() throws(Failure) {
        if rows > 0 { try writeStrip() }
        // Directories must begin at even offsets.
        if file.length % 2 == 1 { try file.append([0]) }
        let directory = TIFFDirectory(
            shape, metadata, isCompressed: compressor != nil, stripRows: stripRows,
            strips: strips, isBig: isBig)
        let offset = file.length
        try file.append(directory.bytes(at: offset))
        try file.file.write(TIFFDirectory.head(isBig: isBig, directory: offset), at: 0)
    }
}

/// Differences of each sample to the same sample of the previous pixel, modulo their range (TIFF 6.0 §14).
private enum Differences {
    static func of<Sample: FixedWidthInteger>(
        _ row: UnsafeBufferPointer<Sample>, bands: Int,
        into result: UnsafeMutableBufferPointer<Sample>
    ) {
        precondition(row.count == result.count && row.count >= bands)
        guard let from = row.baseAddress, let out = result.baseAddress else { return }
        for index in 0..<bands { out[index] = from[index] }
        for index in bands..<row.count { out[index] = from[index] &- from[index - bands] }
    }
}
