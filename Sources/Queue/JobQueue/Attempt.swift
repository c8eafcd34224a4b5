public import Edits
import FoundationEssentials

/// One entry of a job's history: the reason why an attempt failed.
public struct Attempt: Sendable, Codable, Equatable {
    /// The time of the failure, RFC 3339: by Redis' clock for a lost lease, by the worker's clock otherwise.
    public let at: String
    /// The reason, for programs.
    public let code: FailureCode
    /// The reason, for people.
    public package(set) var message: String
    /// The fence of the attempt.
    public let fence: String
    /// The worker that made the attempt.
    public package(set) var worker: String
    /// The stage that the attempt had reached, if it is known: `waiting` (for memory), `rendering`, `publishing`.
    public let stage: String?
    /// The signal that killed the render child, if any.
    public let signal: Int?

    /// The facts of an attempt that its failure does not contain.
    public struct Trace: Sendable {
        /// The stage that the attempt had reached.
        public var stage: String?
        /// The signal that killed the render child.
        public var signal: Int?

        /// Creates a trace.
        public init(stage: String? = nil, signal: Int? = nil) {
            self.stage = stage
            self.signal = signal
        }
    }

    init(fence: String, worker: String, failure: Failure, trace: Trace) {
        at = Date.now.formatted(.iso8601)
        code = failure.code
        message = failure.message
        self.fence = fence
        self.worker = worker
        stage = trace.stage
        signal = trace.signal
    }
}
