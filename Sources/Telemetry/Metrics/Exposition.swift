/// Metrics as Prometheus reads them: text format 0.0.4.
///
/// Source: <https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>.
public enum Exposition {
    /// What the answer to a scrape says that it is.
    public static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// The text of these metrics; metrics without a line are left out.
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

    /// A number as Go's `ParseFloat` reads it.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        // Whole numbers without a fraction, as long as a Double holds them exactly.
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
        // By scalars: CR LF is one character, of which only the LF is to be escaped.
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
