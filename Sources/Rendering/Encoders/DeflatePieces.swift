import CDeflate
import CZlib
import Edits
import PhotoFiles

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

/// The end of the single block of a compressed piece.
///
/// libdeflate reports the number of bytes of a stream, but not the number of bits used in the last byte. A block ends with its
/// end-of-block code, followed only by zeros. So the block ends after the last 1 bit, plus the number of zeros with which that code
/// ends.
enum DeflateBlockEnd: Equatable {
    /// The block ends after this many bits.
    case bits(Int)
    /// The block ends with the last byte: the bytes are stored uncompressed.
    case lastByte

    private static let endOfBlock = 256
    /// The most bytes of a block's header: 17 bits, 19 lengths of 3 bits, and 318 codes of up to 14 bits.
    private static let headerMax = 600
    /// The order of the code length code lengths (RFC 1951 §3.2.7).
    private static let order = [
        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
    ]

    /// - Parameter stream: a complete DEFLATE stream.
    /// - Returns: nil if it has several blocks, or if the end-of-block code consists only of zeros.
    init?(of stream: UnsafeRawBufferPointer) {
        var reader = BitReader(stream.prefix(Self.headerMax))
        guard reader.read(1) == 1 else { return nil }
        switch reader.read(2) {
        case 0: self = .lastByte
        case 2:
            guard let code = Self.endCode(&reader), code > 0,
                let last = stream.lastIndex(where: { $0 != 0 })
            else { return nil }
            let ones = last * 8 + 8 - stream[last].leadingZeroBitCount
            self = .bits(ones + code.trailingZeroBitCount)
        default: return nil
        }
    }

    /// Returns the end-of-block code; its last bit is the lowest.
    private static func endCode(_ reader: inout BitReader) -> Int? {
        let literals = reader.read(5) + 257
        let distances = reader.read(5) + 1
        let count = reader.read(4) + 4
        var lengthLengths = [Int](repeating: 0, count: order.count)
        for symbol in order.prefix(count) { lengthLengths[symbol] = reader.read(3) }
        let codes = codes(of: lengthLengths)
        var lengths: [Int] = []
        while lengths.count < literals + distances {
            guard let symbol = symbol(&reader, lengthLengths, codes) else { return nil }
            switch symbol {
            case 16: lengths += repeatElement(lengths.last ?? 0, count: 3 + reader.read(2))
            case 17: lengths += repeatElement(0, count: 3 + reader.read(3))
            case 18: lengths += repeatElement(0, count: 11 + reader.read(7))
            default: lengths.append(symbol)
            }
        }
        return Self.codes(of: Array(lengths.prefix(literals)))[endOfBlock]
    }

    private static func symbol(
        _ reader: inout BitReader, _ lengths: [Int], _ codes: [Int]
    ) -> Int? {
        var code = 0
        for length in 1...7 {
            code = code << 1 | reader.read(1)
            for symbol in lengths.indices
            where lengths[symbol] == length && codes[symbol] == code {
                return symbol
            }
        }
        return nil
    }

    /// Returns the codes for code lengths; 0 means that there is no code (RFC 1951 §3.2.2).
    private static func codes(of lengths: [Int]) -> [Int] {
        var counts = [Int](repeating: 0, count: 16)
        for length in lengths where length > 0 { counts[length] += 1 }
        var next = [Int](repeating: 0, count: 16)
        for length in 1..<16 { next[length] = (next[length - 1] + counts[length - 1]) << 1 }
        return lengths.map { length in
            guard length > 0 else { return 0 }
            defer { next[length] += 1 }
            return next[length]
        }
    }
}

/// A compressor of whole blocks of bytes, by libdeflate.
///
/// The output bytes are the same on every processor: libdeflate's processor-specific code only computes checksums and moves tables.
final class DeflateCompressor {
    private let compressor: OpaquePointer
    private var room: UnsafeMutableRawBufferPointer

    /// - Parameters:
    ///   - level: 1, the fastest, to 12.
    ///   - blockBytesMax: the most bytes that are compressed together.
    /// - Throws: `outOfMemory`.
    init(level: Int, blockBytesMax: Int) throws(Failure) {
        guard let compressor = libdeflate_alloc_compressor(Int32(level)) else {
            throw Failure(.outOfMemory, "There is no memory for compressing at level \(level).")
        }
        self.compressor = compressor
        room = .allocate(
            byteCount: libdeflate_zlib_compress_bound(compressor, blockBytesMax), alignment: 16)
    }

    deinit {
        libdeflate_free_compressor(compressor)
        room.deallocate()
    }

    /// Compresses a block with zlib's header and checksum (RFC 1950). The result is valid until the next call.
    func zlib(_ block: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        compressed(
            libdeflate_zlib_compress(
                compressor, block.baseAddress, block.count, room.baseAddress, room.count))
    }

    /// Compresses a block into a bare, complete stream (RFC 1951). The result is valid until the next call.
    func bare(_ block: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        compressed(
            libdeflate_deflate_compress(
                compressor, block.baseAddress, block.count, room.baseAddress, room.count))
    }

    private func compressed(_ count: Int) -> UnsafeRawBufferPointer {
        precondition(count > 0, "a block is never longer than was said")
        return UnsafeRawBufferPointer(rebasing: room[..<count])
    }
}
