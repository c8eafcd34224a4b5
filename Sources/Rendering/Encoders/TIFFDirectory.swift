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
