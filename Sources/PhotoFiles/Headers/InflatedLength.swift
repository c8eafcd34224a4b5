import CZlib

/// The length of zlib-compressed data after inflation, determined by inflating repeatedly into one buffer.
enum InflatedLength {
    private static let bufferBytes = 64 << 10

    /// Returns the bytes that a zlib stream (RFC 1950) inflates to, up to the first damage.
    ///
    /// - Parameters:
    ///   - range: its byte range in the file.
    ///   - most: inflation stops beyond this length.
    static func of(_ range: Range<Int>, in file: inout FileWindow, most: Int) -> Int {
        var length = 0
        var offset = range.lowerBound
        var buffer = [UInt8](repeating: 0, count: bufferBytes)
        var stream = z_stream()
        // zlib compares the stream's address, so the stream must not move.
        withUnsafeMutablePointer(to: &stream) { stream in
            var status = inflateInit_(stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
            defer { inflateEnd(stream) }
            while status == Z_OK, length <= most, offset < range.upperBound {
                var input = Array(
                    file.bytes(offset, min(range.upperBound - offset, bufferBytes)))
                guard !input.isEmpty else { return }
                offset += input.count
                input.withUnsafeMutableBufferPointer { input in
                    stream.pointee.next_in = input.baseAddress
                    stream.pointee.avail_in = UInt32(input.count)
                    repeat {
                        buffer.withUnsafeMutableBufferPointer { buffer in
                            stream.pointee.next_out = buffer.baseAddress
                            stream.pointee.avail_out = UInt32(buffer.count)
                            status = inflate(stream, Z_NO_FLUSH)
                            length += buffer.count - Int(stream.pointee.avail_out)
                        }
                    } while status == Z_OK && length <= most && stream.pointee.avail_out == 0
                    // All of the input is consumed: more may follow.
                    if status == Z_BUF_ERROR { status = Z_OK }
                }
            }
        }
        return length
    }
}
