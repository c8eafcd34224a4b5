import Operations

/// One thing that can be set: how it is called everywhere, and what it may be.
///
/// A key such as `render.timeout` is the flag `--render-timeout`, the environment variable
/// `MINILAB_RENDER_TIMEOUT` and the field `render.timeout` (or `{"render": {"timeout": …}}`) of the
/// settings file; they are asked in that order.
package struct Setting<Value> {
    /// The key.
    package let key: String
    /// What is allowed, for errors: `a duration such as 30s, from 1s to 1h`.
    package let expected: String
    /// The value when nobody says, as it would be written; nil when it has to be said.
    package let defaultText: String?
    /// Reads a written value; nil when it is not allowed, or an error that says more.
    package let parse: (String) throws -> Value?

    package init(
        key: String, expected: String, defaultText: String?,
        parse: @escaping (String) throws -> Value?
    ) {
        self.key = key
        self.expected = expected
        self.defaultText = defaultText
        self.parse = parse
    }

    /// The environment variable.
    package var variable: String { Self.variable(key) }

    package static func variable(_ key: String) -> String {
        "MINILAB_"
            + key.uppercased().map { $0 == "." || $0 == "-" ? "_" : $0 }.map(String.init).joined()
    }
}

extension Setting where Value == Int {
    /// A whole number.
    package static func number(
        _ key: String, _ range: ClosedRange<Int>, default text: String? = nil
    ) -> Self {
        Setting(
            key: key,
            expected: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            defaultText: text, parse: { Int($0).flatMap { range.contains($0) ? $0 : nil } })
    }

    /// A number of bytes such as `512M`; units are 1024.
    package static func bytes(_ key: String, _ range: ClosedRange<Int>, default text: String? = nil)
        -> Self
    {
        Setting(
            key: key,
            expected: "a size such as 512M or 2G, from \(written(range.lowerBound)) to "
                + written(range.upperBound),
            defaultText: text,
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

    /// With the largest unit that leaves nothing over.
    private static func written(_ bytes: Int) -> String {
        let units = [(30, "G"), (20, "M"), (10, "K")]
        let unit = units.first { bytes > 0 && bytes % (1 << $0.0) == 0 }
        return unit.map { "\(bytes >> $0.0)\($0.1)" } ?? "\(bytes)"
    }
}

extension Setting where Value == Duration {
    /// A time such as `30s`.
    package static func duration(
        _ key: String, _ range: ClosedRange<Duration>, default text: String? = nil
    ) -> Self {
        Setting(
            key: key,
            expected: "a duration such as 500ms, 30s, 5m or 24h, from \(range.lowerBound) to "
                + "\(range.upperBound)",
            defaultText: text,
            parse: { text in
                guard let duration = Duration(written: text) else { return nil }
                return range.contains(duration) ? duration : nil
            })
    }
}

extension Setting where Value == String {
    /// Any text.
    package static func text(_ key: String, _ expected: String, default text: String? = nil) -> Self
    {
        Setting(
            key: key, expected: expected, defaultText: text, parse: { $0.isEmpty ? nil : $0 })
    }

    /// One of a few words.
    package static func choice(_ key: String, _ words: [String], default text: String) -> Self {
        Setting(
            key: key, expected: "one of " + words.joined(separator: ", "), defaultText: text,
            parse: { words.contains($0) ? $0 : nil })
    }
}
