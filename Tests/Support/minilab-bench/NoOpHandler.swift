import Edits
import JobQueue
import Worker

/// A handler that renders and publishes nothing, so that only the queue and the worker are measured.
struct NoOpHandler: JobHandler {
    func make(
        _ claim: Claim, _ hold: HeldJob, _ desk: JobDesk
    ) async throws -> MadeJob {
        .version(JobEvent.Completed(ofNothing: claim, by: "bench"), isDraft: false)
    }

    func publish(_ version: CommittedVersion) async throws(Failure) -> PublishOutcome { .published }
    func discard(_ hold: StagedHold) async throws(Failure) {}
    func sweep(_ hold: StagedHold) async throws(Failure) -> Bool { true }
    func reach() async throws(Failure) {}
    func staged() async throws(Failure) -> [StagedHold] { [] }
}
