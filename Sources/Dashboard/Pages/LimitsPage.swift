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
