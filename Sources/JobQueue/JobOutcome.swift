public import Adjustments
import FoundationEssentials

/// How a job was done: with a version, or without.
public enum JobOutcome: Sendable {
    /// A version was published.
    case completed(JobEvent.Completed)
    /// A version was prepared.
    case drafted(JobEvent.Completed)
    /// There was nothing to do.
    case unchanged(JobEvent.Unchanged)
    /// A newer edit of the asset was published before.
    case superseded(JobEvent.Superseded)
    /// Nobody wanted it any more.
    case cancelled(JobEvent.Cancelled)

    /// The outcomes as events and Redis call them.
    enum Name: String { case completed, drafted, unchanged, superseded, cancelled }

    /// Reads a stored result; fails for a name that this version of minilab does not know.
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
