import Edits
import JobQueue
import Logging

extension JobRunner {
    /// Removes the staged files of a hold that will not be published.
    func discard(_ staged: StagedHold) async {
        do {
            try await handler.discard(staged)
        } catch {
            logger.warning(
                "a staged version stays behind until the next sweep",
                metadata: ["error": "\(error)"])
        }
    }

    /// Removes the staged files of dead workers.
    func sweep() async {
        do {
            for staged in try await handler.staged() where try await !isWanted(staged) {
                guard try await handler.sweep(staged) else { continue }
                logger.info(
                    "swept", metadata: ["job": "\(staged.job)", "fence": "\(staged.fence)"])
            }
        } catch {
            logger.warning("sweeping staging failed", metadata: ["error": "\(error)"])
        }
    }

    /// Returns whether staged files belong to the job's present hold, or wait to be published.
    ///
    /// Fences are never reused, so files that are unwanted once stay unwanted.
    private func isWanted(_ staged: StagedHold) async throws(QueueError) -> Bool {
        guard let record = try await queue.record(of: staged.job) else { return false }
        switch record.state {
        case .active: return record.fence == staged.fence
        case .committing, .stuck:
            return record.version.map(CommittedVersion.fence(inName:)) == staged.fence
        default: return false
        }
    }
}
