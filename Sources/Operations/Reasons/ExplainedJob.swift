public import JobQueue

/// All facts of a job and the sentence that they come to, as `minilab explain --json` prints them.
public struct ExplainedJob: Sendable, Encodable {
    private let facts: JobFacts

    /// Of these facts.
    public init(_ facts: JobFacts) { self.facts = facts }

    /// All of them are texts, as Redis has them.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(
            facts.fields.merging(["job": facts.job, "sentence": facts.sentence]) { $1 })
    }
}
