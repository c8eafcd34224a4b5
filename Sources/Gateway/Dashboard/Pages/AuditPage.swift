/// The page of the audit log: the changes that people and keys made.
package struct AuditPage: Page {
    package let frame: Frame
    package let title = "Audit"
    let who: String?
    let tenant: String?
    let rows: [AuditRow]
    let isEmpty: Bool
    let nextHref: String?
    let action: String

    package static let section: Section? = .audit
    package static let template = "audit"

    /// - Parameters:
    ///   - who: restricts the page to this person or key; nil for all.
    ///   - tenant: shows what this tenant's keys did; nil for what operators did.
    ///   - next: the cursor after the last row.
    package init(
        _ frame: Frame, who: String?, tenant: String? = nil, rows: [AuditRow], next: String?
    ) {
        self.frame = frame
        self.who = who
        self.tenant = tenant
        self.rows = rows
        isEmpty = rows.isEmpty
        nextHref = next.map {
            Links.query(Links.audit, [("tenant", tenant), ("who", who), ("after", $0)])
        }
        action = Links.audit
    }
}

/// One change.
package struct AuditRow: View {
    let at: Moment
    let who: String
    let action: String
    let subject: String?
    let count: String?

    /// - Parameters:
    ///   - action: the kind of change: `replay`, `pause`, `cancel batch` …
    ///   - subject: the filter or the name, as text.
    ///   - count: the number of affected jobs.
    package init(at: Moment, who: String, action: String, subject: String?, count: Int?) {
        self.at = at
        self.who = who
        self.action = action
        self.subject = subject
        self.count = count.map(grouped)
    }
}
