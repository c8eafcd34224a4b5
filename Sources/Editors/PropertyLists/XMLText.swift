import FoundationEssentials

/// The text of an XML document and the reading position.
struct XMLText {
    /// A start tag. Attributes are skipped: those of a property list have no meaning.
    struct Tag {
        let name: String
        /// Whether it is an empty-element tag: `<string/>`.
        let isEmpty: Bool
    }

    private let bytes: [UInt8]
    private var offset: Int

    /// Decodes UTF-8, or UTF-16 with a byte-order mark.
    init(_ data: Data) throws(PropertyListError) {
        let text: String?
        if data.starts(with: [0xfe, 0xff]) || data.starts(with: [0xff, 0xfe]) {
            let isBig = data.first == 0xfe
            let units = stride(from: 2, to: data.count - 1, by: 2).map { index in
                let first = UInt16(data[data.startIndex + index])
                let second = UInt16(data[data.startIndex + index + 1])
                return isBig ? first << 8 | second : second << 8 | first
            }
            text = data.count % 2 == 0 ? String(validating: units, as: UTF16.self) : nil
        } else {
            let mark: [UInt8] = [0xef, 0xbb, 0xbf]
            text = String(
                validating: data.dropFirst(data.starts(with: mark) ? mark.count : 0), as: UTF8.self)
        }
        guard let text else {
            throw PropertyListError("it is neither binary nor UTF-8 nor UTF-16 with its mark.")
        }
        bytes = Array(text.utf8)
        offset = 0
        guard isAt("<") || bytes.first.map(Self.isSpace) == true else {
            throw PropertyListError(
                "it begins with \(String(decoding: bytes.prefix(16), as: UTF8.self).debugDescription); "
                    + "expected bplist00 or XML.")
        }
    }

    var isAtEnd: Bool { offset == bytes.count }

    func error(_ reason: String) -> PropertyListError {
        PropertyListError("\(reason), at byte \(offset) of its text.")
    }

    static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d
    }

    // MARK: Small steps

    func isAt(_ literal: StaticString) -> Bool {
        literal.withUTF8Buffer { bytes[offset...].starts(with: $0) }
    }

    mutating func skip(_ literal: String) -> Bool {
        guard bytes[offset...].starts(with: literal.utf8) else { return false }
        offset += literal.utf8.count
        return true
    }

    mutating func skipSpace() {
        while offset < bytes.count, Self.isSpace(bytes[offset]) { offset += 1 }
    }

    /// Skips white space and comments between elements.
    mutating func skipSpaceAndComments() throws(PropertyListError) {
        while true {
            skipSpace()
            if isAt("<!--") {
                try skip(past: "-->", from: 4)
            } else if isAt("<?") {
                try skip(past: "?>", from: 2)
            } else {
                return
            }
        }
    }

    private mutating func skip(past end: StaticString, from start: Int) throws(PropertyListError) {
        let from = offset
        offset += start
        while offset < bytes.count, !isAt(end) { offset += 1 }
        guard offset < bytes.count else {
            offset = from
            throw error("what begins here has no end")
        }
        offset += end.utf8CodeUnitCount
    }

    // MARK: Markup

    /// Skips the document type, which may only refer to Apple's DTD.
    mutating func skipProlog() throws(PropertyListError) {
        try skipSpaceAndComments()
        guard skip("<!DOCTYPE") else { return }
        var quote: UInt8?
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                if quote == nil { quote = byte } else if quote == byte { quote = nil }
            case UInt8(ascii: ">") where quote == nil: return
            case UInt8(ascii: "["), UInt8(ascii: "<"):
                throw error("the document type has declarations of its own, which we refuse")
            default: break
            }
        }
        throw error("the document type has no end")
    }

    mutating func startTag() throws(PropertyListError) -> Tag {
        guard skip("<") else {
            throw error(isAtEnd ? "the text ends early" : "expected an element")
        }
        let start = offset
        // The elements of a property list have names of up to seven lower-case letters.
        while offset < bytes.count, offset - start < 8, (0x61...0x7a).contains(bytes[offset]) {
            offset += 1
        }
        let name = String(decoding: bytes[start..<offset], as: UTF8.self)
        guard !name.isEmpty else { throw error("expected the name of an element") }
        while true {
            skipSpace()
            if skip("/>") { return Tag(name: name, isEmpty: true) }
            if skip(">") { return Tag(name: name, isEmpty: false) }
            try skipAttribute(of: name)
        }
    }

    private mutating func skipAttribute(of element: String) throws(PropertyListError) {
        let name = bytes[offset...].prefix { byte in
            (0x61...0x7a).contains(byte | 0x20) || byte == UInt8(ascii: ":")
        }
        offset += name.count
        let quote: StaticString = isAt("=\"") ? "\"" : "'"
        guard !name.isEmpty, skip("="), isAt(quote) else {
            throw error("<\(element) is not closed by >")
        }
        offset += 1
        while offset < bytes.count, !isAt(quote), !isAt("<") { offset += 1 }
        guard isAt(quote) else { throw error("an attribute of <\(element)> has no end") }
        offset += 1
    }

    // MARK: Characters

    mutating func characters() throws(PropertyListError) -> String {
        var text: [UInt8] = []
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "<"):
                if isAt("<![CDATA[") {
                    let start = offset + 9
                    try skip(past: "]]>", from: 9)
                    text += bytes[start..<(offset - 3)]
                } else if isAt("</") {
                    return try checked(text)
                } else if isAt("<!--") || isAt("<?") {
                    try skipSpaceAndComments()
                } else {
                    throw error("an element is in another's text")
                }
            case UInt8(ascii: "&"): text += try reference().utf8
            case let byte:
                text.append(byte)
                offset += 1
            }
        }
        throw error("the text ends early")
    }

    /// Reads a reference: one of XML's five entities, or a number.
    private mutating func reference() throws(PropertyListError) -> String {
        let inside = bytes[(offset + 1)...].prefix(10)
        guard let end = inside.firstIndex(of: UInt8(ascii: ";")) else {
            throw error("& begins a reference that has no end")
        }
        let name = String(decoding: inside[..<end], as: UTF8.self)
        let character: String? =
            switch name {
            case "lt": "<"
            case "gt": ">"
            case "amp": "&"
            case "quot": "\""
            case "apos": "'"
            default: Self.character(name).map(String.init)
            }
        guard let character else {
            throw error("the reference &\(name); is none of XML's five entities and no character")
        }
        offset = end + 1
        return character
    }

    /// Returns the character of `#225` or `#xe1`.
    private static func character(_ name: String) -> Unicode.Scalar? {
        let isHexadecimal = name.hasPrefix("#x")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        guard name.hasPrefix("#"), digits.first?.isHexDigit == true else { return nil }
        return UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init)
    }

    /// Returns the text, if all its characters are allowed in XML.
    private func checked(_ bytes: [UInt8]) throws(PropertyListError) -> String {
        let isControl = { (byte: UInt8) in byte < 0x20 && !Self.isSpace(byte) }
        guard !bytes.contains(where: isControl) else {
            throw error("the text has a control character, which XML has not")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
