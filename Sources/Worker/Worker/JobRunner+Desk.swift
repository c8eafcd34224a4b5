import Editing
import JobQueue
import Logging

extension JobRunner {
    /// Returns the desk of a job that its worker holds. A job that is itself a part cannot be split.
    func desk(of claim: Claim) -> JobDesk {
        var desk = JobDesk()
        guard claim.parent == nil else { return desk }
        desk.placeholder = { await preview(claim, $0) }
        desk.parts.split = { task, numbers in
            do throws(QueueError) {
                return try await queue.split(claim, task: task, into: numbers) == .held
            } catch {
                // The worker can render all parts without help.
                logger.notice(
                    "the parts of a movie are rendered here alone", metadata: ["error": "\(error)"])
                return false
            }
        }
        desk.parts.claimPart = { number in
            do throws(QueueError) {
                let part = try await queue.claimPart(claim, number)
                return PartSharing.Part(isOurs: part.state == .ours, ended: part.ended)
            } catch {
                // The caller tries again. If the lease ends first, the hold cancels the job here.
                logger.notice("a part cannot be taken back yet", metadata: ["error": "\(error)"])
                return PartSharing.Part(isOurs: false, ended: [])
            }
        }
        return desk
    }
}
