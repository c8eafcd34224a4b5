/// A text in ASCII, in which signs that look or mean the same are one: what ``CoordinateText`` searches.
///
/// Spaces of all kinds are a space, full-width forms and digits of all scripts are those of ASCII, and characters without a shape, such as soft
/// hyphens, are left out.
struct PlainText {
    private(set) var bytes: [UInt8] = []

    /// A sign of degrees, a letter, and a sign that ASCII does not have.
    static let degree: UInt8 = 0x01
    static let letter: UInt8 = 0x7F
    private static let sign: UInt8 = 0x02
    private static let minute = UInt8(ascii: "'")
    private static let second = UInt8(ascii: "\"")

    static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF) || byte == letter
    }

    /// The small letter of a letter of ASCII; other bytes as they are.
    static func small(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    init(_ text: String) {
        bytes.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars { add(scalar) }
    }

    /// A text whose bytes are already those of this one.
    init(plain bytes: [UInt8]) { self.bytes = bytes }

    // MARK: Bytes in an encoding that nobody states

    /// Returns all readings of some bytes: files say UTF-8 where Latin-1 is, and nothing where UTF-16 is.
    static func readings(of bytes: [UInt8]) -> [PlainText] {
        var readings = [PlainText(lenient: bytes)]
        let hasZeros = bytes.contains(0)
        // UTF-16 and UTF-32 of either order, from any offset on, as far as it is Latin.
        if hasZeros { readings.append(PlainText(lenient: bytes.filter { $0 != 0 })) }
        if hasZeros || bytes.contains(where: { $0 >= 0x80 }) {
            readings.append(PlainText(utf16: bytes, isBigEndian: false))
            readings.append(PlainText(utf16: bytes, isBigEndian: true))
        }
        return readings
    }

    /// Reads UTF-8, and each byte that is none in the encodings of one byte that files of photos have.
    private init(lenient source: [UInt8]) {
        bytes.reserveCapacity(source.count)
        var offset = 0
        while offset < source.count {
            let first = source[offset]
            if first < 0x80 {
                add(Unicode.Scalar(first))
                offset += 1
            } else if let (scalar, length) = Self.scalar(source, at: offset) {
                add(scalar)
                offset += length
            } else {
                bytes.append(Self.single[first] ?? Self.letter)
                offset += 1
            }
        }
    }

    private init(utf16 source: [UInt8], isBigEndian: Bool) {
        let units = stride(from: 0, to: source.count - 1, by: 2).map { offset -> UInt16 in
            let (high, low) = isBigEndian ? (offset, offset + 1) : (offset + 1, offset)
            return UInt16(source[high]) << 8 | UInt16(source[low])
        }
        self.init(String(decoding: units, as: UTF16.self))
    }

    /// Returns the character of more than one byte of UTF-8 at an offset; nil if there is none.
    private static func scalar(
        _ bytes: [UInt8], at offset: Int
    ) -> (scalar: Unicode.Scalar, length: Int)? {
        let first = bytes[offset]
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard (0xC2...0xF4).contains(first), offset + length <= bytes.count else { return nil }
        var value = UInt32(first) & (0xFF >> UInt32(length + 1))
        for byte in bytes[(offset + 1)..<(offset + length)] {
            guard byte & 0xC0 == 0x80 else { return nil }
            value = value << 6 | UInt32(byte & 0x3F)
        }
        return Unicode.Scalar(value).map { ($0, length) }
    }

    /// The characters of bytes in Windows-1252 and Latin-1, in Mac OS Roman, or in the code pages 437 and 850. Where they differ, the sign of
    /// coordinates is taken: it means something only behind a number.
    private static let single: [UInt8: UInt8] = [
        0xB0: degree, 0xBA: degree, 0xA1: degree, 0xBC: degree, 0xFB: degree, 0xF8: degree,
        0xA7: degree,
        0x91: minute, 0x92: minute, 0xB4: minute, 0xD4: minute, 0xD5: minute, 0xAB: minute,
        0xEF: minute,
        0x93: second, 0x94: second, 0xD2: second, 0xD3: second,
        0xA0: 0x20, 0xCA: 0x20, 0xFF: 0x20, 0x96: 0x2D, 0xD0: 0x2D,
    ]

    // MARK: Characters

    private mutating func add(_ scalar: Unicode.Scalar) {
        switch scalar.value {
        case 0, 0x0A...0x0D, 0x85, 0x2028, 0x2029: bytes.append(UInt8(ascii: "\n"))
        case 0x09: bytes.append(0x20)
        case 0x60: bytes.append(Self.minute)
        case ..<0x80: bytes.append(UInt8(scalar.value))
        case 0xFF01...0xFF5E: bytes.append(UInt8(scalar.value - 0xFEE0))
        // Of UTF-8 that was read as Latin-1 and written again: Â°.
        case 0xC2: break
        default: addFurther(scalar)
        }
    }

    private mutating func addFurther(_ scalar: Unicode.Scalar) {
        if let known = Self.known[scalar] {
            bytes.append(known)
            return
        }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .format: break
        case .spaceSeparator: bytes.append(0x20)
        case .dashPunctuation: bytes.append(UInt8(ascii: "-"))
        case .decimalNumber:
            bytes.append(UInt8(ascii: "0") + UInt8(properties.numericValue ?? 0))
        default: bytes.append(properties.isAlphabetic ? Self.letter : Self.sign)
        }
    }

    private static let known: [Unicode.Scalar: UInt8] = {
        let alike: [(String, UInt8)] = [
            // The last one stands for bytes that another program could not read.
            ("°º˚⁰∘◦度\u{FFFD}", degree), ("’‘′´ʹʼ‵分", minute), ("”“″ʺ„秒", second),
            ("−", UInt8(ascii: "-")), ("、،", UInt8(ascii: ",")), ("٫", UInt8(ascii: ".")),
            ("éèê", UInt8(ascii: "e")), ("ü", UInt8(ascii: "u")), ("ä", UInt8(ascii: "a")),
        ]
        var known: [Unicode.Scalar: UInt8] = [:]
        for (scalars, byte) in alike {
            for scalar in scalars.unicodeScalars { known[scalar] = byte }
        }
        return known
    }()

    // MARK: Escapes

    /// The text without the escapes of addresses (`%2C`), of HTML (`&deg;`, `&#176;`) and of JSON (`\u00B0`); nil if it has none.
    var unescaped: PlainText? {
        var result: [UInt8] = []
        var copied = 0
        var offset = 0
        while let next = bytes[offset...].firstIndex(where: { "%&\\".utf8.contains($0) }) {
            guard let (content, length) = Self.escape(bytes[next...].prefix(Self.escapeMax)) else {
                offset = next + 1
                continue
            }
            result += bytes[copied..<next] + content
            offset = next + length
            copied = offset
        }
        return copied == 0 ? nil : PlainText(lenient: result + bytes[copied...])
    }

    /// The longest escape: `&#x10FFFF;`, perhaps with leading zeros.
    private static let escapeMax = 16
    private static let names = [
        "deg": "°", "ordm": "°", "amp": "&", "quot": "\"", "apos": "'", "nbsp": " ", "comma": ",",
        "period": ".", "prime": "'", "Prime": "\"", "acute": "'", "rsquo": "'", "rdquo": "\"",
        "minus": "-", "plus": "+", "ensp": " ", "emsp": " ", "thinsp": " ", "lt": "<", "gt": ">",
    ]

    /// Characters behind a backslash in JSON.
    private static let signs: [UInt8: UInt8] = [
        UInt8(ascii: "/"): UInt8(ascii: "/"), UInt8(ascii: "\""): UInt8(ascii: "\""),
        UInt8(ascii: "n"): UInt8(ascii: "\n"), UInt8(ascii: "r"): UInt8(ascii: "\n"),
        UInt8(ascii: "t"): 0x20,
    ]

    private static func escape(_ text: ArraySlice<UInt8>) -> (content: [UInt8], length: Int)? {
        func code(_ digits: ArraySlice<UInt8>, radix: Int) -> UInt32? {
            digits.first.flatMap { isDigit($0) || isLetter($0) ? $0 : nil }.flatMap { _ in
                UInt32(String(decoding: digits, as: UTF8.self), radix: radix)
            }
        }
        func utf8(_ code: UInt32?) -> [UInt8]? {
            code.flatMap(Unicode.Scalar.init).map { Array(String(Character($0)).utf8) }
        }
        let rest = text.dropFirst()
        switch text.first {
        case UInt8(ascii: "%"):
            guard rest.count >= 2, let byte = code(rest.prefix(2), radix: 16) else { return nil }
            return ([UInt8(byte)], 3)
        case UInt8(ascii: "\\"):
            if let sign = rest.first.flatMap({ signs[$0] }) { return ([sign], 2) }
            guard rest.count >= 5, rest.first == UInt8(ascii: "u"),
                let content = utf8(code(rest.dropFirst().prefix(4), radix: 16))
            else { return nil }
            return (content, 6)
        default:
            guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else { return nil }
            let name = rest[..<end]
            let length = end - text.startIndex + 1
            if let known = names[String(decoding: name, as: UTF8.self)] {
                return (Array(known.utf8), length)
            }
            guard name.first == UInt8(ascii: "#") else { return nil }
            let digits = name.dropFirst()
            let isHex = digits.first.map(small) == UInt8(ascii: "x")
            let value = isHex ? code(digits.dropFirst(), radix: 16) : code(digits, radix: 10)
            return utf8(value).map { ($0, length) }
        }
    }
}
