public import Redis

/// What the queue throws: Redis is out of reach or answers nonsense, or it is set up so that jobs could be
/// lost.
public struct QueueError: Error, Sendable, CustomStringConvertible {
    /// The kind.
    public enum Code: Sendable {
        /// Redis could not be reached or refused.
        case redis
        /// Redis is set up so that it may drop jobs.
        case unsafeServer
        /// Too many jobs were submitted that nobody takes in.
        case ingressFull
        /// A script answered what it never does: versions of it differ.
        case unexpectedReply
        /// Events that were not read yet may have been trimmed: who follows has to take stock of all assets.
        case tokenExpired
        /// An entry of the event stream is no event that this release reads; the reader goes on after it.
        case unreadableEvent
        /// The place to read events from is no id of one.
        case badPosition
    }

    /// The kind.
    public let code: Code
    /// The sentence for people.
    public let message: String
    /// What Redis said, where it was Redis.
    public let cause: RedisError?

    init(_ code: Code, _ message: String, cause: RedisError? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// Whether Redis is at its `maxmemory` and takes nothing new in; jobs that are in still go to their ends.
    public var isRedisFull: Bool { cause?.serverError?.prefix == "OOM" }
    /// Whether Redis refused a command, or a script one of its commands, because this user has no right to it.
    public var isNotPermitted: Bool {
        guard let refusal = cause?.serverError else { return false }
        // In a script, up to Redis 7.0 and from 7.2 on.
        return refusal.prefix == "NOPERM"
            || refusal.message.contains("The user executing the script")
            || refusal.message.contains("ACL failure in script")
    }

    public var description: String { message }
}
