public import Adjustments
import Redis

extension JobQueue {
    /// Appends a job to the ingress stream, as any producer would: one plain `XADD`.
    ///
    /// - Returns: the entry's id, which is the job's id when the request has none.
    public func enqueue(_ request: JobRequest) async throws(QueueError) -> String {
        var fields = [
            (name: "asset", value: request.asset.string),
            (name: "edit", value: request.edit.json.canonical),
        ]
        if let id = request.id { fields.append((name: "id", value: id.string)) }
        return try await append(fields + request.scheduling.fields, to: name.ingressKey)
    }

    /// Turns the oldest entries of the ingress stream, and the next ones of batches' lanes, into jobs.
    ///
    /// - Returns: how many entries were taken.
    public func admit() async throws(QueueError) -> Int {
        let contract = [
            ContractLimits.assetBytesMax, ContractLimits.editBytesMax,
            ContractLimits.jobIDLengthMax, ContractLimits.batchJobsMax, ContractLimits.costMax,
        ].map { RedisArgument($0) }
        let pace = RedisArgument(settings.lookPace.microseconds)
        let reply = try await run(
            QueueScript.admit,
            [RedisArgument(settings.admitMax), RedisArgument(settings.admitBytesMax)] + contract
                + [RedisArgument(settings.malformedMax), pace])
        guard let answers = reply.array, answers.count == 2, let taken = answers[0].int,
            let isFeedDue = answers[1].int
        else { throw unexpected(reply, of: QueueScript.admit) }
        if isFeedDue == 0 { return Int(taken) }
        let arguments =
            [RedisArgument(settings.admitMax), RedisArgument(settings.window)] + contract
            + [
                RedisArgument(settings.lanesMax), RedisArgument(settings.admitBytesMax),
                RedisArgument(settings.malformedMax), RedisArgument(settings.looksMax), pace,
            ]
        return try await Int(taken) + feed(arguments)
    }

    /// Feeds lanes until there are jobs or each lane has had its turn.
    ///
    /// - Returns: how many jobs were made.
    private func feed(_ arguments: [RedisArgument]) async throws(QueueError) -> Int {
        for _ in 0..<settings.feedsMax {
            let reply = try await run(QueueScript.feed, arguments)
            guard let answers = reply.array, answers.count == 2, let made = answers[0].int,
                let again = answers[1].int
            else { throw unexpected(reply, of: QueueScript.feed) }
            if made > 0 || again == 0 { return Int(made) }
        }
        return 0
    }

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
