public import JobQueue

/// What a worker does with a job that it holds, from claim to end.
///
/// The one implementation for photos is ``PhotoJobHandler``; the queue's benchmark has one that does
/// nothing, `ops/chaos` one that publishes marks, and tests have theirs.
public protocol JobHandler: Sendable {
    /// Carries a claimed job to its end: done, failed, or handed back.
    func handle(_ claim: Claim, _ hold: JobHold) async
    /// Finishes a job that another worker left between commit and finalize.
    func carryOn(_ job: CarriedJob, _ hold: JobHold) async
    /// Removes what dead workers left behind.
    func sweep() async
}
