import Edits

/// An ICC profile without places in its texts.
///
/// A profile is part of the picture's colours, so no tag goes: where a place is written in one, its text becomes zeros, and the profile keeps its
/// length. Source: ICC.1:2010 §7 and §10.
public enum PlacelessProfile {
    private static let header = 128, entry = 12
    /// The reserved bytes at the end of the header, and those of the MD5 digest, which may be zeros.
    private static let reserved = 100..<128, digest = 84..<100
    /// Most tags that are read; profiles have up to 40.
    private static let tagsMax = 1_000
    /// How often all bytes are searched at most. Tags of a profile that is no attack share whole contents, and overlap nowhere else.
    private static let readsMax = 4

    /// Returns a profile without places; unchanged if it has none, or cannot be read.
    public static func profile(_ bytes: [UInt8]) -> [UInt8] {
        let count = bytes.number(at: header, 4)
        let end = header + 4 + entry * count
        guard count <= tagsMax, end <= bytes.count else { return bytes }
        var (result, known) = (bytes, [0..<end])
        var (searched, bytesLeft) = (Set<Range<Int>>(), readsMax * bytes.count)
        for index in 0..<count {
            let at = header + 4 + entry * index
            let (offset, length) = (bytes.number(at: at + 4, 4), bytes.number(at: at + 8, 4))
            guard length >= 8, offset >= end, offset + length <= bytes.count else { continue }
            let range = offset..<offset + length
            known.append(range)
            guard searched.insert(range).inserted else { continue }
            bytesLeft -= length
            let tag = bytes[range]
            let texts = Self.texts(of: tag)
            // Bytes beyond those that are searched go.
            let isPlace =
                bytesLeft < 0
                || texts.map { CoordinateText.isIn(bytes[$0]) }
                    ?? CoordinateText.isIn(data: tag)
            if isPlace { clear(texts ?? offset + 8..<offset + length, of: &result) }
        }
        // Bytes between and behind the tags belong to none.
        for range in gaps(between: known, in: bytes.count)
        where CoordinateText.isIn(data: bytes[range]) { clear(range, of: &result) }
        if CoordinateText.isIn(data: bytes[reserved]) { clear(reserved, of: &result) }
        if result != bytes { clear(digest, of: &result) }
        return result
    }

    /// The bytes of the texts in a tag; nil for one of another type.
    private static func texts(of tag: ArraySlice<UInt8>) -> Range<Int>? {
        let (start, end) = (tag.startIndex, tag.endIndex)
        switch String(decoding: tag.prefix(4), as: UTF8.self) {
        case "text": return start + 8..<end
        // Behind the number of its bytes; texts in Unicode and in another script follow, which zeros make empty.
        case "desc" where tag.count >= 12: return start + 12..<end
        // Behind the places of the texts by language.
        case "mluc" where tag.count >= 16:
            let first = 16 + tag.number(at: 8, 4) * tag.number(at: 12, 4)
            return first <= tag.count ? start + first..<end : nil
        default: return nil
        }
    }

    private static func clear(_ range: Range<Int>, of bytes: inout [UInt8]) {
        bytes.replaceSubrange(range, with: repeatElement(0, count: range.count))
    }

    private static func gaps(between known: [Range<Int>], in length: Int) -> [Range<Int>] {
        var (gaps, end) = ([Range<Int>](), 0)
        for range in known.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound > end { gaps.append(end..<range.lowerBound) }
            end = max(end, range.upperBound)
        }
        return end < length ? gaps + [end..<length] : gaps
    }
}
