public import Foundation

/// The halves of a Live Photo, with only the metadata that links them.
public enum SyntheticLivePhoto {
    /// The identifier that both halves share.
    public static let identifier = "602FEBB7-6B59-4799-96E6-9C8484D873C7"

    /// Returns a JPEG with an Apple MakerNote that has the identifier.
    ///
    /// - Parameter photo: a JPEG. Its own EXIF, if it has one, is second and is ignored.
    public static func still(of photo: Data, identifier: String = identifier) -> Data {
        let exif = Array("Exif\0\0".utf8) + exif(identifier: identifier)
        let segment: [UInt8] = [0xFF, 0xE1] + bigEndian(exif.count + 2, 2) + exif
        return Data(photo[..<2]) + Data(segment) + Data(photo[2...])
    }

    /// Returns EXIF with an Apple MakerNote whose only entry is the identifier (tag 0x0011).
    public static func exif(identifier: String = identifier) -> [UInt8] {
        let text = Array(identifier.utf8) + [0]
        let entries = directory(tag: 0x0011, type: 2, count: text.count, value: 14 + 18)
        let note = Array("Apple iOS\0".utf8) + [0, 1] + Array("MM".utf8) + entries + text
        return Array("MM\0*".utf8) + bigEndian(8, 4)
            + directory(tag: 0x8769, type: 4, count: 1, value: 26)
            + directory(tag: 0x927C, type: 7, count: note.count, value: 44) + note
    }

    /// Returns a movie that has the identifier.
    ///
    /// - Parameters:
    ///   - movie: a movie without QuickTime metadata.
    ///   - identifier: the identifier.
    public static func movie(of movie: Data, identifier: String = identifier) -> Data {
        var bytes = Array(movie)
        var offset = 0
        while offset + 8 <= bytes.count {
            let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 8, offset + length <= bytes.count else { break }
            if bytes[offset + 4..<offset + 8].elementsEqual("moov".utf8) {
                // The movie header moves to the end, and its old bytes become free space, so no other box moves.
                let content = Array(bytes[offset + 8..<offset + length])
                bytes.replaceSubrange(offset + 4..<offset + 8, with: Array("free".utf8))
                return Data(bytes + box("moov", content + metadata(identifier: identifier)))
            }
            offset += length
        }
        return movie
    }

    /// Returns the start and the metadata of a QuickTime movie, without its frames.
    ///
    /// - Parameter identifier: the identifier; nil for a movie without one.
    public static func movie(identifier: String? = identifier) -> Data {
        let bytes =
            box("ftyp", Array("qt  ".utf8) + [0, 0, 0, 0] + Array("qt  ".utf8)) + box("wide", [])
            + box("mdat", [1, 2, 3, 4])
            + box("moov", box("mvhd", [0, 0, 0, 0]) + metadata(identifier: identifier))
        return Data(bytes)
    }

    /// Returns the metadata of a QuickTime movie.
    private static func metadata(identifier: String?) -> [UInt8] {
        let key = Array("com.apple.quicktime.content.identifier".utf8)
        let other = Array("com.apple.quicktime.make".utf8)
        let keys =
            [0, 0, 0, 0] + bigEndian(2, 4) + box("mdta", other) + box("mdta", key)
        let value = identifier.map { identifier in
            box(
                [0, 0, 0, 2], box("data", bigEndian(1, 4) + [0, 0, 0, 0] + Array(identifier.utf8)))
        }
        return box("meta", box("keys", keys) + box("ilst", value ?? []))
    }

    private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        box(Array(type.utf8), content)
    }

    private static func box(_ type: [UInt8], _ content: [UInt8]) -> [UInt8] {
        bigEndian(content.count + 8, 4) + type + content
    }

    /// Returns a TIFF directory with one entry and no successor.
    private static func directory(tag: Int, type: Int, count: Int, value: Int) -> [UInt8] {
        bigEndian(1, 2) + bigEndian(tag, 2) + bigEndian(type, 2) + bigEndian(count, 4)
            + bigEndian(value, 4) + [0, 0, 0, 0]
    }

    private static func bigEndian(_ value: Int, _ length: Int) -> [UInt8] {
        (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * (length - 1 - $0))) }
    }
}
