package import Edits
import FoundationEssentials
import Operations

package struct Fact: View {
    let name: String
    let text: String
    let href: String?

    /// - Parameter href: a URL of ``Links``.
    package init(_ name: String, _ text: String, href: String? = nil) {
        self.name = name
        self.text = text
        self.href = href
    }
}

/// A thumbnail of a version that links to its asset.
package struct Picture: View {
    let asset: String
    let href: String
    let source: String

    /// - Parameter version: the name of the version, or `original`.
    package init(asset: String, version: String) {
        self.asset = asset.printable
        href = Links.asset(asset)
        source = Links.picture(asset, version: version)
    }
}

/// A time, for programs and for people.
package struct Moment: View {
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

/// A small curve over time, with a text alternative.
package struct Spark: View {
    let name: String
    let latest: String
    let unit: String
    /// The points of a polyline in a box of ``width`` × ``height``.
    let points: String
    /// The same points, closed along the bottom.
    let area: String
    let text: String
    let tone: String
    let width: Int
    let height: Int

    /// The box in which the curve is drawn.
    private static let box = (width: 240, height: 48)
    /// The most points of a curve; more values are averaged.
    private static let pointsMax = 120

    /// - Parameters:
    ///   - name: the name of the counted quantity: `Jobs a second`.
    ///   - values: the values at equal intervals, the oldest first.
    ///   - span: the total time, as text: `the last hour`.
    package init(
        _ name: String, _ values: [Double], unit: String, over span: String = "the last hour",
        isTrouble: Bool = false
    ) {
        self.name = name
        self.unit = unit
        (width, height) = Self.box
        let values = Self.thinned(values.map { $0.isFinite ? max($0, 0) : 0 })
        let highest = values.max() ?? 0
        latest = values.last.map(short) ?? "–"
        tone = isTrouble && highest > 0 ? "trouble" : "busy"
        text =
            values.isEmpty
            ? "the first value comes some 20 s after the gateway's start"
            : "now \(short(values[values.count - 1])), least \(short(values.min() ?? 0)), most \(short(highest)) "
                + "in \(span)"
        let step = values.count > 1 ? Double(width) / Double(values.count - 1) : 0
        let top = 2.0
        let room = Double(height) - 2 * top
        points = values.enumerated().map { index, value in
            let y = top + (highest > 0 ? room * (1 - value / highest) : room)
            return Self.number(Double(index) * step) + "," + Self.number(y)
        }.joined(separator: " ")
        area =
            values.count > 1 ? "0,\(height) " + points + " \(width),\(height)" : ""
    }

    private static func thinned(_ values: [Double]) -> [Double] {
        guard values.count > pointsMax else { return values }
        return (0..<pointsMax).map { index in
            let from = index * values.count / pointsMax
            let to = max(from + 1, (index + 1) * values.count / pointsMax)
            return values[from..<to].reduce(0, +) / Double(to - from)
        }
    }

    private static func number(_ value: Double) -> String {
        let tenths = whole(value * 10) ?? 0
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

package struct EditStep: View {
    let name: String
    /// The parameters, such as `inputIntensity 0.8`.
    let parameters: [String]

    package init(name: String, parameters: [String]) {
        self.name = name
        self.parameters = parameters
    }

    package init(_ filter: Filter) {
        self.init(name: filter.name, parameters: filter.parameterLines)
    }
}

package struct DiffLine: View {
    /// The kind of change: `added`, `removed`, `changed`, `same`.
    let kind: String
    /// The sign of the change: `+`, `−`, `~`, or none.
    let sign: String
    let text: String

    /// - Parameter line: a line of `RecipeComparison.lines`, whose first character is the sign.
    package init(_ line: String) {
        switch line.first {
        case "+": (kind, sign) = ("added", "+")
        case "-": (kind, sign) = ("removed", "−")
        case "~": (kind, sign) = ("changed", "~")
        default: (kind, sign) = ("same", " ")
        }
        text = String(line.dropFirst())
    }
}

/// A filter of dead jobs, as fields of a form and as a query.
package struct DeadSelection: View {
    let tenant: String?
    let code: String?
    /// The SHA-256 of the edit in hex.
    let edit: String?
    let batch: String?
    /// A time in the syntax of `DeadFilterText`.
    let since: String?
    /// A time in the syntax of `DeadFilterText`.
    let until: String?

    package init(
        tenant: String? = nil, code: String? = nil, edit: String? = nil, batch: String? = nil,
        since: String? = nil, until: String? = nil
    ) {
        self.tenant = tenant
        self.code = code
        self.edit = edit
        self.batch = batch
        self.since = since
        self.until = until
    }

    /// The conditions as values of a query.
    package var values: [(String, String?)] {
        [
            ("tenant", tenant), ("code", code), ("edit", edit), ("batch", batch), ("since", since),
            ("until", until),
        ]
    }

    /// Returns the URL of the list of these jobs.
    package func listed(after cursor: String? = nil) -> String {
        Links.query(Links.dead, values + [("list", "1"), ("after", cursor)])
    }

    package var preview: String { Links.query(Links.replayPreview, values) }

    /// The conditions as text: `code noSpace, tenant acme, until 2026-11-21T06:00:00Z`.
    package var text: String {
        let parts = values.compactMap { name, value in
            value.map { name + " " + (name == "edit" ? $0.prefix(12) + "…" : $0) }
        }
        return parts.isEmpty ? "all dead jobs" : parts.joined(separator: ", ")
    }
}
