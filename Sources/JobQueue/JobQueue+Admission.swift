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
        let reply = try await run(
            QueueScript.admit,
            [RedisArgument(settings.admitMax), RedisArgument(settings.admitBytesMax)] + contract
                + [RedisArgument(settings.malformedMax)])
        guard let counts = reply.array, counts.count == 2, let taken = counts[0].int,
            let lanes = counts[1].int
        else { throw unexpected(reply, of: QueueScript.admit) }
        guard lanes > 0 else { return Int(taken) }
        let fed = try await run(
            QueueScript.feed,
            [RedisArgument(settings.admitMax), RedisArgument(settings.window)] + contract
                + [
                    RedisArgument(settings.lanesMax), RedisArgument(settings.admitBytesMax),
                    RedisArgument(settings.malformedMax),
                ])
        guard let made = fed.int else { throw unexpected(fed, of: QueueScript.feed) }
        return Int(taken + made)
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
