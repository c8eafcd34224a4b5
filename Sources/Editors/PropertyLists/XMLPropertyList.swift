public import FoundationEssentials

/// Reader of Apple's XML property lists: the elements of its DTD and no other XML.
///
/// Entities cannot be declared and nothing is fetched: an internal subset of the document type is rejected, and besides numeric
/// references only the five entities of XML itself are supported.
struct XMLPropertyList {
    /// Longest text of a number or date. `-2.2250738585072014e-308` has 24 characters.
    private static let numberBytesMax = 64

    private var text: XMLText
    private var budget = Budget()

    /// Reads the value in the `plist` element.
    static func read(_ data: Data) throws(PropertyListError) -> PropertyList {
        var list = XMLPropertyList(text: try XMLText(data))
        return try list.document()
    }

    private mutating func document() throws(PropertyListError) -> PropertyList {
        try text.skipProlog()
        let root = try startTag()
        guard root.name == "plist", !root.isEmpty else {
            throw text.error("it begins with <\(root.name)>; expected <plist> with a value in it")
        }
        let value = try value(try startTag(), depth: 0)
        try text.skipSpaceAndComments()
        try endTag("plist")
        try text.skipSpaceAndComments()
        guard text.isAtEnd else { throw text.error("something follows </plist>") }
        return value
    }

    private mutating func value(
        _ tag: XMLText.Tag, depth: Int
    ) throws(PropertyListError) -> PropertyList {
        try budget.enter(depth: depth)
        switch tag.name {
        case "string": return .string(try content(of: tag))
        case "data": return .data(try data(try content(of: tag)))
        case "integer": return .integer(try integer(try content(of: tag)))
        case "real": return .real(try real(try content(of: tag)))
        case "date": return .date(try date(try content(of: tag)))
        case "true", "false":
            let inside = try content(of: tag)
            guard inside.isEmpty else {
                throw text.error("<\(tag.name)> has \(inside.excerpt) in it")
            }
            return .boolean(tag.name == "true")
        case "array": return .array(try array(tag, depth: depth))
        case "dict": return .dictionary(try dictionary(tag, depth: depth))
        default: throw text.error("<\(tag.name)> is no value of a property list")
        }
    }

    private mutating func array(
        _ tag: XMLText.Tag, depth: Int
    ) throws(PropertyListError) -> [PropertyList] {
        var values: [PropertyList] = []
        guard !tag.isEmpty else { return values }
        while true {
            try text.skipSpaceAndComments()
            if text.isAt("</") { break }
            values.append(try value(try startTag(), depth: depth + 1))
        }
        try endTag("array")
        return values
    }

    private mutating func dictionary(
        _ tag: XMLText.Tag, depth: Int
    ) throws(PropertyListError) -> [String: PropertyList] {
        var pairs: [String: PropertyList] = [:]
        guard !tag.isEmpty else { return pairs }
        while true {
            try text.skipSpaceAndComments()
            if text.isAt("</") { break }
            let keyTag = try startTag()
            guard keyTag.name == "key" else {
                throw text.error("<\(keyTag.name)> is in a dictionary; expected <key>")
            }
            try budget.enter(depth: depth + 1)
            let key = try content(of: keyTag)
            try pairs.add(try value(try startTag(), depth: depth + 1), for: key)
        }
        try endTag("dict")
        return pairs
    }

    // MARK: Tags

    private mutating func startTag() throws(PropertyListError) -> XMLText.Tag {
        try text.skipSpaceAndComments()
        return try text.startTag()
    }

    private mutating func endTag(_ name: String) throws(PropertyListError) {
        guard text.skip("</\(name)") else { throw text.error("expected </\(name)>") }
        text.skipSpace()
        guard text.skip(">") else { throw text.error("</\(name) is not closed by >") }
    }

    private mutating func content(of tag: XMLText.Tag) throws(PropertyListError) -> String {
        guard !tag.isEmpty else { return "" }
        let content = try text.characters()
        try endTag(tag.name)
        try budget.spend(content)
        return content
    }

    // MARK: Values

    private func data(_ content: String) throws(PropertyListError) -> Data {
        let digits = Data(content.utf8.filter { !XMLText.isSpace($0) })
        // Foundation accepts four equals signs as a byte, so the decoded data must encode to the same text.
        guard let data = Data(base64Encoded: digits), data.base64EncodedData() == digits else {
            throw text.error("the <data> is not Base64")
        }
        return data
    }

    private func integer(_ content: String) throws(PropertyListError) -> Int {
        let content = try short(content)
        // Parsed like CoreFoundation: a sign, then decimal digits, or hexadecimal ones after 0x.
        let digits = content.drop { $0 == "-" || $0 == "+" }
        let isHexadecimal = digits.lowercased().hasPrefix("0x")
        let magnitude = digits.dropFirst(isHexadecimal ? 2 : 0)
        let sign = content.prefix(content.count - digits.count)
        guard sign.count <= 1, magnitude.first?.isHexDigit == true,
            let integer = Int(sign + magnitude, radix: isHexadecimal ? 16 : 10)
        else {
            throw text.error(
                "the <integer> is \(content.excerpt); expected a whole number of 64 bits")
        }
        return integer
    }

    private func real(_ content: String) throws(PropertyListError) -> Double {
        let content = try short(content)
        guard let real = Double(content), real.isFinite else {
            throw text.error("the <real> is \(content.excerpt); expected a finite number")
        }
        return real
    }

    private func date(_ content: String) throws(PropertyListError) -> Date {
        let content = try short(content)
        guard let date = UTCTimestamp.date(content), PropertyListLimits.dates.contains(date) else {
            throw text.error(
                "the <date> is \(content.excerpt); expected such as 2019-12-01T15:27:48Z")
        }
        return date
    }

    /// Returns a number or date without the surrounding space.
    private func short(_ content: String) throws(PropertyListError) -> String {
        let bytes = Array(content.utf8)
        guard let first = bytes.firstIndex(where: { !XMLText.isSpace($0) }),
            let last = bytes.lastIndex(where: { !XMLText.isSpace($0) })
        else { return "" }
        guard last - first < Self.numberBytesMax else {
            throw text.error("a number or date has more than \(Self.numberBytesMax) characters")
        }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }
}

extension PropertyList {
    /// Returns the list as an XML property list, in the layout of Apple's tools, with keys sorted.
    ///
    /// Foundation's encoder is not used, because it writes dates before 1582 in another calendar than readers expect.
    ///
    /// - Throws: an error if a text contains a control character or noncharacter, which XML does not allow, or if there is a
    ///   reference of a keyed archive.
    public func xml() throws(PropertyListError) -> Data {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" \
            "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">

            """
        try appendXML(to: &text, indent: "")
        return Data((text + "</plist>\n").utf8)
    }

    private func appendXML(to text: inout String, indent: String) throws(PropertyListError) {
        text += indent
        switch self {
        case .string(let value): text += "<string>\(try Self.escaped(value))</string>\n"
        case .integer(let value): text += "<integer>\(value)</integer>\n"
        case .real(let value): text += "<real>\(value)</real>\n"
        case .boolean(let value): text += value ? "<true/>\n" : "<false/>\n"
        case .date(let value): text += "<date>\(UTCTimestamp.text(value))</date>\n"
        case .data(let value):
            let lines = value.base64EncodedString(options: [
                .lineLength76Characters, .endLineWithLineFeed,
            ])
            text += "<data>\n\(lines)\n\(indent)</data>\n"
        case .array(let values):
            text += "<array>\n"
            for value in values { try value.appendXML(to: &text, indent: indent + "\t") }
            text += indent + "</array>\n"
        case .dictionary(let pairs):
            text += "<dict>\n"
            for (key, value) in pairs.sorted(by: { $0.key < $1.key }) {
                text += indent + "\t<key>\(try Self.escaped(key))</key>\n"
                try value.appendXML(to: &text, indent: indent + "\t")
            }
            text += indent + "</dict>\n"
        case .uid: throw PropertyListError("XML has no reference of a keyed archive.")
        }
    }

    private static func escaped(_ text: String) throws(PropertyListError) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "&": escaped += "&amp;"
            case "\r": escaped += "&#13;"  // a bare CR would be read as a line feed
            case "\t", "\n": escaped.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0xfffe || scalar.value == 0xffff:
                throw PropertyListError("XML cannot spell a character of the text \(text.excerpt).")
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
