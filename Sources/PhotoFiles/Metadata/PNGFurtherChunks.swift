/// The chunks of a PNG that libvips does not read: EXIF, XMP and texts after the pixels, as several programs write them, profiles
/// that ImageMagick writes as texts, and the number of frames.
///
/// Source: PNG third edition §5.6: `eXIf` may be anywhere, and so may texts; §11.3.3 for `tEXt`, `zTXt` and `iTXt`, §11.3.6.1 for
/// `acTL`; ImageMagick, coders/png.c ("Raw profile type …": a name, a length, and hexadecimal digits).
public struct PNGFurtherChunks: Sendable {
    public private(set) var exif: [UInt8]?
    public private(set) var xmp: [UInt8]?
    /// IPTC, as ``PhotoFiles/IPTC`` reads it.
    public private(set) var iptc: [UInt8]?
    /// Other texts after the pixels.
    public private(set) var texts: [(key: String, text: String)] = []
    /// The frames of an animation; 1 for a picture.
    public private(set) var frames = 1

    /// Most chunks of a file that are read. A PNG of 2 gigabytes in chunks of 8 KB has 260,000.
    private static let chunksMax = 300_000
    /// Most texts after the pixels, and most bytes of one.
    private static let textsMax = 256
    private static let textBytesMax = 64 << 10
    private static let xmpKey = "XML:com.adobe.xmp"
    private static let profileKey = "Raw profile type "
    /// The longest key, 79 bytes, with its end.
    private static let keyBytes = 80

    /// Reads the chunks of a PNG. What a standard chunk holds precedes what a text holds, and the first of a kind the others.
    public init(_ file: inout FileWindow) {
        var offset = 8
        var isAfterPixels = false
        var profiles: [(kind: String, bytes: [UInt8])] = []
        for _ in 0..<Self.chunksMax {
            guard let length = file.big(offset, 4) else { break }
            let data = offset + 8
            if file.has("IEND", at: offset + 4) { break }
            if file.has("IDAT", at: offset + 4) {
                isAfterPixels = true
            } else if file.has("acTL", at: offset + 4) {
                frames = file.big(data, 4) ?? 1
            } else if length <= ExtendedXMP.bytesMax {
                let range = data..<data + length
                if isAfterPixels, exif == nil, file.has("eXIf", at: offset + 4) {
                    exif = content(range, &file)
                } else if let (key, text) = text(range, at: offset + 4, isAfterPixels, &file) {
                    add(key, text, isAfterPixels, to: &profiles)
                }
            }
            offset = data + length + 4
        }
        for (kind, bytes) in profiles { add(profile: kind, bytes) }
    }

    private func content(_ range: Range<Int>, _ file: inout FileWindow) -> [UInt8]? {
        let bytes = file.all(range)
        return bytes.count == range.count && !bytes.isEmpty ? bytes : nil
    }

    // MARK: Texts

    /// Reads a chunk that is a text; nil for others, and for damaged ones. Before the pixels, only profiles are read.
    private func text(
        _ range: Range<Int>, at name: Int, _ isAfterPixels: Bool, _ file: inout FileWindow
    ) -> (key: String, text: [UInt8])? {
        let kind = String(decoding: file.bytes(name, 4), as: UTF8.self)
        guard ["tEXt", "zTXt", "iTXt"].contains(kind) else { return nil }
        let head = file.bytes(range.lowerBound, min(Self.keyBytes, range.count))
        guard let end = head.firstIndex(of: 0) else { return nil }
        let key = Self.latin1(head[..<end])
        guard isAfterPixels || key.hasPrefix(Self.profileKey), let bytes = content(range, &file)
        else { return nil }
        let rest = bytes.dropFirst(head.distance(from: head.startIndex, to: end) + 1)
        switch kind {
        case "tEXt": return (key, key.hasPrefix(Self.profileKey) ? Array(rest) : Self.utf8(rest))
        case "zTXt":
            guard rest.first == 0, let text = Inflation.zlib(rest.dropFirst()) else { return nil }
            return (key, key.hasPrefix(Self.profileKey) ? text : Self.utf8(text[...]))
        default: return Self.international(rest).map { (key, $0) }
        }
    }

    /// Returns the text of an `iTXt` after its key: flag and method of compression, a language, a translated key, the text.
    private static func international(_ rest: ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.count >= 4, let flag = rest.first else { return nil }
        guard let language = rest.dropFirst(2).firstIndex(of: 0),
            let key = rest[(language + 1)...].firstIndex(of: 0)
        else { return nil }
        let text = rest[(key + 1)...]
        return flag == 1 ? Inflation.zlib(text) : Array(text)
    }

    /// Returns the key and the text of a chunk, whole with its length and checksum; nil for other chunks, and for damaged ones.
    static func text(
        ofChunk chunk: Range<Int>, _ file: inout FileWindow
    ) -> (key: String, text: String)? {
        guard chunk.count >= 12, chunk.count <= ExtendedXMP.bytesMax,
            let (key, text) = PNGFurtherChunks().text(
                chunk.lowerBound + 8..<chunk.upperBound - 4, at: chunk.lowerBound + 4, true, &file)
        else { return nil }
        return String(validating: text, as: UTF8.self).map { (key, $0) }
    }

    private init() {}

    private static func latin1(_ bytes: ArraySlice<UInt8>) -> String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
    private static func utf8(_ bytes: ArraySlice<UInt8>) -> [UInt8] { Array(latin1(bytes).utf8) }

    private mutating func add(
        _ key: String, _ text: [UInt8], _ isAfterPixels: Bool,
        to profiles: inout [(kind: String, bytes: [UInt8])]
    ) {
        if key == Self.xmpKey {
            xmp = xmp ?? text
        } else if key.hasPrefix(Self.profileKey) {
            let kind = key.dropFirst(Self.profileKey.count).lowercased()
            if let bytes = Self.unpacked(text) { profiles.append((kind, bytes)) }
        } else if texts.count < Self.textsMax, text.count <= Self.textBytesMax,
            let text = String(validating: text, as: UTF8.self)
        {
            texts.append((key, text))
        }
    }

    // MARK: Profiles in texts

    /// The prefix of libvips' fields for texts; a number and the key follow.
    public static let field = "png-comment-"

    /// Returns the key of a text by libvips' name of its field; nil for other fields.
    public static func key(field: String) -> String? {
        guard field.hasPrefix(Self.field) else { return nil }
        let parts = field.dropFirst(Self.field.count).split(separator: "-", maxSplits: 1)
        return parts.count == 2 ? String(parts[1]) : nil
    }

    /// Whether libvips' field is a text that holds no profile.
    public static func isText(field: String) -> Bool {
        key(field: field).map { !$0.hasPrefix(profileKey) } ?? false
    }

    /// Whether a text holds a profile that is read, and so is not kept as a text.
    public static func isReadProfile(_ key: String) -> Bool {
        guard key.hasPrefix(profileKey) else { return false }
        return ["exif", "app1", "xmp"].contains(key.dropFirst(profileKey.count).lowercased())
    }

    /// Returns the text that spells IPTC, as ImageMagick writes it.
    public static func text(of iptc: IPTC) -> (key: String, text: String) {
        let bytes = iptc.resources
        let digits = Array("0123456789abcdef".utf8)
        var lines: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if index % 36 == 0 { lines.append(0x0A) }
            lines += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        let count = "\(bytes.count)"
        let padding = String(repeating: " ", count: max(0, 8 - count.count))
        return (
            profileKey + "iptc",
            "\niptc\n\(padding)\(count)\(String(decoding: lines, as: UTF8.self))\n"
        )
    }

    /// Whether a text holds IPTC.
    public static func isIPTC(_ key: String) -> Bool {
        guard key.hasPrefix(profileKey) else { return false }
        return ["iptc", "8bim"].contains(key.dropFirst(profileKey.count).lowercased())
    }

    /// Returns the bytes that a text spells: a line with a name, one with the number of bytes, then digits, with line feeds between.
    private static func unpacked(_ text: [UInt8]) -> [UInt8]? {
        let lines = text.split(separator: 0x0A, maxSplits: 2)
        guard lines.count == 3,
            let count = Int(String(decoding: lines[1].filter { $0 != 0x20 }, as: UTF8.self)),
            count > 0, count <= text.count
        else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var high: UInt8?
        for character in lines[2] {
            guard let digit = Character(Unicode.Scalar(character)).hexDigitValue else {
                guard character <= 0x20 else { return nil }
                continue
            }
            if let first = high {
                bytes.append(first << 4 | UInt8(digit))
                high = nil
            } else {
                high = UInt8(digit)
            }
        }
        return bytes.count == count && high == nil ? bytes : nil
    }

    private static let exifMark = Array("Exif\0\0".utf8)
    private static let xmpMark = Array("http://ns.adobe.com/xap/1.0/\0".utf8)

    private mutating func add(profile kind: String, _ bytes: [UInt8]) {
        switch kind {
        case "exif", "app1":
            if bytes.starts(with: Self.xmpMark) {
                xmp = xmp ?? Array(bytes.dropFirst(Self.xmpMark.count))
            } else {
                let isMarked = bytes.starts(with: Self.exifMark)
                exif = exif ?? Array(bytes.dropFirst(isMarked ? Self.exifMark.count : 0))
            }
        case "xmp": xmp = xmp ?? bytes
        case "iptc", "8bim": iptc = iptc ?? bytes
        default: break
        }
    }
}
