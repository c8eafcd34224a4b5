import JobQueue
import Logging

extension JobRunner {
    /// The desk of a job that its worker holds. A part of a job has none of its own to give away.
    func desk(of claim: Claim) -> JobDesk {
        var desk = JobDesk()
        guard claim.parent == nil else { return desk }
        desk.placeholder = { await preview(claim, $0) }
        desk.split = { task, numbers in
            do throws(QueueError) {
                return try await queue.split(claim, task: task, into: numbers) == .held
            } catch {
                // The job is done as well without help.
                logger.notice(
                    "the parts of a movie are rendered here alone", metadata: ["error": "\(error)"])
                return false
            }
        }
        desk.takePart = { number in
            do throws(QueueError) {
                let part = try await queue.takePart(claim, number)
                return JobDesk.Part(isOurs: part.standing == .ours, ended: part.ended)
            } catch {
                // It is asked again; a lease that ends meanwhile ends the job here.
                logger.notice("a part cannot be taken back yet", metadata: ["error": "\(error)"])
                return JobDesk.Part(isOurs: false, ended: [])
            }
        }
        return desk
    }
}
