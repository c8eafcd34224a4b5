public import JobQueue

/// The facts of a job and the sentence derived from them, as `minilab explain --json` prints them.
public struct ExplainedJob: Sendable, Encodable {
    private let facts: JobFacts

    public init(_ facts: JobFacts) { self.facts = facts }

    private enum Value: Encodable {
        case number(Int), text(String)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .number(let number): try container.encode(number)
            case .text(let text): try container.encode(text)
            }
        }
    }

    /// The facts that are numbers. Redis has all facts as texts, and a tenant or a job may be called `7`. Times are ms since 1970.
    private static let numbers: Set = [
        "now", "mean", "ownMean", "open", "cap", "running", "rank", "flowsAhead", "before",
        "format", "generation",
        "attempts", "crashes", "carries", "claimed", "framesDone", "frames", "enqueued", "deadline",
        "ended", "due", "leaseEnds", "since", "incoming", "batchCap", "workers", "slots",
        "holdEntries", "holdJobs", "holdBytes",
    ]

    /// Encodes all facts, numbers as numbers.
    public func encode(to encoder: any Encoder) throws {
        let texts = facts.fields.merging(["job": facts.job, "sentence": facts.sentence]) { $1 }
        var values: [String: Value] = [:]
        for (name, text) in texts {
            let number = Self.numbers.contains(name) ? Int(text) : nil
            values[name] = number.map(Value.number) ?? .text(text)
        }
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }
}
