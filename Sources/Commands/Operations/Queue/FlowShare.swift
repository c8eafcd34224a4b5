package import JobQueue

/// The fraction of its priority's work that a flow received recently, and the fraction that was due: both from 0 to 1.
///
/// Both are computed from the flows' virtual times at two moments (start-time fair queuing). A flow that was served advances by
/// the cost of its jobs over its tenant's weight, so its work is its advance times the weight. The fraction due to a flow that
/// had jobs at both moments is its weight over the sum of the weights of all such flows.
package struct FlowShare: Sendable, Equatable {
    package let had: Double
    package let due: Double

    /// - Parameter weights: The weights of tenants with a weight other than 1.
    /// - Returns: The shares by `<priority>:<tenant>`, of flows that had jobs at both moments and are not at a cap: a cap, not
    ///   the weight, determines the work due to a flow at its cap. A priority without any work has no shares.
    package static func shares(
        from before: [QueueStatus.Flow], to after: [QueueStatus.Flow], weights: [String: Int]
    ) -> [String: FlowShare] {
        let starts = Dictionary(
            before.filter { !$0.isCapped }.map { (name($0), $0.start) }, uniquingKeysWith: max)
        var work: [String: [(flow: String, had: Double, weight: Double)]] = [:]
        for flow in after where !flow.isCapped {
            guard let start = starts[name(flow)] else { continue }
            let weight = Double(max(1, weights[flow.tenant] ?? 1))
            // Corrections of costs may move a flow back a little.
            let advance = Double(max(0, flow.start - start))
            work[flow.priority, default: []].append((name(flow), advance * weight, weight))
        }
        var shares: [String: FlowShare] = [:]
        for flows in work.values {
            let had = flows.reduce(0) { $0 + $1.had }
            let due = flows.reduce(0) { $0 + $1.weight }
            guard had > 0 else { continue }
            for flow in flows {
                shares[flow.flow] = FlowShare(had: flow.had / had, due: flow.weight / due)
            }
        }
        return shares
    }

    private static func name(_ flow: QueueStatus.Flow) -> String {
        "\(flow.priority):\(flow.tenant)"
    }
}
