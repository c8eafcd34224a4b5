/// The page that pauses the queue and sets the tenants' limits.
package struct LimitsPage: Page {
    package let frame: Frame
    package let title = "Limits"
    /// The reason for which the queue is paused; nil if it is not paused.
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

/// A tenant's limits and its ready and running jobs.
package struct TenantRow: View {
    let tenant: String
    /// A number that makes the ids of the tenant's fields unique.
    let number: Int
    let cap: Int?
    let weight: Int?
    let ready: String
    let running: String
    let isPaused: Bool

    /// - Parameters:
    ///   - number: the row's position in the table.
    ///   - cap: the most concurrent jobs; 0 pauses the tenant, nil sets no limit.
    ///   - weight: the tenant's weight in the fair share; nil for 1.
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
