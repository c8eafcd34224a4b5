extension RedisClient {
    /// Sends many commands together and returns their replies in order.
    ///
    /// The throughput is that of the server: one task waits for all replies, instead of one task per command. The commands are
    /// not a transaction, and some may fail while others succeed. If the task is cancelled, the call still waits for the
    /// replies, within the commands' deadline.
    ///
    /// - Parameter commands: At most ``RedisConfiguration/pendingCommandsMax`` minus the number of pending commands.
    public func sendAll(
        _ commands: [[RedisArgument]], timeout: Duration? = nil
    ) async -> [Result<RedisReply, RedisError>] {
        if commands.isEmpty { return [] }
        return await withCheckedContinuation { continuation in
            let burst = RedisBurst(count: commands.count, continuation)
            for (index, command) in commands.enumerated() {
                do throws(RedisError) {
                    try CommandRules.check(command, configuration: configuration)
                    submit(command, timeout: timeout, waiter: .many(burst, index: index))
                } catch {
                    burst.settle(index, .failure(error))
                }
            }
        }
    }
}

/// The replies of commands that were sent together. Confined to the client's event loop.
final class RedisBurst {
    private var results: [Result<RedisReply, RedisError>?]
    private var open: Int
    private let continuation: CheckedContinuation<[Result<RedisReply, RedisError>], Never>

    init(
        count: Int, _ continuation: CheckedContinuation<[Result<RedisReply, RedisError>], Never>
    ) {
        results = Array(repeating: nil, count: count)
        open = count
        self.continuation = continuation
    }

    func settle(_ index: Int, _ result: Result<RedisReply, RedisError>) {
        results[index] = result
        open -= 1
        if open == 0 { continuation.resume(returning: results.compactMap { $0 }) }
    }
}
