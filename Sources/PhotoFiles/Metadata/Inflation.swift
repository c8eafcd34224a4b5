import CBrotli
import CZlib

/// The decompression of metadata, at once and up to a limit.
enum Inflation {
    /// Inflates a zlib stream (RFC 1950).
    ///
    /// - Returns: nil if it is damaged, cut off, or inflates to more than `most` bytes.
    static func zlib(_ bytes: ArraySlice<UInt8>, most: Int = ExtendedXMP.bytesMax) -> [UInt8]? {
        inflated(bytes, most) { input, output in
            var length = UInt(output.count)
            let status = uncompress(
                output.baseAddress, &length, input.baseAddress, UInt(input.count))
            return status == Z_OK ? Int(length) : nil
        }
    }

    /// Decompresses a Brotli stream (RFC 7932).
    ///
    /// - Returns: nil if it is damaged, cut off, or has more than `most` bytes.
    static func brotli(_ bytes: ArraySlice<UInt8>, most: Int = ExtendedXMP.bytesMax) -> [UInt8]? {
        inflated(bytes, most) { input, output in
            var length = output.count
            let status = BrotliDecoderDecompress(
                input.count, input.baseAddress, &length, output.baseAddress)
            return status == BROTLI_DECODER_RESULT_SUCCESS ? length : nil
        }
    }

    /// Pages of the room that are not written take no memory.
    private static func inflated(
        _ bytes: ArraySlice<UInt8>, _ most: Int,
        by inflate: (UnsafeBufferPointer<UInt8>, UnsafeMutableBufferPointer<UInt8>) -> Int?
    ) -> [UInt8]? {
        guard !bytes.isEmpty else { return nil }
        var isWhole = false
        let result = [UInt8](unsafeUninitializedCapacity: most) { room, count in
            let length = bytes.withUnsafeBufferPointer { inflate($0, room) }
            (isWhole, count) = (length != nil, length ?? 0)
        }
        return isWhole ? Array(result[...]) : nil
    }
}
