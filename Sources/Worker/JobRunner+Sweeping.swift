import Adjustments
import JobQueue
import Logging

extension JobRunner {
    /// Removes what a hold has staged and nobody will publish.
    func discard(_ staged: StagedHold) async {
        do {
            try await handler.discard(staged)
        } catch {
            logger.warning(
                "a staged version stays behind until the next sweep",
                metadata: ["error": "\(error)"])
        }
    }

    /// Removes what dead workers have staged.
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

    /// Whether what is staged belongs to the job's present hold, or waits to be published.
    ///
    /// Fences never come back, so what is unwanted once is unwanted for ever.
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
