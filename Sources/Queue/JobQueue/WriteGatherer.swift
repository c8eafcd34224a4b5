import Redis

/// Sends the writes of several jobs that arrive at about the same time in one script call.
///
/// A write is sent at once if no other call is in progress. Writes that arrive during a call are sent together after its reply.
/// So the latency of a single job is unchanged, and many jobs share the cost of a call in Redis: of the 10 µs that a commit took
/// alone, 6 were for the call.
///
/// A failed call fails all its writes: each write is safe to repeat, as it is alone.
actor WriteGatherer {
    /// The maximum number of jobs of one call.
    static let jobsMax = 64

    private typealias Waiter = CheckedContinuation<Result<RedisReply, QueueError>, Never>
    private let send: @Sendable ([RedisArgument]) async -> Result<[RedisReply], QueueError>
    private var waiting: [(arguments: [RedisArgument], waiter: Waiter)] = []
    private var isSending = false

    /// - Parameter send: Makes one script call with the arguments of several jobs and returns one reply per job.
    init(_ send: @escaping @Sendable ([RedisArgument]) async -> Result<[RedisReply], QueueError>) {
        self.send = send
    }

    /// Sends the arguments of one job and returns its reply.
    func write(_ arguments: [RedisArgument]) async throws(QueueError) -> RedisReply {
        let result = await withCheckedContinuation { (waiter: Waiter) in
            waiting.append((arguments: arguments, waiter: waiter))
            if !isSending {
                isSending = true
                Task { await sendAll() }
            }
        }
        return try result.get()
    }

    private func sendAll() async {
        while !waiting.isEmpty {
            let some = waiting.prefix(Self.jobsMax)
            waiting.removeFirst(some.count)
            switch await send(some.flatMap(\.arguments)) {
            case .success(let answers) where answers.count == some.count:
                for (write, answer) in zip(some, answers) {
                    write.waiter.resume(returning: .success(answer))
                }
            case .success(let answers):
                let error = QueueError(
                    .unexpectedReply, "\(answers.count) answers came to \(some.count) writes.")
                for write in some { write.waiter.resume(returning: .failure(error)) }
            case .failure(let error):
                for write in some { write.waiter.resume(returning: .failure(error)) }
            }
        }
        isSending = false
    }
}
