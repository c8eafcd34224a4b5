import Adjustments
import JobQueue
import Worker

/// Makes and publishes nothing: what is left of a job is the queue and the worker.
struct NoOpHandler: JobHandler {
    func make(
        _ claim: Claim, _ hold: JobHold, _ desk: JobDesk
    ) async throws -> MadeJob {
        .version(JobEvent.Completed(ofNothing: claim, by: "bench"), isDraft: false)
    }

    func publish(_ version: CommittedVersion) async throws(Failure) -> PublishOutcome { .published }
    func discard(_ hold: StagedHold) async throws(Failure) {}
    func sweep(_ hold: StagedHold) async throws(Failure) -> Bool { true }
    func reach() async throws(Failure) {}
    func staged() async throws(Failure) -> [StagedHold] { [] }
}
