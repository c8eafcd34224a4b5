/// The text format of Prometheus, version 0.0.4.
///
/// Source: <https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>.
public enum Exposition {
    /// The content type of a scrape's response.
    public static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// Returns the text of these metrics; metrics without samples are left out.
    public static func text(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families where !family.samples.isEmpty {
            text += "# HELP \(family.name) \(escaped(family.help, quotes: false))\n"
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            for sample in family.samples {
                text += family.name + sample.suffix + labels(sample.labels)
                text += " " + number(sample.value) + "\n"
            }
        }
        return text
    }

    /// Returns a number in the syntax of Go's `ParseFloat`.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        // Whole numbers have no fraction while a Double represents them exactly.
        if abs(value) < 0x1p53, let whole = Int(exactly: value) { return String(whole) }
        return value.description
    }

    private static func labels(_ labels: [MetricFamily.Label]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{"
            + labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }
            .joined(separator: ",") + "}"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        // By scalars: CR LF is one character, and only its LF is escaped.
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
