package import Adjustments
package import FoundationEssentials
package import JobQueue

/// Which dead jobs are meant, as somebody wrote it; several conditions together mean those to which all apply.
package struct DeadFilterText: Sendable {
    package var batch: String?
    package var tenant: String?
    /// Codes of failures, such as `renderCrashed`.
    package var codes: [String] = []
    /// A time, such as `2026-11-21T06:00:00Z`, or how long ago: `30m`, `2h`, `3d`.
    package var since: String?
    package var until: String?
    /// SHA-256 of the edit's canonical JSON, in hex.
    package var edit: String?

    package init() {}

    /// Whether there is any condition.
    package var isGiven: Bool {
        [batch, tenant, since, until, edit].contains { $0 != nil } || !codes.isEmpty
    }

    /// Longest time ago that is understood.
    private static let agoMax: Duration = .seconds(36500 * 86400)

    /// The filter that is meant.
    ///
    /// - Parameters:
    ///   - now: the moment from which a time ago counts.
    ///   - name: what a condition is called where it was written, for errors: `--since`, say.
    /// - Throws: `invalidValue`.
    package func filter(
        now: Date, name: (String) -> String
    ) throws(Failure) -> DeadFilter {
        var filter = DeadFilter()
        if let batch { filter.batch = try BatchID(batch) }
        if let tenant { filter.tenant = try JobID(tenant) }
        for text in codes {
            guard let code = FailureCode(rawValue: text) else {
                throw Failure(
                    .invalidValue,
                    "\(name("code")) \(text.debugDescription) is not a code; known: "
                        + FailureCode.allCases.map(\.rawValue).joined(separator: ", ") + ".")
            }
            filter.codes.insert(code)
        }
        if let since { filter.since = try Self.time(since, of: name("since"), now) }
        if let until { filter.until = try Self.time(until, of: name("until"), now) }
        if let edit {
            guard Self.isDigest(edit) else {
                throw Failure(
                    .invalidValue,
                    "\(name("edit")) is \(String(edit.prefix(80)).debugDescription); expected a SHA-256 in 64 "
                        + "hexadecimal digits.")
            }
            filter.edit = edit
        }
        return filter
    }

    /// Whether a text is a SHA-256 in lower hex.
    package static func isDigest(_ text: String) -> Bool {
        text.utf8.count == 64
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// A moment as people write it: RFC 3339 in UTC, or how long before now.
    ///
    /// - Parameter name: what it is called where it was written, for errors.
    /// - Returns: ms since 1970.
    /// - Throws: `invalidValue`.
    package static func time(
        _ text: String, of name: String, _ now: Date
    ) throws(Failure) -> Int {
        if let ago = Duration(written: text) {
            guard ago <= agoMax else {
                throw Failure(.invalidValue, "\(name) \(text) is more than a century ago.")
            }
            return Int(now.timeIntervalSince1970 * 1000) - Int(ago / .milliseconds(1))
        }
        let checked = try Scheduling.time(text, of: name)
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: checked.contains("."))
        do {
            return Int(try Date(checked, strategy: style).timeIntervalSince1970 * 1000)
        } catch {
            throw Failure(
                .invalidValue, "\(name) \(text.debugDescription) is no day of the calendar.")
        }
    }
}
