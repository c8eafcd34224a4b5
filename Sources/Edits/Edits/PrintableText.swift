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

extension String {
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
}
