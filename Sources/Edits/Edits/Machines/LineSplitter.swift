import Glibc

/// Splits bytes into lines as they arrive, in bounded memory: the bytes of a line beyond its limit are dropped.
public struct LineSplitter: Sendable {
    private var held: [UInt8] = []
    /// The start of the next line in ``held``, and the end of the part of it that has no line end.
    private var start = 0, searched = 0
    private var isTooLong = false
    private let lineBytesMax: Int
    /// The number of lines so far.
    public private(set) var lines = 0

    public init(lineBytesMax: Int = ContractLimits.jobBytesMax) {
        self.lineBytesMax = lineBytesMax
    }

    /// Adds bytes that follow the ones before.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        held.removeSubrange(..<start)
        (start, searched) = (0, searched - start)
        held.append(contentsOf: bytes)
    }

    /// Calls `body` with the next line without its line end, and with its number from 1; with nil for a line that is too long.
    ///
    /// - Parameter isLast: Whether no more bytes follow, so that a rest without a line end is a line.
    /// - Returns: The result of `body`; nil if the next line is not complete.
    public mutating func next<Result>(
        isLast: Bool = false, _ body: (UnsafeRawBufferPointer?, Int) throws -> Result
    ) rethrows -> Result? {
        var end = newline
        if end == nil {
            searched = held.count
            if held.count - start > lineBytesMax {
                isTooLong = true
                (start, searched) = (held.count, held.count)
            }
            guard isLast, start < held.count || isTooLong else { return nil }
            end = held.count
        }
        let line = start..<(end ?? held.count)
        let isRefused = isTooLong || line.count > lineBytesMax
        start = min(line.upperBound + 1, held.count)
        searched = start
        isTooLong = false
        lines += 1
        return try held.withUnsafeBytes {
            try body(isRefused ? nil : UnsafeRawBufferPointer(rebasing: $0[line]), lines)
        }
    }

    private var newline: Int? {
        guard searched < held.count else { return nil }
        return held.withUnsafeBytes { bytes in
            let start = bytes.baseAddress!
            return memchr(start + searched, 0x0A, bytes.count - searched).map {
                UnsafeRawPointer($0) - start
            }
        }
    }
}
