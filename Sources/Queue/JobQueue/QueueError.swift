public import Edits
import Redis

/// An error of the queue: Redis is unreachable, its reply is unexpected, or its configuration could lose jobs.
public typealias QueueError = CodedError<QueueErrorCode>

public enum QueueErrorCode: ErrorCode {
    /// Redis was unreachable or refused a command.
    case redis
    /// The configuration of Redis may make it drop jobs.
    case unsafeServer
    /// Too many submitted jobs wait for admission.
    case ingressFull
    /// A producer's id keeps Redis from adding to an ingress stream until a worker has admitted what is in it.
    case ingressClosed
    /// The record of a job in Redis is damaged, and other jobs are not concerned.
    case damagedRecord
    /// The queue is of a later release, and this one would misread it.
    case laterFormat
    /// All tenants together store as many bytes as producers may.
    case shareUsed
    /// A script returned an unexpected reply: versions of it differ.
    case unexpectedReply
    /// Events that were not read yet may have been trimmed: the reader must list all assets again.
    case tokenExpired
    /// An entry of the event stream is not an event that this release reads; the reader continues after it.
    case unreadableEvent
    /// The queue has another library than the worker.
    case otherLibrary
    /// The position to read events from is not the id of an entry.
    case badPosition
}

extension QueueError {
    /// The error that the server answered, if this is one.
    var serverError: RedisServerError? { (cause as? RedisError)?.serverError }
    /// Whether Redis has reached `maxmemory` and accepts no new data. Jobs that it already has can still end.
    public var isRedisFull: Bool { serverError?.prefix == "OOM" }
    /// Whether Redis refused a command, or a script's command, because the user lacks the permission.
    public var isNotPermitted: Bool {
        guard let refusal = serverError else { return false }
        // The messages of a script up to Redis 7.0, and from 7.2 on.
        return refusal.prefix == "NOPERM"
            || refusal.message.contains("The user executing the script")
            || refusal.message.contains("ACL failure in script")
    }
}
