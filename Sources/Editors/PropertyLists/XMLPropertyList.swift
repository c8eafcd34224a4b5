import Edits
public import FoundationEssentials

/// Reader of Apple's XML property lists: the elements of its DTD and no other XML.
///
/// Nothing is fetched: the document type is read over, and refused if it declares anything.
struct XMLPropertyList {
    /// Longest text of a number or date. `-2.2250738585072014e-308` has 24 characters.
    private static let numberBytesMax = 64

    private var budget = Budget()
    /// The element that is read.
    private var node: XMLNode

    /// Reads the value in the `plist` element.
    static func read(_ data: Data) throws(PropertyListError) -> PropertyList {
        let document = try text(data)
        let root: XMLNode
        do throws(XMLNode.Malformed) {
            root = try XMLNode(
                document: document, depthMax: 2 * PropertyListLimits.depthMax,
                elementsMax: 2 * PropertyListLimits.valuesMax, hasDocumentType: true)
        } catch {
            throw PropertyListError("it has \(error.reason) of its text.")
        }
        var list = XMLPropertyList(node: root)
        try list.requireElements()
        guard root.name == "plist", let first = root.children.first, root.children.count == 1
        else {
            throw list.error("it begins with <\(root.name)>; expected <plist> with a value in it")
        }
        return try list.value(first, depth: 0)
    }

    private init(node: XMLNode) { self.node = node }

    /// Returns the bytes as UTF-8: they are UTF-8, or UTF-16 with a byte-order mark.
    private static func text(_ data: Data) throws(PropertyListError) -> [UInt8] {
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
        guard let first = text.utf8.first, first == UInt8(ascii: "<") || isSpace(first) else {
            throw PropertyListError(
                "it begins with \(String(text.prefix(16)).debugDescription); "
                    + "expected bplist00 or XML.")
        }
        return Array(text.utf8)
    }

    private mutating func value(
        _ node: XMLNode, depth: Int
    ) throws(PropertyListError) -> PropertyList {
        self.node = node
        try budget.enter(depth: depth)
        switch node.name {
        case "string": return .string(try content())
        case "data": return .data(try data(try content()))
        case "integer": return .integer(try integer(try content()))
        case "real": return .real(try real(try content()))
        case "date": return .date(try date(try content()))
        case "true", "false":
            let inside = try content()
            guard inside.isEmpty else {
                throw error("<\(node.name)> has \(inside.excerpt) in it")
            }
            return .boolean(node.name == "true")
        case "array":
            try requireElements()
            var values: [PropertyList] = []
            for child in node.children { values.append(try value(child, depth: depth + 1)) }
            return .array(values)
        case "dict": return .dictionary(try dictionary(depth: depth))
        default: throw error("<\(node.name)> is no value of a property list")
        }
    }

    private mutating func dictionary(
        depth: Int
    ) throws(PropertyListError) -> [String: PropertyList] {
        try requireElements()
        let children = node.children
        var pairs: [String: PropertyList] = [:]
        for index in stride(from: 0, to: children.count, by: 2) {
            node = children[index]
            guard node.name == "key", index + 1 < children.count else {
                throw error("<\(node.name)> is in a dictionary; expected <key> and a value")
            }
            try budget.enter(depth: depth + 1)
            let key = try content()
            try pairs.add(try value(children[index + 1], depth: depth + 1), for: key)
        }
        return pairs
    }

    /// Returns an error after the current element.
    private func error(_ reason: String) -> PropertyListError {
        PropertyListError("\(reason), at byte \(node.end) of its text.")
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d
    }

    private func requireElements() throws(PropertyListError) {
        guard node.text.utf8.allSatisfy(Self.isSpace) else {
            throw error("<\(node.name)> has text beside elements")
        }
    }

    /// Returns the text of the current element, if all its characters are allowed in XML.
    private mutating func content() throws(PropertyListError) -> String {
        guard node.children.isEmpty else { throw error("an element is in another's text") }
        guard !node.text.utf8.contains(where: { $0 < 0x20 && !Self.isSpace($0) }) else {
            throw error("the text has a control character, which XML has not")
        }
        try budget.spend(node.text)
        return node.text
    }

    // MARK: Values

    private func data(_ content: String) throws(PropertyListError) -> Data {
        let digits = Data(content.utf8.filter { !Self.isSpace($0) })
        // Foundation accepts four equals signs as a byte, so the decoded data must encode to the same text.
        guard let data = Data(base64Encoded: digits), data.base64EncodedData() == digits else {
            throw error("the <data> is not Base64")
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
            throw error(
                "the <integer> is \(content.excerpt); expected a whole number of 64 bits")
        }
        return integer
    }

    private func real(_ content: String) throws(PropertyListError) -> Double {
        let content = try short(content)
        guard let real = Double(content), real.isFinite else {
            throw error("the <real> is \(content.excerpt); expected a finite number")
        }
        return real
    }

    private func date(_ content: String) throws(PropertyListError) -> Date {
        let content = try short(content)
        guard let date = UTCTimestamp.date(content), PropertyListLimits.dates.contains(date) else {
            throw error(
                "the <date> is \(content.excerpt); expected such as 2019-12-01T15:27:48Z")
        }
        return date
    }

    /// Returns a number or date without the surrounding space.
    private func short(_ content: String) throws(PropertyListError) -> String {
        let bytes = Array(content.utf8)
        guard let first = bytes.firstIndex(where: { !Self.isSpace($0) }),
            let last = bytes.lastIndex(where: { !Self.isSpace($0) })
        else { return "" }
        guard last - first < Self.numberBytesMax else {
            throw error("a number or date has more than \(Self.numberBytesMax) characters")
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
