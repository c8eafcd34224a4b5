/// The content identifier of a QuickTime movie, which it shares with its still.
///
/// It is the value of the key `com.apple.quicktime.content.identifier` in `moov/meta` (QuickTime File Format, "Metadata"). Only
/// headers of boxes and that box are read. They are untrusted.
public enum MovieIdentifier {
    private static let key = Array("com.apple.quicktime.content.identifier".utf8)

    /// Most boxes of one level that are read.
    private static let boxesMax = 256
    /// Most bytes of metadata that are read.
    private static let metadataBytesMax = 1 << 16

    /// Reads the identifier of a file.
    ///
    /// - Returns: nil if the file is no movie, has no such key, or exceeds the limits.
    public static func identifier(in file: FileWindow) -> String? {
        var file = file
        guard let movie = content("moov", in: 0..<file.length, &file),
            let metadata = content("meta", in: movie, &file)?.prefix(metadataBytesMax)
        else { return nil }
        // MPEG-4 begins with a version and flags, QuickTime with the first box.
        let isFullBox = file.big(metadata.startIndex, 4) == 0
        let inside = metadata.dropFirst(isFullBox ? 4 : 0)
        let range = inside.startIndex..<inside.endIndex
        guard let keys = content("keys", in: range, &file),
            let values = content("ilst", in: range, &file),
            let index = index(of: key, among: keys, &file),
            let item = item(index, in: values, &file),
            let data = content("data", in: item, &file), data.count > 8
        else { return nil }
        // A type and a locale precede the value.
        return ContentIdentifier.text(
            file.bytes(data.lowerBound + 8, min(data.count - 8, ContentIdentifier.bytesMax + 1)))
    }

    /// Returns the content of the first box of a type, if it is complete.
    private static func content(
        _ type: String, in range: Range<Int>, _ file: inout FileWindow
    ) -> Range<Int>? {
        guard let box = file.firstBox(type, in: range, atMost: boxesMax), !box.isCutOff else {
            return nil
        }
        return box.content
    }

    /// Returns the content of the value of a key, whose number is the box's type.
    private static func item(
        _ index: Int, in range: Range<Int>, _ file: inout FileWindow
    ) -> Range<Int>? {
        for box in file.boxes(in: range, atMost: boxesMax) where !box.isCutOff {
            if file.big(box.range.lowerBound + 4, 4) == index { return box.content }
        }
        return nil
    }

    /// Returns the number of a key, from 1 on, in the content of a box `keys`.
    private static func index(
        of key: [UInt8], among keys: Range<Int>, _ file: inout FileWindow
    ) -> Int? {
        var offset = keys.lowerBound + 8
        for index in 1...boxesMax {
            guard let length = file.big(offset, 4), length >= 8, length <= keys.upperBound - offset
            else { return nil }
            if length == 8 + key.count, file.bytes(offset + 8, key.count).elementsEqual(key) {
                return index
            }
            offset += length
        }
        return nil
    }
}
