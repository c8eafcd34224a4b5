import Adjustments
import NIOCore

/// Cuts a body into lines as it arrives, in bounded memory: what a line has beyond its limit is dropped.
struct LineSplitter {
    private var rest: [UInt8] = []
    private var isTooLong = false
    private let lineBytesMax: Int
    /// How many lines were given.
    private(set) var lines = 0

    init(lineBytesMax: Int = ContractLimits.jobBytesMax) { self.lineBytesMax = lineBytesMax }

    /// Calls `body` with each line that the part ends, without its end; nil for one that is too long.
    mutating func take(
        _ part: ByteBuffer, _ body: (UnsafeRawBufferPointer?, Int) throws -> Void
    ) rethrows {
        try part.withUnsafeReadableBytes { bytes in
            var start = 0
            while let end = bytes[start...].firstIndex(of: 0x0A) {
                try give(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), body)
                start = end + 1
            }
            keep(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        }
    }

    /// Calls `body` with the last line, if it had no end.
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
