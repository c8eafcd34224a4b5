public import JobQueue

/// The facts of a job and the sentence derived from them, as `minilab explain --json` prints them.
public struct ExplainedJob: Sendable, Encodable {
    private let facts: JobFacts

    /// Creates the value from facts.
    public init(_ facts: JobFacts) { self.facts = facts }

    /// Encodes all facts as texts, as in Redis.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(
            facts.fields.merging(["job": facts.job, "sentence": facts.sentence]) { $1 })
    }
}
