/// The problems of a process, with their durations and advice; empty if the process is healthy.
public struct HealthReport: Sendable, Encodable, Equatable {
    /// One problem.
    public struct Problem: Sendable, Encodable, Equatable {
        /// The description, a sentence.
        public let what: String
        /// The duration so far in seconds; nil if the problem exists since the start.
        public let forSeconds: Double?
        /// The action to take.
        public let action: String

        /// Creates a problem.
        public init(what: String, forSeconds: Double?, action: String) {
            self.what = what
            self.forSeconds = forSeconds
            self.action = action
        }
    }

    /// Whether there is no problem.
    public let ok: Bool
    /// The problems.
    public let problems: [Problem]

    /// Creates a report of problems.
    public init(_ problems: [Problem]) {
        ok = problems.isEmpty
        self.problems = problems
    }
}
