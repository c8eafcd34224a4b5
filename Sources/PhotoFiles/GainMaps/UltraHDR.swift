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
        var offset = 2
        var isWritten = false
        for _ in 0..<JPEGSegments.segmentsMax {
            while offset + 1 < jpeg.count, jpeg[offset] == 0xFF, jpeg[offset + 1] == 0xFF {
                offset += 1
            }
            guard offset + 4 <= jpeg.count, jpeg[offset] == 0xFF else { return nil }
            let code = jpeg[offset + 1]
            let end = offset + 2 + Int(jpeg[offset + 2]) << 8 + Int(jpeg[offset + 3])
            guard end > offset + 3, end <= jpeg.count else { return nil }
            // JFIF's and Adobe's segments and the profile define the meaning of the pixels.
            let content = jpeg[(offset + 4)..<end]
            let affectsPixels =
                !(0xE0...0xEF).contains(code) && code != 0xFE || code == 0xE0 || code == 0xEE
                || content.starts(with: Array("ICC_PROFILE\0".utf8))
            if !isWritten, code != 0xE0 {
                for segment in mapSegments(metadata) {
                    result += bytes(segment.code, segment.bytes)
                }
                isWritten = true
            }
            if code == 0xDA { return result + jpeg[offset...] }
            if affectsPixels { result += jpeg[offset..<end] }
            offset = end
        }
        return nil
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
