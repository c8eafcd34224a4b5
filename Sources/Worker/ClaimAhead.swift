/// How many jobs a worker holds beyond its slots, so that files of some travel while those of others are rendered.
///
/// As many as travel on average while all slots render: slots × time on the way ÷ time of a render (Little's law).
struct ClaimAhead: Sendable {
    /// Most jobs for each slot. Source: a photo of 6 MB that waits 0.36 s for a store and renders for 0.14 s needs 2.6.
    static let perSlotMax = 3
    /// The weight of a new job in the averages.
    private static let weight = 0.125

    private let slots: Int
    /// Seconds of a job, averaged; nil before the first one.
    private var mean: (travel: Double, render: Double)?

    /// - Parameter slots: of the worker; 0 where no files travel.
    init(slots: Int) { self.slots = slots }

    /// How many jobs: as many as slots while nothing is known.
    var jobs: Int {
        guard let mean else { return slots }
        let most = slots * Self.perSlotMax
        let wanted = (Double(slots) * mean.travel / mean.render).rounded(.up)
        return wanted < Double(most) ? Int(wanted) : most
    }

    /// Learns from a job that has ended.
    mutating func note(_ times: StageTimes) {
        let travel = (times.fetching + times.publishing) / .seconds(1)
        // No zero: an edit that renders nothing is all travel.
        let render = max(times.rendering / .seconds(1), 1e-6)
        guard let old = mean else { return mean = (travel, render) }
        mean = (
            old.travel + (travel - old.travel) * Self.weight,
            old.render + (render - old.render) * Self.weight
        )
    }
}
