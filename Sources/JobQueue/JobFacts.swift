import Redis

/// All that says why a job is where it is, read at one moment but for the number of workers.
public struct JobFacts: Sendable, Equatable {
    /// The job.
    public let job: String
    let fields: [String: String]

    init(job: String, _ fields: [String: String]) {
        self.job = job
        self.fields = fields
    }

    /// A job's state; or `incoming` and `lane` for what is not yet a job, `dropped` for one of which only the name is
    /// left, and `unknown`.
    public var state: String { fields["state"] ?? "unknown" }

    func text(_ name: String) -> String? { fields[name] }
    func number(_ name: String) -> Int? { fields[name].flatMap { Int($0) } }
    func has(_ name: String) -> Bool { fields[name] != nil }
}

extension JobFacts: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(fields.merging(["job": job, "sentence": sentence]) { $1 })
    }
}

extension JobQueue {
    /// Most flows that are looked at.
    private static let explainFlowsMax = 1000

    /// What there is to say about a job, known or not.
    public func facts(of job: String) async throws(QueueError) -> JobFacts {
        let reply = try await run(
            QueueScript.explain, [RedisArgument(job), RedisArgument(Self.explainFlowsMax)])
        guard var fields = reply.pairs else { throw unexpected(reply, of: QueueScript.explain) }
        // Asked apart from the script: a thousand workers are too many texts to read while Redis waits.
        let workers = try await workers()
        fields["workers"] = "\(workers.count)"
        fields["slots"] = "\(workers.reduce(0) { $0 + $1.slots })"
        if fields["incoming"] != nil, let hold = try await ingressHold() {
            fields["hold"] = hold.sentence
        }
        return JobFacts(job: job, fields)
    }
}
