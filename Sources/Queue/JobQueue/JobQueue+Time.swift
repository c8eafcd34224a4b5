import Redis
import Synchronization

extension JobQueue {
    /// Returns the server's time, in ms since 1970: the only clock of a queue.
    package func now() async throws(QueueError) -> Int {
        try Self.milliseconds(try await send(["TIME"]))
    }

    /// Returns the server's time, or that of the last death if it is later, in ms since 1970: a job that died while the clock was
    /// ahead died in the future.
    package func lastDeath() async throws(QueueError) -> Int {
        let last = try await send([
            "ZRANGE", RedisArgument(name.keys.dead), "-1", "-1", "WITHSCORES",
        ])
        return max(try await now(), last.array?.last?.int.map { Int($0) } ?? 0)
    }

    /// Returns the server's time without a leap forward that is not believed yet, as `Scripts/Shared/ages.lua` defines it: what is
    /// ended by its age must not end because the clock is wrong for some seconds.
    func believedTime() async throws(QueueError) -> Int {
        let replies = try await sendAll([
            ["TIME"], ["HMGET", RedisArgument(name.keys.virtual), "ticked", "lived", "shift"],
        ])
        let now = try Self.milliseconds(replies[0])
        let ages = (replies[1].array ?? []).compactMap { $0.string.flatMap { Int($0) } }
        guard ages.count == 3 else { return now }
        return min(now, ages[1] + min(max(0, now - ages[0]), Self.stepMax) + ages[2])
    }

    /// The longest step of ages that nobody has measured, in ms: STEP_MAX of `ages.lua`.
    private static let stepMax = 10_000

    /// Returns by how many ms the server's clock is behind the times that the queue has given already; zero if it is not.
    func lag() async throws(QueueError) -> Int {
        let given = try await send(["HGET", RedisArgument(name.keys.virtual), "time"]).string
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
        /// The time in ms since the last call that was answered, as an argument of a script; an empty one if there is none.
        let sinceLast: RedisArgument
    }

    private let last = Mutex<ContinuousClock.Instant?>(nil)

    func begin() -> Tick {
        let begun = ContinuousClock.now
        let since = last.withLock { $0 }.map { RedisArgument((begun - $0).milliseconds) }
        return Tick(begun: begun, sinceLast: since ?? "")
    }

    func end(_ tick: Tick) {
        last.withLock { $0 = max($0 ?? tick.begun, tick.begun) }
    }
}
