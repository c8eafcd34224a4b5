/// The content identifier of a QuickTime movie: that of the still it belongs to.
///
/// It is the value of the key `com.apple.quicktime.content.identifier` in `moov/meta` (QuickTime File Format,
/// "Metadata"). Only headers of boxes and that one box are read, and nothing in them is trusted.
public enum MovieIdentifier {
    private static let key = Array("com.apple.quicktime.content.identifier".utf8)

    /// Most boxes of one level that are passed.
    private static let boxesMax = 256
    /// Most bytes of metadata that are read.
    private static let metadataBytesMax = 1 << 16

    /// Reads from a file by `read`, which gives up to so many bytes from an offset, or fewer at the end.
    ///
    /// - Returns: nil when it is no movie, has no such key, or is beyond the limits.
    public static func identifier(_ read: (_ offset: Int, _ count: Int) -> [UInt8]) -> String? {
        guard let movie = box("moov", from: 0, to: .max, read),
            let metadata = box("meta", from: movie.lowerBound, to: movie.upperBound, read)
        else { return nil }
        let bytes = read(
            metadata.lowerBound, min(metadata.count, metadataBytesMax))
        func within(_ offset: Int, _ count: Int) -> [UInt8] {
            guard offset >= 0, offset < bytes.count else { return [] }
            return Array(bytes[offset..<min(bytes.count, offset + count)])
        }
        // In MPEG-4 a version and flags come first, in QuickTime the first box.
        let start = number(within(0, 4)) == 0 ? 4 : 0
        guard let keys = box("keys", from: start, to: bytes.count, within),
            let values = box("ilst", from: start, to: bytes.count, within),
            let index = index(of: key, among: Array(bytes[keys]))
        else { return nil }
        guard let item = box(index, from: values.lowerBound, to: values.upperBound, within),
            let data = box("data", from: item.lowerBound, to: item.upperBound, within),
            data.count > 8
        else { return nil }
        // A type and a locale come before the value.
        return ContentIdentifier.text(bytes[data].dropFirst(8))
    }

    private static func number(_ bytes: [UInt8]) -> Int? {
        bytes.isEmpty ? nil : TIFFBytes.number(bytes[...], true)
    }

    private static func box(
        _ name: String, from start: Int, to end: Int, _ read: (Int, Int) -> [UInt8]
    ) -> Range<Int>? {
        box(TIFFBytes.number(Array(name.utf8)[...], true), from: start, to: end, read)
    }

    /// What the first box of a type holds, without its header; its end is not beyond `end`.
    private static func box(
        _ type: Int, from start: Int, to end: Int, _ read: (Int, Int) -> [UInt8]
    ) -> Range<Int>? {
        var place = start
        for _ in 0..<boxesMax {
            guard place <= end - 8 else { return nil }
            let header = read(place, 16)
            guard header.count >= 8 else { return nil }
            var (length, content) = (TIFFBytes.number(header[0..<4], true), 8)
            if length == 1 {
                guard header.count == 16, header[8] < 0x40 else { return nil }
                (length, content) = (TIFFBytes.number(header[8..<16], true), 16)
            } else if length == 0 {
                length = end - place
            }
            guard length >= content, length <= end - place else { return nil }
            if TIFFBytes.number(header[4..<8], true) == type {
                return place + content..<place + length
            }
            place += length
        }
        return nil
    }

    /// The number of a key, from 1 on, in a box `keys`.
    private static func index(of key: [UInt8], among keys: [UInt8]) -> Int? {
        var place = 8
        for index in 1...boxesMax {
            guard place + 8 <= keys.count else { return nil }
            let length = TIFFBytes.number(keys[place..<place + 4], true)
            guard length >= 8, length <= keys.count - place else { return nil }
            if keys[place + 8..<place + length].elementsEqual(key) { return index }
            place += length
        }
        return nil
    }
}
