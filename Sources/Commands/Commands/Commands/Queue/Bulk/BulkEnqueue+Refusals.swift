import Edits
import JobQueue
import Operations

extension BulkEnqueue {
    /// Returns the reason for which the jobs of the file could never run.
    ///
    /// - Parameter sent: the number of the file's jobs that were sent before.
    func refusal(_ answer: JobQueue.Addition, after sent: Int = 0) -> Failure {
        let advice = "Nothing was added; give another name with --batch."
        switch answer {
        case .added(let count):
            preconditionFailure("\(count) members were added, which is no refusal")
        case .gap(let had):
            return Failure(
                .internalError,
                "batch \(batch.id) has had only \(had) jobs where \(sent) were sent: its stream was dropped, or "
                    + "another producer adds to it. Send the file again.")
        case .cancelled:
            return Failure(
                .invalidValue, "batch \(batch.id) was cancelled and takes no more jobs. \(advice)")
        case .sealed(let jobs):
            return Failure(
                .invalidValue,
                "batch \(batch.id) is sealed at \(jobs) jobs, and this file has \(survey.jobs). \(advice)"
            )
        case .notOpen:
            preconditionFailure("the command opens its batch before it adds members")
        case .overBytes(let stored, let most):
            return Failure(
                .invalidValue,
                "the jobs of this tenant take \(stored) bytes of Redis, and \(most) are allowed. \(advice)"
            )
        case .otherEdit:
            return Failure(
                .invalidValue, "batch \(batch.id) already exists with a different edit. \(advice)")
        case .nameUsed(let end):
            let until = end.map { ", at the latest until \(date($0))" } ?? ""
            return Failure(
                .invalidValue,
                "a batch \(batch.id) has ended, and its name is remembered\(until). \(advice)")
        }
    }
}
