public import Adjustments
import Redis

extension JobQueue {
    /// Appends a job to the ingress stream of its priority, as any producer would: one plain `XADD`.
    ///
    /// - Returns: the entry's name, which is the job's id when the request has none.
    public func enqueue(_ request: JobRequest) async throws(QueueError) -> String {
        var fields = [
            (name: "asset", value: request.asset.string),
            (name: "edit", value: request.edit.json.canonical),
        ]
        if let id = request.id { fields.append((name: "id", value: id.string)) }
        fields += request.scheduling.fields
        guard request.scheduling.priority == .interactive else {
            return try await append(fields, to: name.keys.ingress)
        }
        return try await append(fields, to: name.keys.urgentIngress) + QueueName.urgentSuffix
    }

    /// The result of an admission.
    public struct Admission: Sendable, Equatable {
        /// How many entries of ingress streams and lanes were taken.
        public let taken: Int
        /// Whether entries were left because enough jobs wait for workers; urgent ones are taken all the same.
        public let isHeld: Bool
        /// After which time there may be something to do that no stream tells; nil: nothing is known of.
        public let next: Duration?
    }

    /// Turns the oldest entries of the ingress streams, and the next ones of batches' lanes, into jobs.
    public func admit() async throws(QueueError) -> Admission {
        let reply = try await run(
            QueueScript.admit,
            [RedisArgument(settings.admitMax), RedisArgument(settings.admitBytesMax)]
                + Self.contract + [
                    RedisArgument(settings.malformedMax), RedisArgument(settings.aheadMax),
                    RedisArgument(settings.aheadBytesMax), pace,
                ])
        guard let answers = reply.array, answers.count == 4, let taken = answers[0].int,
            let isFeedDue = answers[1].int, let held = answers[2].string, let next = answers[3].int
        else { throw unexpected(reply, of: QueueScript.admit) }
        let fed = isFeedDue == 1 ? try await feed() : 0
        return Admission(
            taken: Int(taken) + fed, isHeld: held == "1",
            next: next < 0 ? nil : .milliseconds(next))
    }

    /// Turns the next entries of batches' lanes into jobs, as far as their windows have room, until there are jobs or
    /// each lane has had its turn.
    ///
    /// - Returns: how many were taken.
    public func feed() async throws(QueueError) -> Int {
        let arguments =
            [RedisArgument(settings.admitMax), RedisArgument(settings.window)] + Self.contract
            + [
                RedisArgument(settings.lanesMax), RedisArgument(settings.admitBytesMax),
                RedisArgument(settings.malformedMax), RedisArgument(settings.looksMax), pace,
            ]
        for _ in 0..<settings.feedsMax {
            let reply = try await run(QueueScript.feed, arguments)
            guard let answers = reply.array, answers.count == 2, let made = answers[0].int,
                let again = answers[1].int
            else { throw unexpected(reply, of: QueueScript.feed) }
            if made > 0 || again == 0 { return Int(made) }
        }
        return 0
    }

    private var pace: RedisArgument { RedisArgument(settings.lookPace.microseconds) }

    private static let contract = [
        ContractLimits.assetBytesMax, ContractLimits.editBytesMax,
        ContractLimits.jobIDLengthMax, ContractLimits.batchJobsMax, ContractLimits.costMax,
    ].map { RedisArgument($0) }

    func append(
        _ fields: [(name: String, value: String)], to stream: String
    ) async throws(QueueError) -> String {
        let words = fields.flatMap { [RedisArgument($0.name), RedisArgument($0.value)] }
        let reply = try await send(["XADD", RedisArgument(stream), "*"] + words)
        guard let entry = reply.string else {
            throw QueueError(.unexpectedReply, "XADD to \(stream) did not answer an id.")
        }
        return entry
    }
}
