import Logging
public import Redis

/// A queue of photo edits in Redis: the calls that move a job from one state to the next.
///
/// Each call is one script, so a crash leaves a job either in the old state or in the new one. Every call is safe to repeat
/// after a lost reply, except `claim`: its jobs become ready again when their leases expire.
public struct JobQueue: Sendable {
    /// The name of the queue.
    public let name: QueueName
    /// The times and sizes of the queue.
    public let settings: QueueSettings
    /// The memory of Redis, as far as it is known.
    public let memory: ServerMemory
    let redis: RedisClient
    let commits: WriteGatherer
    let finalizes: WriteGatherer
    let submits: WriteGatherer
    let ticks = TickMeasure()

    /// Creates a queue that uses the connection `redis`.
    public init(name: QueueName, redis: RedisClient, settings: QueueSettings = QueueSettings()) {
        self.name = name
        self.redis = redis
        self.settings = settings
        let memory = ServerMemory()
        self.memory = memory
        commits = Self.gatherer(QueueScript.commit, name, redis, settings) { [] }
        finalizes = Self.gatherer(QueueScript.finalize, name, redis, settings) { [] }
        submits = Self.gatherer(QueueScript.submit, name, redis, settings) {
            [
                RedisArgument(settings.reservedMax),
                Self.quota(settings.storedBytesMax ?? memory.producersMax),
            ]
        }
    }

    /// - Parameter first: Returns the arguments before those of the jobs.
    private static func gatherer(
        _ script: RedisScript, _ name: QueueName, _ redis: RedisClient, _ settings: QueueSettings,
        _ first: @escaping @Sendable () -> [RedisArgument]
    ) -> WriteGatherer {
        WriteGatherer { arguments in
            do throws(QueueError) {
                let reply = try await run(script, first() + arguments, name, redis, settings)
                guard let answers = reply.array else { throw unexpected(reply, of: script, name) }
                return .success(answers)
            } catch {
                return .failure(error)
            }
        }
    }

    func send(_ command: [RedisArgument]) async throws(QueueError) -> RedisReply {
        do {
            return try await redis.send(command)
        } catch {
            throw QueueError(.redis, "queue \(name): \(error)", cause: error)
        }
    }

    func run(
        _ script: RedisScript, _ arguments: [RedisArgument]
    ) async throws(QueueError) -> RedisReply {
        try await Self.run(script, arguments, name, redis, settings)
    }

    private static func run(
        _ script: RedisScript, _ arguments: [RedisArgument], _ name: QueueName,
        _ redis: RedisClient, _ settings: QueueSettings
    ) async throws(QueueError) -> RedisReply {
        do {
            return try await redis.run(
                script, keys: [name.keys.prefix],
                arguments: [
                    RedisArgument(name.keys.prefix), RedisArgument(settings.eventsMax),
                    RedisArgument(settings.doneRecordsMax),
                ] + arguments)
        } catch {
            throw QueueError(.redis, "queue \(name), \(script.name): \(error)", cause: error)
        }
    }

    func unexpected(_ reply: RedisReply, of script: RedisScript) -> QueueError {
        Self.unexpected(reply, of: script, name)
    }

    private static func unexpected(
        _ reply: RedisReply, of script: RedisScript, _ name: QueueName
    ) -> QueueError {
        QueueError(
            .unexpectedReply,
            "script \(script.name) of queue \(name) answered \(reply), which this version of "
                + "minilab does not know.")
    }
}

extension Duration {
    var microseconds: Int {
        Int(components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000)
    }

    var milliseconds: Int {
        Int(components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
    }
}
