extension Filter {
    /// Parses a filter from the command line: `CISepiaTone:inputIntensity=0.8,…`.
    ///
    /// A value is JSON (`0.8`, `[150, 150]`, `true`) or a word (`clamp`, `#ff8000`). Commas inside brackets and braces belong to
    /// the value.
    ///
    /// CSS functions may also be written as in CSS: `css:sepia(0.8)`.
    ///
    /// - Throws: `invalidValue` for text of another form, and the errors of a filter in an edit.
    public init(text: String, at path: String) throws(Failure) {
        guard !CSSFunction.isForm(of: text) else {
            try self.init(CSSFunction.object(text, at: path), at: path)
            return
        }
        // The colon of `css:` belongs to the name.
        let prefix = text.hasPrefix(CSSFunction.prefix) ? CSSFunction.prefix : ""
        let parts = text.dropFirst(prefix.count).split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var fields: [String: JSONValue] = ["name": .string(prefix + parts[0])]
        for pair in Self.pairs(parts.count > 1 ? parts[1] : "") {
            let sides = pair.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, !sides[0].isEmpty else {
                throw Failure(
                    .invalidValue, "\(path): \(String(pair).debugDescription) is not key=value.")
            }
            let value = String(sides[1])
            let startsAsJSON = value.first.map { "-0123456789[{\"".contains($0) } ?? false
            if startsAsJSON || ["true", "false"].contains(value) {
                fields[String(sides[0])] = try JSONValue(parsing: value, as: "\(path).\(sides[0])")
            } else {
                fields[String(sides[0])] = .string(value)
            }
        }
        try self.init(.object(fields), at: path)
    }

    /// Splits at the commas that are not inside brackets.
    private static func pairs(_ text: Substring) -> [Substring] {
        var depth = 0
        return text.split { character in
            switch character {
            case "[", "{": depth += 1
            case "]", "}": depth -= 1
            default: break
            }
            return character == "," && depth == 0
        }
    }
}
