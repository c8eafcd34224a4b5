import JobQueue
package import Operations

package struct NowPage: Page {
    package let frame: Frame
    package let title = "Now"
    package let live: String?
    let health: Health
    let funnel: Funnel
    let sparks: [Spark]
    let flows: [FlowBar]
    /// The number of flows that the page does not show: `, and 980 more`.
    let moreFlows: String?
    let workers: [WorkerRow]
    let running: [JobRow]
    let moreRunning: String?
    let batches: [BatchRow]
    let moreBatches: String?

    package static let section: Section? = .now
    package static let template = "now"
    package static let parts = [
        "health", "funnel", "sparks", "flows", "running", "workers", "batches",
    ]

    /// The most flows that the page shows: those with the most ready jobs.
    package static let flowsMax = 24
    /// The most running jobs that the page shows.
    package static let runningMax = 20

    /// - Parameters:
    ///   - snapshot: the current state of the queue.
    ///   - sparks: the curves of the last hour.
    ///   - shares: the recent and the fair share of the work of each flow, from 0 to 1, by `<priority>:<tenant>`.
    ///   - now: the current time in ms since 1970.
    package init(
        _ frame: Frame, snapshot: QueueSnapshot, sparks: [Spark] = [],
        shares: [String: FlowBar.Share] = [:], now: Int
    ) {
        self.frame = frame
        live = Links.live("now")
        let status = snapshot.status
        health = Health(status)
        funnel = Funnel(status)
        self.sparks = sparks
        let most = status.flows.map(\.ready).max() ?? 0
        flows = status.flows.sorted { $0.ready > $1.ready }.prefix(Self.flowsMax)
            .map {
                FlowBar($0, most: most, share: shares["\($0.priority):\($0.tenant)"])
            }
        let flowsLeft = status.flows.count - flows.count
        moreFlows = flowsLeft > 0 ? grouped(flowsLeft) : nil
        workers = status.workers.sorted { $0.name < $1.name }
            .map { WorkerRow($0, inHand: status.inHand(of: $0)) }
        running = status.held.prefix(Self.runningMax).map { JobRow($0, now: now) }
        let runningLeft = status.inHand - running.count
        moreRunning = runningLeft > 0 ? grouped(runningLeft) : nil
        batches = snapshot.batches.map(BatchRow.init)
        moreBatches = snapshot.moreBatches > 0 ? grouped(snapshot.moreBatches) : nil
    }
}
