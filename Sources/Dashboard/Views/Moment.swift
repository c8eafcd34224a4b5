import FoundationEssentials
import Operations

/// A time, for a machine and for people.
package struct Moment: View {
    /// RFC 3339, in UTC.
    let iso: String
    /// `2026-11-21 06:12:03`, or how long ago.
    let words: String
    /// Always the time itself.
    let exact: String

    /// - Parameters:
    ///   - milliseconds: since 1970.
    ///   - now: when the page is made, if people want to know how long ago; ms since 1970.
    package init(_ milliseconds: Int, now: Int? = nil) {
        iso = date(milliseconds)
        exact = iso.replacing("T", with: " ").replacing("Z", with: "") + " UTC"
        words = now.map { Self.span(from: milliseconds, to: $0) } ?? exact
    }

    /// A time as somebody else wrote it, such as RFC 3339.
    package init(written text: String) {
        iso = text
        exact = text.replacing("T", with: " ").replacing("Z", with: " UTC")
        words = exact
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
