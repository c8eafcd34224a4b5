import FoundationEssentials

/// Returns a time in ms since 1970 in readable form, in UTC.
package func date(_ milliseconds: Int) -> String {
    Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601)
}

/// Returns bytes in megabytes (10^6), without a fraction.
package func megabytes(_ bytes: Int) -> String { "\((bytes + 500_000) / 1_000_000)" }

/// Returns `1 version`, `2 versions`; `more` is a plural that is not formed with an s.
package func counted(_ count: Int, _ noun: String, _ more: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : more ?? noun + "s")"
}

/// Returns a number with one decimal place.
package func decimal(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
}

/// Returns `40 s`, `12:05 min`, `3:20 h`.
package func clock(_ seconds: Int) -> String {
    func padded(_ value: Int) -> String { (value < 10 ? "0" : "") + "\(value)" }
    if seconds < 60 { return "\(seconds) s" }
    if seconds < 3600 { return "\(seconds / 60):\(padded(seconds % 60)) min" }
    return "\(seconds / 3600):\(padded(seconds / 60 % 60)) h"
}

extension Duration {
    /// Decodes a duration such as `500ms`, `30s`, `5m`, `24h` or `3d`; nil if it has another form, or is negative.
    package init?(written text: String) {
        let number = text.prefix { $0.isNumber || $0 == "." }
        let units = [
            "ms": Duration.milliseconds(1), "s": .seconds(1), "m": .seconds(60),
            "h": .seconds(3600), "d": .seconds(86400),
        ]
        // A Duration holds 2^63 seconds; a text of more than a thousand years is a mistake.
        guard let count = Double(number), let unit = units[String(text.dropFirst(number.count))],
            count * (unit / .seconds(1)) < 1000 * 366 * 86400
        else { return nil }
        self = unit * count
    }
    /// The duration as text, in the largest unit without a remainder: `90s`, `5m`, `24h`, `30d`.
    package var written: String {
        let milliseconds = Int(self / .milliseconds(1))
        // A day is written as 24h, as is usual for a lease; longer times in days.
        let units = [(86_400_000, "d", 2), (3_600_000, "h", 1), (60_000, "m", 1), (1000, "s", 0)]
        for (unit, name, least) in units
        where milliseconds % unit == 0 && milliseconds >= least * unit {
            return "\(milliseconds / unit)\(name)"
        }
        return "\(milliseconds)ms"
    }
}
