package import JobQueue

/// The ready jobs of one tenant at one priority, and its share of the work.
package struct FlowBar: View {
    let tenant: String
    let priority: String
    let ready: String
    let isCapped: Bool
    /// The length in percent of the longest bar.
    let width: Int
    let share: Share?

    /// The share of the work that a flow received, and its fair share.
    package struct Share: View {
        /// The received share, in percent.
        let had: Int
        let due: Int
        /// Whether it received clearly less than its fair share: under three quarters.
        let isShort: Bool

        /// - Parameters: shares from 0 to 1.
        package init(had: Double, due: Double) {
            func percent(_ value: Double) -> Int {
                value.isFinite ? Int(min(max(value, 0), 1) * 100) : 0
            }
            self.had = percent(had)
            self.due = percent(due)
            isShort = had < due * 0.75
        }
    }

    /// - Parameter most: the number of ready jobs of the largest flow.
    package init(_ flow: QueueStatus.Flow, most: Int, share: Share? = nil) {
        tenant = flow.tenant
        priority = flow.priority
        ready = grouped(flow.ready)
        isCapped = flow.isCapped
        width = flow.ready > 0 ? max(1, portion(flow.ready, of: most)) : 0
        self.share = share
    }
}
