package import JobQueue

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

package struct AuditRow: View {
    let at: Moment
    let who: String
    let action: String
    let subject: String?
    let count: String?

    package init(at: Moment, who: String, action: String, subject: String?, count: Int?) {
        self.at = at
        self.who = who
        self.action = action
        self.subject = subject
        self.count = count.map(grouped)
    }
}

/// The page of the doctor: whether the data in Redis are consistent.
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
    /// The most findings of each kind that the page shows.
    package static let findingsMax = 200

    /// - Parameter diagnosis: the result of the last run; nil before the first run.
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
            state = StateMark("not checked", "?", "calm")
            sentence = "The queue has not been checked yet."
            return
        }
        let extent =
            "checked \(grouped(diagnosis.places)) places of jobs, \(grouped(diagnosis.flows)) flows and "
            + "\(grouped(diagnosis.batches)) batches."
        if diagnosis.isHealthy {
            state = StateMark("healthy", "✓", "good")
            sentence =
                (hasWarnings
                    ? "Nothing is wrong, and there are warnings: "
                    : "Everything is as it must be: ")
                + extent
        } else {
            state = StateMark("findings", "✕", "trouble")
            sentence = "\(grouped(open.count)) things are not as they must be; " + extent
        }
    }
}

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

/// The page that pauses the queue and sets the tenants' limits.
package struct LimitsPage: Page {
    package let frame: Frame
    package let title = "Limits"
    /// The reason for which the queue is paused; nil if it is not paused.
    let paused: String?
    let tenants: [TenantRow]
    /// The number of tenants that the page does not show: `, and 980 more`.
    let moreTenants: String?
    let hasTenants: Bool
    let action: String

    package static let section: Section? = .limits
    package static let template = "limits"

    package init(_ frame: Frame, paused: String?, tenants: [TenantRow], moreTenants: Int = 0) {
        self.frame = frame
        self.paused = paused
        self.tenants = tenants
        self.moreTenants = moreTenants > 0 ? grouped(moreTenants) : nil
        hasTenants = !tenants.isEmpty
        action = Links.limits
    }
}

package struct TenantRow: View {
    let tenant: String
    /// A number that makes the ids of the tenant's fields unique.
    let number: Int
    let cap: Int?
    let weight: Int?
    let ready: String
    let running: String
    let isPaused: Bool

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
