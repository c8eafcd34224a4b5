import Edits
import Files
import Glibc

/// A reader of the lines of a file of any length in bounded memory.
///
/// Not for use by several tasks at a time. A line is valid until the next one is read.
final class LineReader {
    /// One line, without its line end.
    struct Line {
        /// The number of the line, from 1.
        let number: Int
        /// The bytes of the line; nil if it exceeds the limit.
        let bytes: UnsafeRawBufferPointer?
    }

    private static let bufferBytes = 1 << 20
    private let file: OpenFile
    private let lineBytesMax: Int
    private let buffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: LineReader.bufferBytes, alignment: 16)
    private var position = 0
    private var start = 0
    private var end = 0
    private var number = 0

    /// - Parameters:
    ///   - file: a file that supports reads at any offset; it is read from its start.
    ///   - lineBytesMax: the most bytes of a line.
    init(_ file: OpenFile, lineBytesMax: Int = ContractLimits.jobBytesMax) {
        self.lineBytesMax = lineBytesMax
        self.file = file
    }

    deinit { buffer.deallocate() }

    /// Returns the next line; nil at the end of the file.
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
            let count = try file.read(into: .init(rebasing: buffer[end...]), from: position)
            position += count
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
