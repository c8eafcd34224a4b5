import Redis

/// The facts that explain a job's state, read at one moment except for the number of workers.
public struct JobFacts: Sendable, Equatable {
    /// The job.
    public let job: String
    /// All facts by name, as the script `explain` returns them.
    package let fields: [String: String]

    package init(job: String, _ fields: [String: String]) {
        self.job = job
        self.fields = fields
    }

    /// The job's state; `incoming` or `lane` for an entry that is not yet a job, `dropped` for a job of which only the name is
    /// left, or `unknown`.
    public var state: String { fields["state"] ?? "unknown" }

    func text(_ name: String) -> String? { fields[name] }
    func number(_ name: String) -> Int? { fields[name].flatMap { Int($0) } }
    func has(_ name: String) -> Bool { fields[name] != nil }
}

extension JobFacts {
    /// The reason why entries stay in the ingress stream.
    var hold: IngressHold? {
        guard let entries = number("holdEntries"), let jobs = number("holdJobs"),
            let bytes = number("holdBytes")
        else { return nil }
        return IngressHold(entries: entries, jobs: jobs, bytes: bytes)
    }
}

extension JobQueue {
    /// The maximum number of flows that the script inspects.
    private static let explainFlowsMax = 1000

    /// Returns the facts of a job, whether the job is known or not.
    public func facts(of job: String) async throws(QueueError) -> JobFacts {
        let reply = try await run(
            QueueScript.explain, [RedisArgument(job), RedisArgument(Self.explainFlowsMax)])
        guard var fields = reply.pairs else { throw unexpected(reply, of: QueueScript.explain) }
        // Read outside the script: the records of a thousand workers are too many to read while Redis waits.
        let workers = try await workers()
        fields["workers"] = "\(workers.count)"
        let troubled = workers.filter { $0.trouble != nil }
        fields["slots"] = "\(workers.reduce(0) { $0 + ($1.trouble == nil ? $1.slots : 0) })"
        if let first = troubled.first {
            fields["troubled"] = "\(troubled.count)"
            fields["trouble"] = "\(first.name): \(first.trouble ?? "")"
        }
        if fields["incoming"] != nil, let hold = try await ingressHold() {
            fields["hold"] = hold.sentence
            fields["holdEntries"] = "\(hold.entries)"
            fields["holdJobs"] = "\(hold.jobs)"
            fields["holdBytes"] = "\(hold.bytes)"
        }
        return JobFacts(job: job, fields)
    }
}
