public import Edits
import FoundationEssentials

/// The way in which a job was done: with a version, or without.
public enum JobOutcome: Sendable {
    /// A version was published.
    case completed(JobEvent.Completed)
    /// A draft was prepared.
    case drafted(JobEvent.Completed)
    /// There was nothing to do.
    case unchanged(JobEvent.Unchanged)
    /// A newer edit of the asset was published before.
    case superseded(JobEvent.Superseded)
    /// The job was cancelled.
    case cancelled(JobEvent.Cancelled)

    /// The names of the outcomes in events and in Redis.
    enum Name: String { case completed, drafted, unchanged, superseded, cancelled }

    /// Decodes a stored result. Throws for a name that this version of minilab does not know.
    init(_ name: String, json: Data) throws {
        let decoder = JSONDecoder()
        switch Name(rawValue: name) {
        case .completed: self = .completed(try decoder.decode(JobEvent.Completed.self, from: json))
        case .drafted: self = .drafted(try decoder.decode(JobEvent.Completed.self, from: json))
        case .unchanged: self = .unchanged(try decoder.decode(JobEvent.Unchanged.self, from: json))
        case .superseded:
            self = .superseded(try decoder.decode(JobEvent.Superseded.self, from: json))
        case .cancelled: self = .cancelled(try decoder.decode(JobEvent.Cancelled.self, from: json))
        case nil: throw Failure(.internalError, "no outcome is called \(name.debugDescription).")
        }
    }
}
