import Editing
import Edits
import JobQueue
import Library
import Worker

/// A handler that renders and publishes nothing, so that only the queue and the worker are measured.
struct NoOpHandler: JobHandler {
    func make(
        _ claim: Claim, _ hold: HeldJob, _ desk: JobDesk
    ) async throws -> MadeJob {
        .version(.init(ofNothing: claim), isDraft: false)
    }

    func publish(_ version: CommittedVersion) async throws(Failure) -> Publication { .published }
    func discard(_ hold: Hold) async throws(Failure) {}
    func sweep(_ hold: Hold) async throws(Failure) -> Bool { true }
    func reach() async throws(Failure) {}
    func staged() async throws(Failure) -> [Hold] { [] }
}
