import Edits
import CDeflate

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
