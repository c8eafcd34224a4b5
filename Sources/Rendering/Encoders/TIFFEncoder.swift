import Edits
import Files

/// Writes a TIFF (6.0) in strips, from top to bottom, with one strip in memory. The file is a BigTIFF if 32-bit offsets might not
/// suffice.
///
/// libdeflate compresses each strip as a whole; libtiff, fed row by row, uses zlib. The strips depend only on the picture's size,
/// so the bytes depend on nothing else.
final class TIFFEncoder: RowEncoder {
    /// Pixel bytes of a strip: enough that compression loses nothing, and small enough for the second-level cache.
    private static let stripBytes = 1 << 18
    /// The number of sample bytes from which the file is a BigTIFF. Offsets have 32 bits, noise grows slightly when compressed, and
    /// metadata follow.
    static let bigTIFFBytes = 3 << 30

    static func stripRows(rowBytes: Int, height: Int) -> Int {
        min(height, max(1, stripBytes / rowBytes))
    }

    private let shape: EncodedShape
    private let metadata: TIFFMetadata
    private let stripRows: Int
    private let isBig: Bool
    private let compressor: DeflateCompressor?
    private var file: AppendedFile
    private let strip: UnsafeMutableRawBufferPointer
    private var rows = 0
    private var strips: [(offset: Int, count: Int)] = []

    /// - Parameters:
    ///   - level: libdeflate's level, or nil for uncompressed strips.
    ///   - bigTIFFBytes: the number of sample bytes from which the file is a BigTIFF.
    /// - Throws: `outOfMemory`, `noSpace`, `ioFailure`.
    init(
        _ shape: EncodedShape, _ metadata: TIFFMetadata, level: Int?, to file: OpenFile,
        bigTIFFBytes: Int = TIFFEncoder.bigTIFFBytes
    ) throws(Failure) {
        self.shape = shape
        self.metadata = metadata
        isBig = shape.rowBytes * shape.height >= bigTIFFBytes
        stripRows = Self.stripRows(rowBytes: shape.rowBytes, height: shape.height)
        let stripBytes = stripRows * shape.rowBytes
        compressor =
            if let level { try DeflateCompressor(level: level, blockBytesMax: stripBytes) } else {
                nil
            }
        strip = .allocate(byteCount: stripBytes, alignment: 16)
        self.file = AppendedFile(file)
        try self.file.append(TIFFDirectory.head(isBig: isBig, directory: 0))
    }

    deinit { strip.deallocate() }

    func append(_ row: UnsafeRawBufferPointer) throws(Failure) {
        let target = UnsafeMutableRawBufferPointer(
            rebasing: strip[rows * shape.rowBytes..<(rows + 1) * shape.rowBytes])
        if compressor == nil {
            target.copyMemory(from: row)
        } else if shape.bits == 16 {
            Differences.of(
                row.assumingMemoryBound(to: UInt16.self), bands: shape.bands,
                into: target.assumingMemoryBound(to: UInt16.self))
        } else {
            Differences.of(
                row.assumingMemoryBound(to: UInt8.self), bands: shape.bands,
                into: target.assumingMemoryBound(to: UInt8.self))
        }
        rows += 1
        if rows == stripRows { try writeStrip() }
    }

    private func writeStrip() throws(Failure) {
        let samples = UnsafeRawBufferPointer(rebasing: strip[..<(rows * shape.rowBytes)])
        let bytes = compressor?.zlib(samples) ?? samples
        strips.append((file.length, bytes.count))
        try file.append(bytes)
        rows = 0
    }

    func finish() throws(Failure) {
        if rows > 0 { try writeStrip() }
        // Directories must begin at even offsets.
        if file.length % 2 == 1 { try file.append([0]) }
        let directory = TIFFDirectory(
            shape, metadata, isCompressed: compressor != nil, stripRows: stripRows,
            strips: strips, isBig: isBig)
        let offset = file.length
        try file.append(directory.bytes(at: offset))
        try file.file.write(TIFFDirectory.head(isBig: isBig, directory: offset), at: 0)
    }
}

/// Differences of each sample to the same sample of the previous pixel, modulo their range (TIFF 6.0 §14).
private enum Differences {
    static func of<Sample: FixedWidthInteger>(
        _ row: UnsafeBufferPointer<Sample>, bands: Int,
        into result: UnsafeMutableBufferPointer<Sample>
    ) {
        precondition(row.count == result.count && row.count >= bands)
        guard let from = row.baseAddress, let out = result.baseAddress else { return }
        for index in 0..<bands { out[index] = from[index] }
        for index in bands..<row.count { out[index] = from[index] &- from[index - bands] }
    }
}

/// The metadata tags in the first directory of a TIFF. ``TIFFMetadataFile`` appends EXIF and IPTC.
struct TIFFMetadata {
    /// An ICC profile, or nil.
    let profile: [UInt8]?
    /// An XMP packet, or nil.
    let xmp: [UInt8]?
}

/// The directory of a single-picture TIFF, little-endian like all machines that Minilab runs on.
struct TIFFDirectory {
    /// A value's type (TIFF 6.0 §2; 16 is BigTIFF's).
    private enum Kind: Int {
        case byte = 1
        case short = 3
        case long = 4
        case rational = 5
        case undefined = 7
        case long8 = 16

        var bytes: Int {
            switch self {
            case .byte, .undefined: 1
            case .short: 2
            case .long: 4
            case .rational, .long8: 8
            }
        }
    }

    private struct Entry {
        let tag: Int
        let kind: Kind
        let value: [UInt8]
    }

    private var entries: [Entry] = []
    private let isBig: Bool

    /// Tags and their values: TIFF 6.0 §8, §14 (Predictor), §18 (ExtraSamples), §19 (SampleFormat); XMP part 3 §3.3;
    /// ICC.1 annex B.4; Adobe's TIFF technical notes of 2002 (compression 8).
    init(
        _ shape: EncodedShape, _ metadata: TIFFMetadata, isCompressed: Bool, stripRows: Int,
        strips: [(offset: Int, count: Int)], isBig: Bool
    ) {
        self.isBig = isBig
        let offsetKind: Kind = isBig ? .long8 : .long
        add(256, .long, [shape.width])
        add(257, .long, [shape.height])
        add(258, .short, Array(repeating: shape.bits, count: shape.bands))
        add(259, .short, [isCompressed ? 8 : 1])
        add(262, .short, [2])  // RGB
        add(273, offsetKind, strips.map(\.offset))
        add(274, .short, [1])  // upright
        add(277, .short, [shape.bands])
        add(278, .long, [stripRows])
        add(279, offsetKind, strips.map(\.count))
        entries.append(
            Entry(tag: 282, kind: .rational, value: Self.rational(shape.resolution.x * 10)))
        entries.append(
            Entry(tag: 283, kind: .rational, value: Self.rational(shape.resolution.y * 10)))
        add(284, .short, [1])  // samples of a pixel are contiguous
        add(296, .short, [3])  // unit: centimetre
        if isCompressed { add(317, .short, [2]) }  // differences
        if shape.bands == 4 { add(338, .short, [2]) }  // alpha, not premultiplied
        add(339, .short, Array(repeating: 1, count: shape.bands))  // unsigned integers
        if let xmp = metadata.xmp { entries.append(Entry(tag: 700, kind: .byte, value: xmp)) }
        if let profile = metadata.profile {
            entries.append(Entry(tag: 34_675, kind: .undefined, value: profile))
        }
    }

    private mutating func add(_ tag: Int, _ kind: Kind, _ numbers: [Int]) {
        entries.append(
            Entry(
                tag: tag, kind: kind, value: numbers.flatMap { Self.bytes(of: $0, kind.bytes) }))
    }

    /// Returns the head of a file: byte order, kind, and the offset of its directory.
    static func head(isBig: Bool, directory: Int) -> [UInt8] {
        let order = Array("II".utf8)
        return isBig
            ? order + bytes(of: 43, 2) + bytes(of: 8, 2) + bytes(of: 0, 2) + bytes(of: directory, 8)
            : order + bytes(of: 42, 2) + bytes(of: directory, 4)
    }

    /// Returns the directory and its values for an offset in the file.
    func bytes(at start: Int) -> [UInt8] {
        let offsetBytes = isBig ? 8 : 4
        let countBytes = isBig ? 8 : 2
        var head = Self.bytes(of: entries.count, countBytes)
        var tail: [UInt8] = []
        let tailStart = start + countBytes + entries.count * (4 + 2 * offsetBytes) + offsetBytes
        for entry in entries {
            head += Self.bytes(of: entry.tag, 2) + Self.bytes(of: entry.kind.rawValue, 2)
            head += Self.bytes(of: entry.value.count / entry.kind.bytes, offsetBytes)
            if entry.value.count <= offsetBytes {
                head += entry.value
                head += repeatElement(0, count: offsetBytes - entry.value.count)
            } else {
                head += Self.bytes(of: tailStart + tail.count, offsetBytes)
                tail += entry.value
                if entry.value.count % 2 == 1 { tail.append(0) }
            }
        }
        return head + Self.bytes(of: 0, offsetBytes) + tail
    }

    private static func bytes(of number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// Encodes a number as a fraction of two 32-bit numbers: exact for a Float below 2^28 with all its 24 bits, the same as libtiff
    /// writes.
    private static func rational(_ number: Double) -> [UInt8] {
        let limit = Double(1 << 28)
        var numerator = Double(Float(min(limit, max(0, number))))
        var denominator = 1
        while numerator != numerator.rounded(), numerator < limit, denominator < 1 << 28 {
            numerator *= 2
            denominator *= 2
        }
        return bytes(of: Int(numerator.rounded()), 4) + bytes(of: denominator, 4)
    }
}
