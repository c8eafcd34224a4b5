public import Adjustments
import FoundationEssentials

/// One line of a job's history: why an attempt ended.
public struct Attempt: Sendable, Codable, Equatable {
    /// When, RFC 3339; by Redis' clock for a lost lease, by the worker's for a failure.
    public let at: String
    /// Why, for programs.
    public let code: FailureCode
    /// Why, for people.
    public package(set) var message: String
    /// The fence of the attempt.
    public let fence: String
    /// Who tried.
    public package(set) var worker: String
    /// How far it had come, as far as is known: `waiting` (for memory), `rendering`, `publishing`.
    public let stage: String?
    /// The signal that killed the render child, if one did.
    public let signal: Int?

    /// What a worker knows of an attempt beyond its failure.
    public struct Trace: Sendable {
        /// How far it had come.
        public var stage: String?
        /// The signal that killed the render child.
        public var signal: Int?

        /// What is known.
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
