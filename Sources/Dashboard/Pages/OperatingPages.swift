package import JobQueue

/// Pause, and the tenants' limits.
package struct LimitsPage: Page {
    package let frame: Frame
    package let title = "Limits"
    /// Why the queue is paused; nil when it is not.
    let paused: String?
    let tenants: [TenantRow]
    let hasTenants: Bool
    let action: String

    package static let section: Section? = .limits
    package static let template = "limits"

    package init(_ frame: Frame, paused: String?, tenants: [TenantRow]) {
        self.frame = frame
        self.paused = paused
        self.tenants = tenants
        hasTenants = !tenants.isEmpty
        action = Links.limits
    }
}

/// A tenant's limits beside what it has.
package struct TenantRow: View {
    let tenant: String
    /// Makes the ids of its fields unique.
    let number: Int
    let cap: Int?
    let weight: Int?
    let ready: String
    let running: String
    let isPaused: Bool

    /// - Parameters:
    ///   - number: its place in the table.
    ///   - cap: jobs at a time; 0 pauses the tenant, nil is no limit.
    ///   - weight: its share beside the others'; nil is 1.
    package init(
        number: Int, tenant: String, cap: Int?, weight: Int?, ready: Int, running: Int
    ) {
        self.number = number
        self.tenant = tenant
        self.cap = cap
        self.weight = weight
        self.ready = grouped(ready)
        self.running = grouped(running)
        isPaused = cap == 0
    }
}

/// Whether everything in Redis is as it must be.
package struct DoctorPage: Page {
    package let frame: Frame
    package let title = "Doctor"
    let state: StateMark
    let sentence: String
    let open: [FindingRow]
    let mended: [FindingRow]
    let warnings: [String]
    let hasOpen: Bool
    let hasMended: Bool
    let hasWarnings: Bool
    let action: String

    package static let section: Section? = .doctor
    package static let template = "doctor"
    /// Most findings of a sort that are shown.
    package static let findingsMax = 200

    /// - Parameter diagnosis: nil when nobody has looked yet.
    package init(_ frame: Frame, _ diagnosis: Diagnosis?) {
        self.frame = frame
        let open = diagnosis?.open ?? []
        self.open = open.prefix(Self.findingsMax).map(FindingRow.init)
        mended = diagnosis?.mended.prefix(Self.findingsMax).map(FindingRow.init) ?? []
        warnings = Array(diagnosis?.warnings.prefix(Self.findingsMax) ?? [])
        hasOpen = !open.isEmpty
        hasMended = !mended.isEmpty
        hasWarnings = !warnings.isEmpty
        action = Links.doctor
        guard let diagnosis else {
            state = StateMark("not looked", "?", "calm")
            sentence = "Nobody has looked yet."
            return
        }
        let looked =
            "looked at \(grouped(diagnosis.places)) places of jobs, \(grouped(diagnosis.flows)) flows and "
            + "\(grouped(diagnosis.batches)) batches."
        if diagnosis.isHealthy {
            state = StateMark("healthy", "✓", "good")
            sentence = "Everything is as it must be: " + looked
        } else {
            state = StateMark("findings", "✕", "trouble")
            sentence = "\(grouped(open.count)) things are not as they must be; " + looked
        }
    }
}

/// One thing that is not as it must be.
package struct FindingRow: View {
    let kind: String
    let sentence: String
    let advice: String?

    package init(_ finding: Finding) {
        kind = finding.kind.rawValue
        sentence = finding.sentence
        advice = finding.advice
    }
}

/// Who did what.
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
