public import FoundationEssentials

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
