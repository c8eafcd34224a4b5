import Adjustments
import JobQueue
import Worker

/// Commits and finalizes without doing anything between.
struct NoOpHandler: JobHandler {
    let queue: JobQueue
    let done: AsyncStream<Void>.Continuation

    func handle(_ claim: Claim, _ hold: JobHold) async {
        let event = JobEvent.Completed(ofNothing: claim, by: "bench")
        do {
            _ = try await queue.commit(claim, event, isDraft: false)
            _ = try await queue.finalize(job: claim.job, fence: claim.fence)
            done.yield()
        } catch {
            preconditionFailure("the benchmark needs a Redis that answers: \(error)")
        }
    }

    func carryOn(_ job: CarriedJob, _ hold: JobHold) async {}
    func sweep() async {}
}
