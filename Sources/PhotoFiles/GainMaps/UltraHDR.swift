/// The declarations of a JPEG about the gain map after it.
///
/// Both forms are written, so that every reader finds one: XMP with a container directory (``Attachments``), and the segment of ISO
/// 21496-1. The index `MPF` (``MultiPicture``) contains the map's offset.
public enum UltraHDR {
    /// The content of the photo's segment of ISO 21496-1: only the versions, which declare that the file has a map.
    public static let photoSegment = GainMapMetadata.signature + GainMapMetadata.isoVersion

    /// Returns the segments of the map's JPEG: APP1 with its XMP, APP2 with its metadata.
    public static func mapSegments(_ metadata: GainMapMetadata) -> [(code: UInt8, bytes: [UInt8])] {
        [
            (0xE1, JPEGSegments.xmpSignature + metadata.hdrgm),
            (0xE2, GainMapMetadata.signature + metadata.iso),
        ]
    }
}

extension UltraHDR {
    /// Returns a map's JPEG with other metadata and the same coded pixels.
    ///
    /// - Returns: nil if the segments before the pixels cannot be parsed.
    public static func rewrapped(_ jpeg: [UInt8], as metadata: GainMapMetadata) -> [UInt8]? {
        guard jpeg.starts(with: [0xFF, 0xD8]) else { return nil }
        var result: [UInt8] = [0xFF, 0xD8]
        var file = FileWindow(jpeg)
        var offset = 2
        var isWritten = false
        for _ in 0..<JPEGSegments.segmentsMax {
            guard let (code, range) = file.jpegSegment(at: offset), range.upperBound <= jpeg.count
            else { return nil }
            let segment = jpeg[range.lowerBound - 4..<range.upperBound]
            if !isWritten, code != 0xE0 {
                for segment in mapSegments(metadata) {
                    result += bytes(segment.code, segment.bytes)
                }
                isWritten = true
            }
            if code == 0xDA { return result + scans(of: jpeg, from: segment.startIndex) }
            result += ofPixels(code, jpeg[range]).map { bytes(code, $0) } ?? []
            offset = range.upperBound
        }
        return nil
    }

    /// Returns the content of a segment as far as it defines the meaning of pixels; nil if it does not: JFIF's and Adobe's fields without what
    /// follows them, and the profile.
    private static func ofPixels(_ code: UInt8, _ content: ArraySlice<UInt8>) -> [UInt8]? {
        switch code {
        // Version, unit and densities, and a thumbnail of no size (JFIF 1.02).
        case 0xE0:
            content.starts(with: "JFIF\0".utf8) && content.count >= 14
                ? Array(content.prefix(12)) + [0, 0] : nil
        case 0xEE: content.starts(with: "Adobe".utf8) ? Array(content.prefix(12)) : nil
        case 0xE1...0xEF: content.starts(with: "ICC_PROFILE\0".utf8) ? Array(content) : nil
        case 0xFE: nil
        default: Array(content)
        }
    }

    /// Returns the scans of a JPEG from the segment of the first one on, without metadata between them and bytes behind them: cameras write places
    /// there.
    private static func scans(of jpeg: [UInt8], from start: Int) -> [UInt8] {
        var result: [UInt8] = []
        var offset = start
        while offset + 4 <= jpeg.count, jpeg[offset] == 0xFF, jpeg[offset + 1] != 0xD9 {
            let code = jpeg[offset + 1]
            let end = offset + 2 + jpeg.number(at: offset + 2, 2)
            guard code >= 0xC0, end >= offset + 4, end <= jpeg.count else { break }
            if let content = ofPixels(code, jpeg[offset + 4..<end]) {
                result += bytes(code, content)
            }
            // Coded pixels go on up to a marker; zeros and numbers of restarts are none.
            offset = end
            while offset + 1 < jpeg.count,
                jpeg[offset] != 0xFF || jpeg[offset + 1] == 0
                    || (0xD0...0xD7).contains(jpeg[offset + 1]) || jpeg[offset + 1] == 0xFF
            { offset += 1 }
            result += jpeg[end..<offset]
        }
        return result + [0xFF, 0xD9]
    }

    /// Returns a segment with its marker and length; at most 65,533 bytes of content.
    public static func bytes(_ code: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = content.count + 2
        precondition(length <= 0xFFFF, "a segment of \(content.count) bytes")
        return [0xFF, code, UInt8(length >> 8), UInt8(length & 0xFF)] + content
    }

    /// Most bytes of a segment's content.
    private static let contentMax = 65_533

    /// The new head of a photo that other files follow.
    public struct Head: Sendable, Equatable {
        /// The byte range of the file that is replaced.
        public let replaced: Range<Int>
        /// The replacement.
        public let bytes: [UInt8]
    }

    /// Returns the change of a photo's head.
    ///
    /// An XMP packet without room for the declarations stays unchanged: readers of ISO 21496-1 and of the index still find the map.
    ///
    /// - Parameters:
    ///   - photo: its segments.
    ///   - length: bytes of the photo.
    ///   - attachments: the files that will follow.
    /// - Returns: nil if a video will follow, which only XMP declares, and the packet has no room.
    public static func head(
        of photo: JPEGSegments, length: Int, _ attachments: Attachments
    ) -> Head? {
        let signature = JPEGSegments.xmpSignature
        let old = photo.segments.first { $0.code == 0xE1 && $0.content(after: signature) != nil }
        let packet = attachments.packet(
            old.flatMap { $0.content(after: signature).map(Array.init) })
        let replaced: Range<Int>
        if let old {
            replaced = old.contentOffset - 4..<old.contentOffset + old.bytes.count
        } else {
            let leading = photo.segments.prefix { $0.code == 0xE0 || $0.code == 0xE1 }.last
            let start = leading.map { $0.contentOffset + $0.bytes.count } ?? 2
            replaced = start..<start
        }
        var bytes: [UInt8] = []
        if signature.count + packet.count <= contentMax {
            bytes = self.bytes(0xE1, signature + packet)
        } else if attachments.video != nil {
            return nil
        } else if let old {
            bytes = self.bytes(0xE1, old.bytes)
        }
        guard let mapBytes = attachments.mapBytes else {
            return Head(replaced: replaced, bytes: bytes)
        }
        bytes += self.bytes(0xE2, photoSegment)
        let contentOffset = replaced.lowerBound + bytes.count + 4
        let added = bytes.count + 4 + MultiPicture.segmentBytes - replaced.count
        bytes += self.bytes(
            0xE2, MultiPicture.segment(at: contentOffset, photo: length + added, map: mapBytes))
        return Head(replaced: replaced, bytes: bytes)
    }
}

/// The index of the pictures in a JPEG file: the segment `MPF`.
///
/// Source: CIPA DC-007-2009, §5: a TIFF structure with tags B000 (version), B001 (number of pictures) and B002, 16 bytes for each:
/// attributes, length, offset, two dependent entries. Offsets count from the structure's first byte; the first picture's is 0 and
/// means the beginning of the file.
public struct MultiPicture: Sendable, Equatable {
    /// One picture.
    public struct Entry: Sendable, Equatable {
        /// Its purpose: ``stereo`` and others.
        public let kind: Int
        public let start: Int
        /// Its bytes.
        public let length: Int

        /// The kind of one of two pictures for two eyes (DC-007 §5.2.3.3.1).
        public static let stereo = 0x02_0002

        /// Whether it is a copy of the first picture for a screen (DC-007 §5.2.3.3.1: class 1).
        public var isPreview: Bool { kind >> 16 == 1 }
    }

    /// The pictures, beginning with the one that all programs show.
    public let entries: [Entry]

    /// Most pictures that are read; phones write two to six.
    public static let entriesMax = 16
    static let signature = Array("MPF\0".utf8)
    private static let countTag = 0xB001
    private static let entriesTag = 0xB002
    private static let entryBytes = 16

    /// Reads a segment; nil if it is no index.
    ///
    /// - Parameters:
    ///   - content: the bytes after the signature.
    ///   - contentOffset: the offset of these bytes in the file.
    public init?(_ content: some Collection<UInt8>, at contentOffset: Int) {
        let bytes = Array(content)
        guard bytes.count >= 8 else { return nil }
        let isBig: Bool
        switch Array(bytes[..<4]) {
        case [0x4D, 0x4D, 0, 42]: isBig = true
        case [0x49, 0x49, 42, 0]: isBig = false
        default: return nil
        }
        func number(_ start: Int, _ count: Int) -> Int? {
            guard start >= 0, start <= bytes.count - count else { return nil }
            let slice = bytes[start..<start + count]
            return (isBig ? Array(slice) : slice.reversed()).reduce(0) { $0 << 8 | Int($1) }
        }
        guard let directory = number(4, 4), let tags = number(directory, 2) else { return nil }
        var entries: [Entry] = []
        for index in 0..<min(tags, Self.entryBytes) {
            let tag = directory + 2 + 12 * index
            guard number(tag, 2) == Self.entriesTag, let size = number(tag + 4, 4),
                let first = number(tag + 8, 4)
            else { continue }
            for entry in 0..<min(size / Self.entryBytes, Self.entriesMax) {
                let start = first + Self.entryBytes * entry
                guard let kind = number(start, 4), let length = number(start + 4, 4),
                    let offset = number(start + 8, 4)
                else { return nil }
                entries.append(
                    Entry(
                        kind: kind & 0xFF_FFFF, start: entry == 0 ? 0 : contentOffset + offset,
                        length: length))
            }
        }
        guard !entries.isEmpty else { return nil }
        self.entries = entries
    }

    // MARK: Writing

    /// Returns a segment of a photo that has grown, and behind which others have moved.
    ///
    /// - Parameters:
    ///   - content: the segment's bytes, signature included.
    ///   - photo: the bytes by which the first picture has grown.
    ///   - others: the bytes by which the others have moved away from the segment.
    /// - Returns: nil if the segment cannot be read.
    static func moved(_ content: [UInt8], photo: Int, others: Int) -> [UInt8]? {
        guard content.starts(with: signature),
            let tiff = TIFFBytes(Array(content.dropFirst(signature.count))),
            let directory = tiff.directory(at: tiff.firstDirectory),
            let list = directory[entriesTag].flatMap(tiff.valueRange)
        else { return nil }
        var moved = tiff
        for start in stride(
            from: list.lowerBound, to: list.upperBound - entryBytes + 1, by: entryBytes)
        {
            func number(_ place: Int) -> Int {
                TIFFBytes.number(tiff.bytes[place..<place + 4], tiff.isBigEndian)
            }
            if start == list.lowerBound {
                moved.setNumber(number(start + 4) + photo, at: start + 4)
            } else if number(start + 8) != 0 {
                moved.setNumber(number(start + 8) + others, at: start + 8)
            }
        }
        return signature + moved.bytes
    }

    /// Returns the content of a segment for a photo and its gain map, signature included, ``segmentBytes`` long.
    ///
    /// - Parameters:
    ///   - contentOffset: the offset of the content in the file, signature included.
    ///   - photo: bytes of the photo, after which the map begins.
    ///   - map: bytes of the map.
    public static func segment(at contentOffset: Int, photo: Int, map: Int) -> [UInt8] {
        func big(_ number: Int, _ count: Int) -> [UInt8] {
            (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        func tag(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            big(tag, 2) + big(type, 2) + big(count, 4) + value
        }
        // Header 8, count 2, three entries of 12, link 4.
        let entries = 50
        let directory =
            big(3, 2) + tag(0xB000, 7, 4, Array("0100".utf8)) + tag(countTag, 4, 1, big(2, 4))
            + tag(entriesTag, 7, 2 * entryBytes, big(entries, 4)) + big(0, 4)
        let header = Array("MM".utf8) + big(42, 2) + big(8, 4)
        // Attributes: the first is the representative picture, a baseline primary one; the second has no kind.
        let pictures =
            big(0x2003_0000, 4) + big(photo, 4) + big(0, 8)
            + big(0, 4) + big(map, 4) + big(photo - contentOffset - signature.count, 4) + big(0, 4)
        return signature + header + directory + pictures
    }

    /// The length of ``segment(at:photo:map:)``.
    public static let segmentBytes = 86
}
