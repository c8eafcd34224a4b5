public import Edits
import Redis

extension JobQueue {
    /// Appends a job to the ingress stream of its priority, as any producer would: one plain `XADD`.
    ///
    /// - Returns: The entry's name, which is the job's id if the request has none.
    public func enqueue(_ request: JobRequest) async throws(QueueError) -> String {
        let fields = Self.entryFields(request)
        guard request.scheduling.priority == .interactive else {
            return try await append(fields, to: name.keys.ingress)
        }
        return try await append(fields, to: name.keys.urgentIngress) + QueueName.urgentSuffix
    }

    /// The result of an admission.
    public struct Admission: Sendable, Equatable {
        /// The number of entries that became jobs, of ingress streams and batches, plus the number of promoted delayed jobs.
        public let admitted: Int
        /// Whether entries were left because enough jobs wait for workers. Urgent entries are admitted nevertheless.
        public let isHeld: Bool
        /// The time after which there may be work that no stream announces; nil if no such work is known.
        public let next: Duration?
        /// A sentence for each batch stream that cannot be fed because the batch's data in Redis is damaged.
        public internal(set) var problems: [String] = []
    }

    /// Turns the oldest entries of the ingress streams and the next entries of batches' streams into jobs, and makes delayed jobs
    /// that are due ready.
    public func admit() async throws(QueueError) -> Admission {
        let reply = try await run(
            QueueScript.admit,
            [RedisArgument(settings.admitMax), RedisArgument(settings.admitBytesMax)]
                + Self.contract + [
                    RedisArgument(settings.malformedMax), RedisArgument(settings.aheadMax),
                    RedisArgument(settings.aheadBytesMax), pace, delayMax,
                ])
        guard let answers = reply.array, answers.count == 4, let admitted = answers[0].int,
            let isFeedDue = answers[1].int, let held = answers[2].string, let next = answers[3].int
        else { throw unexpected(reply, of: QueueScript.admit) }
        let promoted = next == 0 ? try await promote() : 0
        let fed = isFeedDue == 1 ? try await feed() : Fed()
        return Admission(
            admitted: Int(admitted) + promoted + fed.jobs, isHeld: held == "1",
            next: next > 0 ? .milliseconds(next) : nil, problems: fed.problems)
    }

    /// Makes delayed jobs that are due ready.
    ///
    /// - Returns: The number of promoted jobs. If it is a multiple of ``QueueSettings/promotionsMax``, more jobs may be due.
    public func promote() async throws(QueueError) -> Int {
        var promoted = 0
        for _ in 0..<settings.promotesMax {
            let reply = try await run(
                QueueScript.promote, [RedisArgument(settings.promotionsMax), delayMax])
            guard let answers = reply.array, answers.count == 2, let more = answers[0].int,
                let putOff = answers[1].int
            else { throw unexpected(reply, of: QueueScript.promote) }
            promoted += Int(more)
            if Int(more + putOff) < settings.promotionsMax { break }
        }
        return promoted
    }

    /// The result of feeding batch streams.
    public struct Fed: Sendable, Equatable {
        /// The number of jobs that were created.
        public var jobs = 0
        /// A sentence for each batch stream that cannot be fed.
        public var problems: [String] = []
    }

    /// Turns the next entries of batches' streams into jobs, as far as their windows allow, until jobs were created or each batch
    /// has had its turn.
    public func feed() async throws(QueueError) -> Fed {
        var fed = Fed()
        let arguments =
            [RedisArgument(settings.admitMax), RedisArgument(settings.window)] + Self.contract
            + [
                RedisArgument(settings.batchStreamsMax), RedisArgument(settings.admitBytesMax),
                RedisArgument(settings.malformedMax), RedisArgument(settings.checksMax), pace,
            ]
        for _ in 0..<settings.feedsMax {
            let reply = try await run(QueueScript.feed, arguments)
            guard let answers = reply.array, answers.count >= 2, let made = answers[0].int,
                let again = answers[1].int
            else { throw unexpected(reply, of: QueueScript.feed) }
            fed.jobs += Int(made)
            fed.problems += answers.dropFirst(2).compactMap(\.string)
            if made > 0 || again == 0 { break }
        }
        return fed
    }

    private var pace: RedisArgument { RedisArgument(settings.checkPace.microseconds) }
    private var delayMax: RedisArgument { RedisArgument(settings.retry.cap.milliseconds) }

    private static let contract = [
        ContractLimits.assetBytesMax, ContractLimits.editBytesMax,
        ContractLimits.jobIDLengthMax, ContractLimits.batchJobsMax, ContractLimits.costMax,
    ].map { RedisArgument($0) }

    func append(
        _ fields: [(name: String, value: String)], to stream: String
    ) async throws(QueueError) -> String {
        try await append(fields.flatMap { [$0.name, $0.value] }, to: stream)
    }

    private func append(_ fields: [String], to stream: String) async throws(QueueError) -> String {
        let reply = try await send(
            ["XADD", RedisArgument(stream), "*"] + fields.map { RedisArgument($0) })
        guard let entry = reply.string else {
            throw QueueError(.unexpectedReply, "XADD to \(stream) did not answer an id.")
        }
        return entry
    }
}
