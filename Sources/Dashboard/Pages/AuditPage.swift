/// The deeds of people and keys.
package struct AuditPage: Page {
    package let frame: Frame
    package let title = "Audit"
    let who: String?
    let rows: [AuditRow]
    let isEmpty: Bool
    let nextHref: String?
    let action: String

    package static let section: Section? = .audit
    package static let template = "audit"

    /// - Parameters:
    ///   - who: only of this person or key.
    ///   - next: the cursor behind the last row.
    package init(_ frame: Frame, who: String?, rows: [AuditRow], next: String?) {
        self.frame = frame
        self.who = who
        self.rows = rows
        isEmpty = rows.isEmpty
        nextHref = next.map { Links.query(Links.audit, [("who", who), ("after", $0)]) }
        action = Links.audit
    }
}

/// One deed.
package struct AuditRow: View {
    let at: Moment
    let who: String
    let action: String
    let subject: String?
    let count: String?

    /// - Parameters:
    ///   - action: `replay`, `pause`, `cancel batch` …
    ///   - subject: the filter or the name, in words.
    ///   - count: of jobs that were meant.
    package init(at: Moment, who: String, action: String, subject: String?, count: Int?) {
        self.at = at
        self.who = who
        self.action = action
        self.subject = subject
        self.count = count.map(grouped)
    }
}
