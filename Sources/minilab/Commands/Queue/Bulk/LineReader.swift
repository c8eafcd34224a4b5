import Adjustments
import Glibc

/// Reads the lines of a file, however many there are, in bounded memory.
///
/// Not for several tasks at a time. A line is valid until the next one is read.
final class LineReader {
    /// One line, without its end.
    struct Line {
        /// From 1.
        let number: Int
        /// Its bytes; nil when it has more than a line may have.
        let bytes: UnsafeRawBufferPointer?
    }

    private static let bufferBytes = 1 << 20
    private let descriptor: Int32
    private let path: String
    private let lineBytesMax: Int
    private let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: LineReader.bufferBytes, alignment: 16)
    private var position: off_t = 0
    private var start = 0
    private var end = 0
    private var number = 0

    /// - Parameters:
    ///   - descriptor: of a file that can be read from any place; it is read from its beginning and not closed.
    ///   - path: its name, for errors.
    ///   - lineBytesMax: what a line may have.
    init(
        _ descriptor: Int32, path: String, lineBytesMax: Int = ContractLimits.jobBytesMax
    ) {
        self.lineBytesMax = lineBytesMax
        self.descriptor = descriptor
        self.path = path
    }

    deinit { buffer.deallocate() }

    /// The next line, or nil at the end of the file.
    func next() throws -> Line? {
        var isTooLong = false
        var searched = start
        while true {
            if let newline = memchr(buffer.baseAddress! + searched, 10, end - searched) {
                let stop = UnsafeRawPointer(newline) - UnsafeRawPointer(buffer.baseAddress!)
                return line(to: stop, isTooLong)
            }
            searched = end
            if end - start > lineBytesMax {
                isTooLong = true
                start = end
            }
            if start > 0 {
                buffer.baseAddress!.copyMemory(
                    from: buffer.baseAddress! + start, byteCount: end - start)
                end -= start
                start = 0
                searched = end
            }
            let count = pread(
                descriptor, buffer.baseAddress! + end, buffer.count - end, position)
            guard count >= 0 else {
                throw Failure(
                    .ioFailure, "\(path) cannot be read: \(String(cString: strerror(errno))).")
            }
            position += off_t(count)
            if count == 0 {
                return end == 0 && !isTooLong ? nil : line(to: end, isTooLong)
            }
            end += count
        }
    }

    private func line(to stop: Int, _ isTooLong: Bool) -> Line {
        number += 1
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[start..<stop])
        start = min(stop + 1, end)
        return Line(
            number: number,
            bytes: isTooLong || bytes.count > lineBytesMax ? nil : bytes)
    }
}
