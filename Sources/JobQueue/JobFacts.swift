import Redis

/// All that says why a job is where it is, read at one moment but for the number of workers.
public struct JobFacts: Sendable, Equatable {
    /// The job.
    public let job: String
    /// All of them by name, as the script `explain` gives them.
    package let fields: [String: String]

    package init(job: String, _ fields: [String: String]) {
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

extension JobFacts {
    /// Why entries of the ingress stream are not taken in.
    var hold: IngressHold? {
        guard let entries = number("holdEntries"), let jobs = number("holdJobs"),
            let bytes = number("holdBytes")
        else { return nil }
        return IngressHold(entries: entries, jobs: jobs, bytes: bytes)
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
            fields["holdEntries"] = "\(hold.entries)"
            fields["holdJobs"] = "\(hold.jobs)"
            fields["holdBytes"] = "\(hold.bytes)"
        }
        return JobFacts(job: job, fields)
    }
}
