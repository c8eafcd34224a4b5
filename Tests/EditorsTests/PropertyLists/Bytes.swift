import Foundation
import MinilabTesting
import Editors
import Testing

/// The bytes of a binary property list, put together by hand so that any part can be wrong.
struct BinaryList {
    /// Each with its marker, big-endian.
    var objects: [[UInt8]]
    var offsetBytes = 2
    var referenceBytes = 1
    /// What the trailer says instead of the truth.
    var count: UInt64?
    var top: UInt64 = 0
    var table: UInt64?
    /// What the table says instead of the truth.
    var offsets: [UInt64]?

    var bytes: Data {
        var bytes = Array("bplist00".utf8)
        var objectOffsets: [UInt64] = []
        for object in objects {
            objectOffsets.append(UInt64(bytes.count))
            bytes += object
        }
        let tableOffset = bytes.count
        bytes += (offsets ?? objectOffsets).flatMap { Self.bigEndian($0, offsetBytes) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetBytes), UInt8(referenceBytes)]
        for number in [count ?? UInt64(objects.count), top, table ?? UInt64(tableOffset)] {
            bytes += Self.bigEndian(number, 8)
        }
        return Data(bytes)
    }

    static func bigEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map {
            $0 < 8 ? UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) : 0
        }
    }
}

/// An XML property list around `value`.
func xml(_ value: String, prolog: String = "") -> Data {
    Data((prolog + "<plist version=\"1.0\">" + value + "</plist>").utf8)
}

/// What Python's `plistlib`, which knows nothing of Minilab, writes for an expression.
///
/// - Parameter format: `BINARY` or `XML`.
func plistlib(_ expression: String, _ format: String) throws -> Data {
    let program = """
        import datetime, plistlib, sys
        sys.stdout.buffer.write(plistlib.dumps(\(expression), fmt=plistlib.FMT_\(format)))
        """
    return try Tool.run("/usr/bin/python3", ["-c", program])
}

/// Expects that bytes are refused, with a message that contains `reason`.
func expectRefused(
    _ reason: String, _ bytes: Data, sourceLocation: SourceLocation = #_sourceLocation
) {
    let error = #expect(throws: PropertyListError.self, sourceLocation: sourceLocation) {
        try PropertyList(bytes: bytes)
    }
    #expect(
        error?.message.contains(reason) ?? true, "\(error?.message ?? "")",
        sourceLocation: sourceLocation)
}
