import Edits
import NIOCore

/// A splitter of a body into lines as it arrives, in bounded memory: the bytes of a line beyond its limit are dropped.
struct LineSplitter {
    private var rest: [UInt8] = []
    private var isTooLong = false
    private let lineBytesMax: Int
    /// The number of lines so far.
    private(set) var lines = 0

    init(lineBytesMax: Int = ContractLimits.jobBytesMax) { self.lineBytesMax = lineBytesMax }

    /// Calls `body` with each line that this part completes, without its line end; with nil for a line that is too
    /// long.
    mutating func append(
        _ chunk: ByteBuffer, _ body: (UnsafeRawBufferPointer?, Int) throws -> Void
    ) rethrows {
        try chunk.withUnsafeReadableBytes { bytes in
            var start = 0
            while let end = bytes[start...].firstIndex(of: 0x0A) {
                try give(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), body)
                start = end + 1
            }
            keep(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        }
    }

    /// Calls `body` with the last line if it has no line end.
    mutating func finish(_ body: (UnsafeRawBufferPointer?, Int) throws -> Void) rethrows {
        guard !rest.isEmpty || isTooLong else { return }
        try give(UnsafeRawBufferPointer(start: nil, count: 0), body)
    }

    private mutating func give(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer?, Int) throws -> Void
    ) rethrows {
        lines += 1
        if rest.isEmpty, !isTooLong {
            return try body(bytes.count > lineBytesMax ? nil : bytes, lines)
        }
        keep(bytes)
        let (whole, wasTooLong) = (rest, isTooLong)
        rest.removeAll(keepingCapacity: true)
        isTooLong = false
        try whole.withUnsafeBytes { try body(wasTooLong ? nil : $0, lines) }
    }

    private mutating func keep(_ bytes: UnsafeRawBufferPointer) {
        guard !isTooLong, rest.count + bytes.count <= lineBytesMax else {
            isTooLong = isTooLong || !bytes.isEmpty
            if isTooLong { rest.removeAll(keepingCapacity: true) }
            return
        }
        rest.append(contentsOf: bytes)
    }
}
