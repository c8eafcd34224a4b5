/// The number of jobs that a worker holds beyond its slots, so that some jobs transfer their files while others
/// render.
///
/// It is the average number of jobs in transfer while all slots render: slots × transfer time ÷ render time
/// (Little's law).
struct ClaimAhead: Sendable {
    /// The largest number of extra jobs for each slot. Source: a photo of 6 MB that waits 0.36 s for a store and
    /// renders for 0.14 s needs 2.6.
    static let perSlotMax = 3
    /// The weight of a new job in the moving averages.
    private static let weight = 0.125

    private let slots: Int
    /// The averaged transfer and render times of a job, in seconds; nil before the first job.
    private var mean: (travel: Double, render: Double)?

    /// - Parameter slots: the worker's slots; 0 if the handler transfers no files.
    init(slots: Int) { self.slots = slots }

    /// The number of extra jobs. Before the first measurement it equals the number of slots.
    var jobs: Int {
        guard let mean else { return slots }
        let most = slots * Self.perSlotMax
        let wanted = (Double(slots) * mean.travel / mean.render).rounded(.up)
        return wanted < Double(most) ? Int(wanted) : most
    }

    /// Adds a finished job to the averages.
    mutating func note(_ times: StageTimes) {
        let travel = (times.fetching + times.publishing) / .seconds(1)
        // Avoids a division by zero: an edit that renders nothing consists of transfer only.
        let render = max(times.rendering / .seconds(1), 1e-6)
        guard let old = mean else { return mean = (travel, render) }
        mean = (
            old.travel + (travel - old.travel) * Self.weight,
            old.render + (render - old.render) * Self.weight
        )
    }
}
