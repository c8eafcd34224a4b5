import Edits
import CDeflate
import CZlib

/// A zlib stream (RFC 1950) made of pieces that are compressed one by one.
///
/// libdeflate is twice as fast as zlib but only compresses complete buffers. At its fastest level, it turns a piece as short as
/// these into one block. If that block is not marked as the last one and is followed by an empty block that ends at a byte
/// boundary, the next piece can follow (RFC 1951 §3.2.4, as zlib's `Z_SYNC_FLUSH` does).
final class DeflatePieces {
    /// Bytes of a piece. libdeflate begins a new block after 8,192 matches of at least 4 bytes each.
    static let pieceBytes = 1 << 15
    /// The fastest level. Other levels split a piece into several blocks.
    private static let level = 1
    /// No preset dictionary, a window of 32 KiB, "fastest" (RFC 1950 §2.2).
    static let head: [UInt8] = [0x78, 0x01]
    private static let emptyBlock: [UInt8] = [0, 0, 0xFF, 0xFF]

    private let compressor: DeflateCompressor
    /// Created on first use: photos do not need it.
    private var flushing: FlushingDeflate?
    private var checksum: UInt32 = 1

    init() throws(Failure) {
        compressor = try DeflateCompressor(level: Self.level, blockBytesMax: Self.pieceBytes)
    }

    /// Compresses a piece and appends it to the stream.
    func append(_ piece: UnsafeRawBufferPointer, to stream: inout [UInt8]) throws(Failure) {
        checksum = libdeflate_adler32(checksum, piece.baseAddress, piece.count)
        let block = compressor.bare(piece)
        let start = stream.count
        switch DeflateBlockEnd(of: block) {
        case .lastByte:
            stream += block
            stream[start] &= ~1
        case .bits(let end):
            stream += block
            stream[start] &= ~1
            // Three zero bits begin the empty block; its length fields begin at a byte boundary.
            let bytes = (end + 3 + 7) / 8
            stream += repeatElement(0, count: max(0, bytes - block.count))
            stream.removeLast(max(0, block.count - bytes))
            stream += Self.emptyBlock
        case nil:
            stream += try zlib().compressed(piece)
        }
    }

    private func zlib() throws(Failure) -> FlushingDeflate {
        if let flushing { return flushing }
        let made = try FlushingDeflate(level: Self.level, blockBytesMax: Self.pieceBytes)
        flushing = made
        return made
    }

    /// Returns the end of the stream: an empty last block, and the checksum.
    func end() -> [UInt8] {
        [0x03, 0x00] + (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (24 - 8 * $0)) }
    }
}

/// zlib itself, for pieces whose block end cannot be found in libdeflate's output.
private final class FlushingDeflate {
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let room: UnsafeMutableRawBufferPointer
    private static let bare: Int32 = -15
    private static let memoryLevel: Int32 = 8  // zlib's default
    /// The most bytes that a flush adds.
    private static let flushBytes = 64

    init(level: Int, blockBytesMax: Int) throws(Failure) {
        stream.initialize(to: z_stream())
        let status = deflateInit2_(
            stream, Int32(level), Z_DEFLATED, Self.bare, Self.memoryLevel, Z_DEFAULT_STRATEGY,
            ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        room = .allocate(
            byteCount: Int(deflateBound(stream, UInt(blockBytesMax))) + Self.flushBytes,
            alignment: 16)
        guard status == Z_OK else {
            throw Failure(.outOfMemory, "There is no memory for zlib.")
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
        room.deallocate()
    }

    func compressed(_ piece: UnsafeRawBufferPointer) throws(Failure) -> UnsafeRawBufferPointer {
        deflateReset(stream)
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: piece.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(piece.count)
        stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(room.count)
        guard deflate(stream, Z_SYNC_FLUSH) == Z_OK, stream.pointee.avail_in == 0,
            stream.pointee.avail_out > 0
        else { throw Failure(.internalError, "zlib did not compress \(piece.count) bytes.") }
        return UnsafeRawBufferPointer(
            rebasing: room[..<(room.count - Int(stream.pointee.avail_out))])
    }
}
