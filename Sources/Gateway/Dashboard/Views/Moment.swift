import FoundationEssentials
import Operations

/// A time, for programs and for people.
package struct Moment: View {
    /// The time as RFC 3339, in UTC.
    let iso: String
    /// The text for people: `2026-11-21 06:12:03`, or the age.
    let text: String
    /// The time itself, also if ``text`` has the age.
    let exact: String

    /// - Parameters:
    ///   - milliseconds: the time in ms since 1970.
    ///   - now: the current time in ms since 1970, to show the age; nil to show the time itself.
    package init(_ milliseconds: Int, now: Int? = nil) {
        iso = date(milliseconds)
        exact = iso.replacing("T", with: " ").replacing("Z", with: "") + " UTC"
        text = now.map { Self.span(from: milliseconds, to: $0) } ?? exact
    }

    /// Uses a time in text form, such as RFC 3339.
    package init(written text: String) {
        iso = text
        exact = text.replacing("T", with: " ").replacing("Z", with: " UTC")
        self.text = exact
    }

    private static func span(from then: Int, to now: Int) -> String {
        let (difference, overflows) = now.subtractingReportingOverflow(then)
        guard !overflows else { return "–" }
        let seconds = difference.magnitude / 1000
        let text =
            switch seconds {
            case ..<120: "\(seconds) s"
            case ..<7200: "\(seconds / 60) min"
            case ..<172_800: "\(seconds / 3600) h"
            default: "\(seconds / 86400) d"
            }
        return difference < 0 ? "in " + text : text + " ago"
    }
}
