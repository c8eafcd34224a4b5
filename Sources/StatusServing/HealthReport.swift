/// The troubles of a process, since when, and what to do; empty when all is well.
public struct HealthReport: Sendable, Encodable, Equatable {
    /// One thing that is wrong.
    public struct Problem: Sendable, Encodable, Equatable {
        /// A sentence.
        public let what: String
        /// Since when, in seconds back; nil when it was so from the start.
        public let forSeconds: Double?
        /// The advice about it.
        public let action: String

        /// Something that is wrong.
        public init(what: String, forSeconds: Double?, action: String) {
            self.what = what
            self.forSeconds = forSeconds
            self.action = action
        }
    }

    /// Whether nothing is wrong.
    public let ok: Bool
    /// The troubles.
    public let problems: [Problem]

    /// A report of these.
    public init(_ problems: [Problem]) {
        ok = problems.isEmpty
        self.problems = problems
    }
}
