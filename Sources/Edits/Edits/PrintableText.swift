extension Unicode.Scalar {
    /// Whether the character controls the display of text instead of being displayed: control and format characters and the
    /// separators of lines and paragraphs (Unicode's Cc, Cf, Zl and Zp).
    ///
    /// Among them are ESC and U+009B, which begin a terminal's commands, and the marks that change the direction of writing. Two
    /// format characters are excluded: the joiners U+200C and U+200D, without which Persian names and many emoji are misspelt. They
    /// only change the adjacent letter.
    public var isControl: Bool {
        if isASCII { return value < 0x20 || value == 0x7f }
        if value == 0x200C || value == 0x200D { return false }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}

extension Unicode.Scalar {
    /// Whether it has no shape of its own and tells how its neighbours are written: soft hyphens, joiners, places of a break, directions
    /// (Unicode's Cf). Texts of people have them.
    public var isFormat: Bool { !isASCII && properties.generalCategory == .format }

    /// Whether nothing is drawn of it where it stands alone: what ``isFormat`` says, selectors of variants, and fillers of Hangul.
    var isInvisible: Bool { isFormat || properties.isDefaultIgnorableCodePoint }

    /// Whether it opens or closes a part that is written in another direction, and so changes what follows a value that has it unpaired
    /// (UAX 9: embeddings, overrides, isolates).
    var turnsWriting: Bool {
        (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value)
    }

    /// Whether it must not be in a text of metadata: controls but the tab and the line feed, and what is no character.
    var isForbiddenInMetadata: Bool {
        isControl && !isFormat && self != "\n" && self != "\t" || isNoncharacter
    }
}

extension String {
    /// The text with a line feed for each end of a line: CR LF, CR, NEL, and Unicode's separators of lines and paragraphs.
    public var withLineFeeds: String {
        var text = String.UnicodeScalarView()
        var last: Unicode.Scalar?
        for scalar in unicodeScalars {
            switch scalar {
            case "\n" where last == "\r": break
            case "\r", "\u{85}", "\u{2028}", "\u{2029}": text.append("\n")
            default: text.append(scalar)
            }
            last = scalar
        }
        return String(text)
    }

    /// Whether the text contains control characters; see `Unicode.Scalar.isControl`.
    public var hasControls: Bool { unicodeScalars.contains(where: \.isControl) }

    /// The text as one printable line: each control character is written as `\u{1B}`, a line end as `\n`.
    public var printable: String { escaping { $0 == "\n" ? "\\n" : Self.swift($0) } }

    /// The printable form of our own multi-line text: line ends stay.
    public var printableLines: String { escaping { $0 == "\n" ? "\n" : Self.swift($0) } }

    /// JSON text with every control character as JSON's own escape, which is equivalent for a parser; line ends of its layout stay.
    public var printableJSON: String { escaping { $0 == "\n" ? "\n" : Self.json($0) } }

    private func escaping(_ escape: (Unicode.Scalar) -> String) -> String {
        guard hasControls else { return self }
        var text = ""
        for scalar in unicodeScalars {
            if scalar.isControl {
                text += escape(scalar)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func swift(_ scalar: Unicode.Scalar) -> String {
        "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }

    private static func json(_ scalar: Unicode.Scalar) -> String {
        UTF16.encode(scalar).map { units in
            units.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        } ?? ""
    }

    /// The most combining marks (accents) in a row: a file's name has at most 255 bytes, and a mark at least two. Unicode's
    /// stream-safe text has 30 (UAX #15), which is more than any language needs.
    ///
    /// Swift compares and hashes text in normal form, and sorts each row of marks for that in quadratic time: 32,000 take 0.24 s,
    /// and a JSON key of 64,000 took 8.3 s. A text of rows of 127 takes four times as long
    /// as one of the same length of rows of 30.
    public static let marksInARowMax = 127

    /// Whether no row of combining marks is longer than ``marksInARowMax``.
    public var isStreamSafe: Bool {
        var marks = 0
        for scalar in unicodeScalars {
            marks = scalar.isCombiningMark ? marks + 1 : 0
            guard marks <= Self.marksInARowMax else { return false }
        }
        return true
    }
}

extension Unicode.Scalar {
    /// Whether it combines with the preceding character. Only characters of these kinds are sorted in normal form.
    var isCombiningMark: Bool {
        guard !isASCII else { return false }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return true
        default: return false
        }
    }
}

extension String {
    /// The text with all bytes percent-encoded but the unreserved ones (RFC 3986, 2.3).
    ///
    /// - Parameter kept: further ASCII characters that stay as they are.
    public func percentEncoded(keeping kept: String = "") -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            case _ where kept.utf8.contains(byte): bytes.append(byte)
            default:
                bytes += [
                    UInt8(ascii: "%"), Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)],
                ]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}

extension StringProtocol {
    /// The bytes of the text, percent-decoded once (RFC 3986 §2.1); nil if an escape is malformed.
    public var percentDecodedBytes: [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            guard digits.count == 2 else { return nil }
            bytes.append(UInt8(digits[0] << 4 | digits[1]))
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    /// The text, percent-decoded once; nil if an escape is malformed or the bytes are not UTF-8.
    public var percentDecoded: String? {
        percentDecodedBytes.flatMap { String(validating: $0, as: UTF8.self) }
    }
}
