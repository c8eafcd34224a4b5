import Edits
import CZlib
package import FoundationEssentials

/// DEFLATE by zlib (RFC 1951), bare or with zlib's header and checksum (RFC 1950), within limits.
package enum Deflate {
    /// The wrapping of the compressed blocks.
    package enum Wrapping: Int32 {
        /// None. The value is zlib's `windowBits`: a window of 2^15 bytes, negative for bare.
        case none = -15
        /// A header of two bytes, and an Adler-32 at the end.
        case zlib = 15
    }

    /// Most bytes after inflation. A payload of Apple's Photos has 0.3 to 3 KB.
    static let inflatedBytesMax = 4 << 20

    /// Decompresses.
    ///
    /// - Throws: `adjustmentDataUndecodable` if the bytes are no such stream, end early, continue after its end or would inflate to
    ///   more than `inflatedBytesMax`.
    static func inflate(_ data: Data, _ wrapping: Wrapping) throws(Failure) -> Data {
        var out = Data()
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        let (status, left) = data.withUnsafeBytes { input in
            chunk.withUnsafeMutableBufferPointer { chunk in
                withStream(input) { stream in
                    var status = inflateInit2_(
                        stream, wrapping.rawValue, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
                    defer { inflateEnd(stream) }
                    while status == Z_OK, out.count <= inflatedBytesMax {
                        stream.pointee.next_out = chunk.baseAddress
                        stream.pointee.avail_out = UInt32(chunk.count)
                        status = CZlib.inflate(stream, Z_NO_FLUSH)
                        out.append(
                            contentsOf: chunk.prefix(chunk.count - Int(stream.pointee.avail_out)))
                    }
                    return (status, Int(stream.pointee.avail_in))
                }
            }
        }
        guard out.count <= inflatedBytesMax else {
            throw failure("they inflate to more than \(inflatedBytesMax) bytes")
        }
        guard status == Z_STREAM_END else {
            throw failure(
                status == Z_BUF_ERROR
                    ? "the DEFLATE stream is cut off" : "they are no DEFLATE stream")
        }
        guard left == 0 else {
            throw failure("\(left) bytes follow the end of the DEFLATE stream")
        }
        return out
    }

    /// Compresses at zlib's best level (9).
    package static func deflate(_ data: Data, _ wrapping: Wrapping) -> Data {
        data.withUnsafeBytes { input in
            withStream(input) { stream in
                let memoryLevel: Int32 = 8  // zlib's default
                var status = deflateInit2_(
                    stream, Z_BEST_COMPRESSION, Z_DEFLATED, wrapping.rawValue, memoryLevel,
                    Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
                precondition(status == Z_OK, "zlib cannot start: \(status)")
                defer { deflateEnd(stream) }
                var out = [UInt8](repeating: 0, count: Int(deflateBound(stream, UInt(input.count))))
                let count = out.count
                status = out.withUnsafeMutableBufferPointer { out in
                    stream.pointee.next_out = out.baseAddress
                    stream.pointee.avail_out = UInt32(out.count)
                    return CZlib.deflate(stream, Z_FINISH)
                }
                precondition(status == Z_STREAM_END, "zlib cannot deflate: \(status)")
                return Data(out.prefix(count - Int(stream.pointee.avail_out)))
            }
        }
    }

    /// Provides a stream that reads `input`. Its address stays constant, because zlib compares it.
    private static func withStream<Result>(
        _ input: UnsafeRawBufferPointer, _ body: (UnsafeMutablePointer<z_stream>) -> Result
    ) -> Result {
        var stream = z_stream()
        return withUnsafeMutablePointer(to: &stream) { stream in
            // zlib does not write to its input; the type lacks const for the sake of old compilers.
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: input.bindMemory(to: UInt8.self).baseAddress)
            stream.pointee.avail_in = UInt32(input.count)
            return body(stream)
        }
    }

    private static func failure(_ reason: String) -> Failure {
        Failure(.adjustmentDataUndecodable, "the adjustment data cannot be inflated: \(reason).")
    }
}
