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
