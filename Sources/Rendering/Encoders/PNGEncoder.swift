import Edits
import CDeflate
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
