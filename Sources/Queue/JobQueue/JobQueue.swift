public import Edits
import Logging
public import Redis
import Synchronization

/// A queue of photo edits in Redis: the calls that move a job from one state to the next.
///
/// Each call is one script, so a crash leaves a job either in the old state or in the new one. Every call is safe to repeat
/// after a lost reply, except `claim`: its jobs become ready again when their leases expire.
public struct JobQueue: Sendable {
    /// The priorities, the most urgent first; `alone` is quarantine.
    static let priorities = Priority.allCases.map(\.rawValue) + ["alone"]

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

    public init(name: QueueName, redis: RedisClient, settings: QueueSettings = QueueSettings()) {
        self.name = name
        self.redis = redis
        self.settings = settings
        let memory = ServerMemory()
        self.memory = memory
        commits = Self.gatherer(QueueScript.commit, name, redis, settings) { [] }
        finalizes = Self.gatherer(QueueScript.finalize, name, redis, settings) { [] }
        submits = Self.gatherer(QueueScript.submit, name, redis, settings) {
            [settings.reservedMax, settings.storedBytesMax ?? memory.producersMax]
        }
    }

    /// - Parameter first: Returns the arguments before those of the jobs.
    private static func gatherer(
        _ script: RedisScript, _ name: QueueName, _ redis: RedisClient, _ settings: QueueSettings,
        _ first: @escaping @Sendable () -> [any Arguments]
    ) -> WriteGatherer {
        WriteGatherer { arguments in
            do throws(QueueError) {
                let reply = try await run(
                    script, RedisArgument.list(first()) + arguments, name, redis, settings)
                guard let answers = reply.array else { throw unexpected(reply, of: script, name) }
                return .success(answers)
            } catch {
                return .failure(error)
            }
        }
    }

    func send(_ command: any Arguments...) async throws(QueueError) -> RedisReply {
        do {
            return try await redis.send(RedisArgument.list(command))
        } catch {
            throw QueueError(.redis, "queue \(name): \(error)", cause: error)
        }
    }

    /// Sends several commands together.
    ///
    /// - Parameter skippingDamaged: Whether a key of another type has the reply null. So does each of many records that a list asks for:
    ///   what somebody damaged takes no other away, and the doctor names it.
    func sendAll(
        _ commands: [[any Arguments]], skippingDamaged: Bool = false
    ) async throws(QueueError) -> [RedisReply] {
        var replies: [RedisReply] = []
        for result in await redis.sendAll(commands.map { RedisArgument.list($0) }) {
            switch result {
            case .success(let reply): replies.append(reply)
            case .failure(let error):
                if skippingDamaged, error.serverError?.prefix == "WRONGTYPE" {
                    replies.append(.null)
                    continue
                }
                throw QueueError(.redis, "queue \(name): \(error)", cause: error)
            }
        }
        return replies
    }

    /// Calls `body` with the elements of a structure step by step; nil: with the keys of the queue. A cursor skips no element that
    /// is there during the whole walk.
    func scan(
        _ command: String, _ key: String?, count: Int,
        _ body: ([RedisReply]) async throws(QueueError) -> Void
    ) async throws(QueueError) {
        // A queue's name contains no character that is special in a pattern.
        let (keys, match) = key.map { ([$0], []) } ?? ([], ["MATCH", name.keys.prefix + "*"])
        var cursor = "0"
        repeat {
            let reply = try await send(command, keys, cursor, match, "COUNT", count)
            guard let parts = reply.array, parts.count == 2, let next = parts[0].string,
                let elements = parts[1].array
            else {
                throw QueueError(
                    .unexpectedReply, "\(command) of queue \(name) answered \(reply).")
            }
            try await body(elements)
            cursor = next
        } while cursor != "0"
    }

    /// Returns the next members of a zset behind one of them, in the order of their scores. Those of equal score are ordered by the bytes
    /// of their names. What is added or removed between two calls moves no other member away.
    ///
    /// - Parameters:
    ///   - last: The last member that was read; it may be gone.
    ///   - most: The highest score that is read.
    /// - Returns: At most `count` members; none at the end.
    func members(
        of zset: String, after last: ScoredMember, until most: Int, count: Int
    ) async throws(QueueError) -> [ScoredMember] {
        // Members that were read already are read again and skipped: an offset would be wrong if some of them were removed meanwhile.
        var limit = count + 1
        while true {
            let page = try await send(
                "ZRANGEBYSCORE", zset, last.score, most, "WITHSCORES", "LIMIT", "0", limit)
            let items = page.array ?? []
            var members: [ScoredMember] = []
            for index in stride(from: 0, to: items.count - 1, by: 2) where members.count < count {
                guard let name = items[index].string, let score = items[index + 1].int else {
                    continue
                }
                let member = ScoredMember(name: name, score: Int(score))
                if last.isBefore(member) { members.append(member) }
            }
            if !members.isEmpty || items.count / 2 < limit { return members }
            limit *= 2
        }
    }

    func run(
        _ script: RedisScript, _ arguments: any Arguments...
    ) async throws(QueueError) -> RedisReply {
        try await Self.run(script, RedisArgument.list(arguments), name, redis, settings)
    }

    static func run(
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

/// A member of a zset whose scores are whole numbers.
struct ScoredMember: Sendable, Equatable {
    /// Empty for a place before all members of the score.
    let name: String
    let score: Int

    /// Returns whether Redis orders it before another one, which has no lower score.
    func isBefore(_ other: ScoredMember) -> Bool {
        other.score > score || name.utf8.lexicographicallyPrecedes(other.name.utf8)
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

extension JobQueue {
    /// The batches and batch streams that a worker ended because nothing else ends them.
    public struct Tended: Sendable, Equatable {
        /// The number of batches that were sealed because no more entries arrived.
        public let sealed: Int
        /// The number of batch streams that were removed because no batch of their name was opened.
        public let removed: Int
        /// Whether it was the caller's turn, which includes moving dead jobs to files.
        public let isTurn: Bool

        /// Whether nothing was ended.
        public var isNothing: Bool { sealed + removed == 0 }
    }

    /// Inspects the next idle batches and streams without a batch, if it is time: once per ``QueueSettings/tendPace`` for all
    /// workers together.
    public func tend() async throws(QueueError) -> Tended {
        let tick = ticks.begin()
        let reply = try await run(
            QueueScript.tend, settings.tendPace, settings.tendMax, settings.batchIdleMax,
            settings.unopenedStreamMax, settings.scanStep, tick.sinceLast)
        ticks.end(tick)
        guard let counts = reply.array, counts.count == 3, let sealed = counts[0].int,
            let removed = counts[1].int, let isTurn = counts[2].int
        else { throw unexpected(reply, of: QueueScript.tend) }
        return Tended(sealed: Int(sealed), removed: Int(removed), isTurn: isTurn == 1)
    }

    /// The contents of a queue's structures.
    struct Census {
        var jobs: [JobState: Int] = [:]
        var flows: [QueueStatus.Flow] = []
    }

    /// The number of flows and batch streams of one call. A script must be short, because Redis executes nothing else meanwhile.
    static let censusStep = 500

    /// Counts the contents of all structures, at one moment unless there are more than ``censusStep`` flows or batch streams.
    ///
    /// At most ``QueueStatus/flowsMax`` flows and as many batch streams are inspected.
    func census() async throws(QueueError) -> Census {
        var census = Census()
        var inBatchStreams = 0
        var positions = [String](repeating: "0", count: 6)
        for _ in 0..<QueueStatus.flowsMax / Self.censusStep {
            let reply = try await run(QueueScript.census, Self.censusStep, positions)
            guard let parts = reply.array, parts.count == 4, let counts = parts[0].pairs,
                let flows = parts[1].array, let more = parts[2].int,
                let next = parts[3].array?.compactMap(\.string), next.count == positions.count
            else { throw unexpected(reply, of: QueueScript.census) }
            for (state, count) in counts {
                guard let state = JobState(rawValue: state), let count = Int(count) else {
                    throw unexpected(reply, of: QueueScript.census)
                }
                census.jobs[state] = census.jobs[state] ?? count
            }
            for row in flows {
                guard let flow = QueueStatus.Flow(row) else {
                    throw unexpected(row, of: QueueScript.census)
                }
                census.flows.append(flow)
            }
            inBatchStreams += Int(more)
            if next.allSatisfy({ $0 == "-" }) { break }
            positions = next
        }
        census.jobs[.lane] = inBatchStreams
        census.jobs[.ready] = census.flows.reduce(0) { $0 + $1.ready }
        return census
    }

    /// Returns the server's time, in ms since 1970: the only clock of a queue.
    package func now() async throws(QueueError) -> Int {
        try Self.milliseconds(try await send("TIME"))
    }

    /// Returns the server's time, or that of the last death if it is later, in ms since 1970: a job that died while the clock was
    /// ahead died in the future.
    package func lastDeath() async throws(QueueError) -> Int {
        let last = try await send("ZRANGE", name.keys.dead, "-1", "-1", "WITHSCORES")
        return max(try await now(), last.array?.last?.int.map { Int($0) } ?? 0)
    }

    /// Returns the server's time, or the latest that the queue has given if the clock was set back since, in ms since 1970: nothing that
    /// the queue did is later.
    package func latestTime() async throws(QueueError) -> Int {
        try await now() + lag()
    }

    /// Returns the server's time without a leap forward that is not believed yet, as `Scripts/Shared/records.lua` defines it: what is
    /// ended by its age must not end because the clock is wrong for some seconds.
    func believedTime() async throws(QueueError) -> Int {
        let replies = try await sendAll([
            ["TIME"], ["HMGET", name.keys.virtual, "ticked", "lived", "shift"],
        ])
        let now = try Self.milliseconds(replies[0])
        let ages = (replies[1].array ?? []).compactMap { $0.string.flatMap { Int($0) } }
        guard ages.count == 3 else { return now }
        return min(now, ages[1] + min(max(0, now - ages[0]), Self.stepMax) + ages[2])
    }

    /// Returns the time by which a worker that starts now judges what is due, in ms since 1970.
    ///
    /// While workers live, that is the believed time. Where none does, nobody measures how long ago the last one measured, and the first
    /// call of another one believes the server's clock at once.
    func dueTime() async throws(QueueError) -> Int {
        let ticked = try await send("HGET", name.keys.virtual, "ticked").string.flatMap { Int($0) }
        let now = try await now()
        guard let ticked, now - ticked <= Self.unmeasuredAfter else { return now }
        return try await believedTime()
    }

    /// The age in ms of the last measured time from which on no worker measures: an idle one does each 20 s at the least
    /// (`FleetPace`), and may be late by `stepMax`.
    private static let unmeasuredAfter = 20_000 + stepMax
    /// The longest step of ages that nobody has measured, in ms: STEP_MAX of `records.lua`.
    private static let stepMax = 10_000

    /// Returns by how many ms the server's clock is behind the times that the queue has given already; zero if it is not.
    func lag() async throws(QueueError) -> Int {
        let given = try await send("HGET", name.keys.virtual, "time").string
        return max(0, (given.flatMap { Int($0) } ?? 0) / 1000 - (try await now()))
    }

    private static func milliseconds(_ reply: RedisReply) throws(QueueError) -> Int {
        guard let parts = reply.array, parts.count == 2, let seconds = parts[0].int,
            let microseconds = parts[1].int
        else { throw QueueError(.unexpectedReply, "TIME answered \(reply).") }
        return Int(seconds) * 1000 + Int(microseconds) / 1000
    }
}

/// Measures the time between the calls of one worker that advance the queue's ages, by the worker's own clock.
///
/// That clock is never set, so what the server's clock has moved beyond it is a step. A call that fails advances nothing, and the next
/// one counts from the last one that was answered.
final class TickMeasure: Sendable {
    struct Tick {
        fileprivate let begun: ContinuousClock.Instant
        /// The time in ms since the last call that was answered; nil if there is none.
        let sinceLast: Int?
    }

    private let last = Mutex<ContinuousClock.Instant?>(nil)

    func begin() -> Tick {
        let begun = ContinuousClock.now
        let since = last.withLock { $0 }.map { (begun - $0).milliseconds }
        return Tick(begun: begun, sinceLast: since)
    }

    func end(_ tick: Tick) {
        last.withLock { $0 = max($0 ?? tick.begun, tick.begun) }
    }
}

/// Work that one worker does for all. Two workers that do it at the same time do no harm; a thousand would overload Redis.
public enum Duty: String, Sendable, CaseIterable {
    /// Admits new jobs.
    case admitting
    /// Reaps expired leases.
    case reaping
    /// Ends batches and batch streams that nothing else ends.
    case tending

    /// The time for which a worker has the duty without renewing it: the delay that its death causes.
    public var lease: Duration {
        switch self {
        case .admitting: .seconds(1)
        case .reaping, .tending: .seconds(3)
        }
    }
}

extension JobQueue {
    /// Claims a duty that no worker has, or renews it.
    ///
    /// - Returns: Whether the worker has the duty; false if another worker has it.
    public func claim(_ duty: Duty, by worker: String) async throws(QueueError) -> Bool {
        let reply = try await run(QueueScript.claimDuty, duty.rawValue, worker, duty.lease)
        guard let has = reply.int else { throw unexpected(reply, of: QueueScript.claimDuty) }
        return has == 1
    }

    /// Releases a duty of the worker, so that another worker can claim it before it expires.
    public func release(_ duty: Duty, by worker: String) async throws(QueueError) {
        let duties = name.keys.duties
        let holder = try await send("HGET", duties, duty.rawValue).string
        guard holder?.drop(while: { $0 != " " }).dropFirst() == worker[...] else { return }
        _ = try await send("HDEL", duties, duty.rawValue)
    }

    /// Returns the number of workers that sent a heartbeat in the last two leases.
    public func workerCount() async throws(QueueError) -> Int {
        let since = try await now() - (settings.lease * 2).milliseconds
        let reply = try await send("ZCOUNT", name.keys.workers, since, "+inf")
        return reply.int.map { Int($0) } ?? 0
    }
}
