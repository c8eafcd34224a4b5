import FoundationEssentials
import Glibc
import RenderProtocol

/// Cuts standard input into lines.
struct LineReader {
    private var buffer = Data()
    private var hasEnded = false
    private static let readBytes = 65_536

    /// What came.
    enum Input {
        /// A line without its newline.
        case line(Data)
        /// More bytes than a line may have.
        case tooLong
    }

    /// The next line, or nil at the end. Waits for it.
    mutating func next() -> Input? {
        var searched = 0
        while true {
            let start = buffer.startIndex + searched
            if let newline = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Data(buffer[..<newline])
                buffer = Data(buffer[(newline + 1)...])
                if line.isEmpty {
                    searched = 0
                    continue
                }
                return .line(line)
            }
            searched = buffer.count
            if buffer.count > LineFormat.lineBytesMax { return .tooLong }
            if hasEnded {
                defer { buffer = Data() }
                return buffer.isEmpty ? nil : .line(buffer)
            }
            var bytes = [UInt8](repeating: 0, count: Self.readBytes)
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { hasEnded = true } else { buffer.append(contentsOf: bytes[..<count]) }
        }
    }
}
