public import Adjustments
import FoundationEssentials
public import Redis

/// Reads the event stream from a place onwards, as any consumer would: with plain `XREAD`.
public struct EventReader: Sendable {
    /// One entry of the stream.
    public struct Entry: Sendable {
        /// Its id: the place to go on from.
        public let id: String
        /// The CloudEvent as it was sent.
        public let json: String
        /// The CloudEvent, decoded.
        public let event: JobEvent
    }

    /// The id of the last entry that was read.
    public private(set) var position: String
    private let queue: QueueName
    private let redis: RedisClient

    /// Most entries of one read.
    public static let batchMax = 500

    /// The place before the first entry.
    public static let beginning = "0"

    /// A reader that starts after `position`.
    ///
    /// - Parameter redis: a client of its own when reads block.
    public init(queue: QueueName, redis: RedisClient, after position: String = beginning) {
        self.queue = queue
        self.redis = redis
        self.position = position
    }

    /// A reader that starts after the newest entry.
    public init(queue: QueueName, redis: RedisClient, afterNewest: Void) async throws(QueueError) {
        do {
            let newest = try await redis.send([
                "XREVRANGE", RedisArgument(queue.eventsKey), "+", "-", "COUNT", "1",
            ])
            self.init(
                queue: queue, redis: redis,
                after: newest.array?.first?.array?.first?.string ?? Self.beginning)
        } catch {
            throw QueueError(
                .redis, "reading the events of queue \(queue) failed: \(error)", cause: error)
        }
    }

    /// The next entries; empty when there are none, at the end of the time.
    ///
    /// - Parameter time: how long to wait for one; zero does not wait.
    public mutating func next(waiting time: Duration = .zero) async throws(QueueError) -> [Entry] {
        var command: [RedisArgument] = ["XREAD", "COUNT", RedisArgument(Self.batchMax)]
        if time > .zero { command += ["BLOCK", RedisArgument(max(1, time.milliseconds))] }
        command += ["STREAMS", RedisArgument(queue.eventsKey), RedisArgument(position)]
        do {
            let reply = try await redis.send(command, timeout: time + .seconds(5))
            var entries: [Entry] = []
            for row in reply.array?.first?.array?.last?.array ?? [] {
                guard let id = row.array?.first?.string,
                    let bytes = row.array?.last?.array?.last?.bytes
                else { continue }
                entries.append(
                    Entry(
                        id: id, json: String(decoding: bytes, as: UTF8.self),
                        event: try JSONDecoder().decode(JobEvent.self, from: Data(bytes))))
                position = id
            }
            return entries
        } catch let error as RedisError {
            throw QueueError(
                .redis, "reading the events of queue \(queue) failed: \(error)", cause: error)
        } catch {
            throw QueueError(
                .unexpectedReply,
                "an event of queue \(queue) after \(position) cannot be read: \(error)")
        }
    }
}
