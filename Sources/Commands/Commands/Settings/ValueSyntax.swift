import Operations

/// The written form of a value, and the allowed values.
package struct ValueSyntax<Value: Sendable>: Sendable {
    /// The allowed values, for errors: `a duration such as 30s, from 1s to 1h`.
    package let expected: String
    /// A placeholder for the value in the help.
    package let placeholder: String?
    /// The parser of a value. It returns nil if the value is not allowed, or throws an error with details.
    package let parse: @Sendable (String) throws -> Value?
    /// The formatter of a value for the help.
    package let write: @Sendable (Value) -> String

    package init(
        _ expected: String, placeholder: String? = nil,
        write: @escaping @Sendable (Value) -> String = { "\($0)" },
        parse: @escaping @Sendable (String) throws -> Value?
    ) {
        self.expected = expected
        self.placeholder = placeholder
        self.write = write
        self.parse = parse
    }
}

extension ValueSyntax where Value == Int {
    /// Returns the syntax of a whole number in a range.
    package static func number(_ range: ClosedRange<Int>) -> Self {
        Self("a whole number from \(range.lowerBound) to \(range.upperBound)") {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Returns the syntax of a number of bytes such as `512M`; the units are powers of 1024.
    package static func bytes(_ range: ClosedRange<Int>) -> Self {
        Self(
            "a size such as 512M or 2G, from \(written(range.lowerBound)) to \(written(range.upperBound))",
            write: { written($0) },
            parse: { text in
                let units = ["K": 10, "M": 20, "G": 30]
                let unit = text.last.flatMap { units[$0.uppercased()] }
                guard let number = Int(unit == nil ? text[...] : text.dropLast()), number >= 0,
                    number <= range.upperBound >> (unit ?? 0)
                else { return nil }
                let bytes = number << (unit ?? 0)
                return range.contains(bytes) ? bytes : nil
            })
    }

    /// Returns a number of bytes in the largest unit without a remainder.
    private static func written(_ bytes: Int) -> String {
        let units = [(30, "G"), (20, "M"), (10, "K")]
        let unit = units.first { bytes > 0 && bytes % (1 << $0.0) == 0 }
        return unit.map { "\(bytes >> $0.0)\($0.1)" } ?? "\(bytes)"
    }
}

extension ValueSyntax where Value == Duration {
    /// Returns the syntax of a duration such as `30s`.
    package static func duration(_ range: ClosedRange<Duration>) -> Self {
        Self(
            "a duration such as 500ms, 30s, 5m or 24h, from \(range.lowerBound.written) to "
                + range.upperBound.written,
            write: { $0.written },
            parse: { text in
                guard let duration = Duration(written: text) else { return nil }
                return range.contains(duration) ? duration : nil
            })
    }
}

extension ValueSyntax where Value == Bool {
    /// The syntax of a boolean.
    package static var truth: Self {
        Self("true or false", placeholder: "true|false") {
            $0 == "true" ? true : $0 == "false" ? false : nil
        }
    }
}

extension ValueSyntax where Value == String {
    /// Returns the syntax of any text that is not empty.
    package static func text(_ expected: String, placeholder: String? = nil) -> Self {
        Self(expected, placeholder: placeholder) { $0.isEmpty ? nil : $0 }
    }
}

extension ValueSyntax where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    /// The syntax of one of the cases of an enumeration.
    package static var choice: Self {
        let names = Value.allCases.map(\.rawValue)
        return Self(
            "one of " + names.joined(separator: ", "), placeholder: names.joined(separator: "|"),
            write: { $0.rawValue }, parse: { Value(rawValue: $0) })
    }
}
