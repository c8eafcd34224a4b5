import FoundationEssentials
package import JobQueue
package import Logging
package import Redis
import RenderProtocol

/// The settings of the queue's location and of logs.
extension Settings {
    package static let queue = Setting(
        "queue",
        ValueSyntax("1 to 64 letters, digits, '.', '_' or '-'", write: { $0.string }) {
            try QueueName($0)
        }, default: QueueName.photos, help: "The queue")

    package static let redis: Setting<RedisURL> = {
        let usual = "redis://127.0.0.1:6379"
        do {
            return Setting(
                "redis",
                ValueSyntax(
                    "redis://, unix:///path, redis+sentinel:// or redis+cluster://, and rediss for TLS",
                    placeholder: "url"
                ) { try RedisURL($0) },
                default: try RedisURL(usual), usual, hidesValue: true,
                help:
                    "Redis: redis://host, unix:///path, redis+sentinel://host,host/master or redis+cluster://host,host; "
                    + "rediss for TLS; user:password@ and /database too")
        } catch {
            preconditionFailure("the default address is valid: \(error)")
        }
    }()

    package static let redisUser = Setting(
        "redis.user", .text("a name"),
        help: "The user, when the URL has no login; without one, the server's default user")
    package static let redisPasswordFile = Setting(
        "redis.password.file", .text("the path of a file", placeholder: "path"), default: nil,
        "redis-password of systemd's credentials, if it is there",
        help: "A file with the password alone")
    package static let redisCA = Setting(
        "redis.ca", .text("a path", placeholder: "path"),
        help: "PEM file of the authorities to trust with rediss")
    package static let redisCertificate = Setting(
        "redis.certificate", .text("a path", placeholder: "path"),
        help: "PEM file of the client certificate, for a Redis that requires one")
    package static let redisKey = Setting(
        "redis.key", .text("a path", placeholder: "path"),
        help: "PEM file of the key of the client certificate")

    package static let logLevel = Setting<Logger.Level>(
        "log.level", .choice, default: nil, "info; warning for commands that look",
        help: "The least severe lines that are logged")
    package static let logFormat = Setting<LogFormat>(
        "log.format", .choice, default: .text, help: "The format of log lines")
}

/// The settings of a queue's times and limits.
extension Settings {
    private static let defaults = QueueSettings()
    private static let day = Duration.seconds(86400)

    package static let lease = Setting(
        "lease", .duration(.seconds(1) ... .seconds(3600)), default: defaults.lease,
        help: "Time after the last heartbeat for which a worker keeps a job")
    package static let carriesMax = Setting(
        "carries.max", .number(1...1000), default: defaults.carriesMax,
        help:
            "Number of further attempts to publish a version before its job is stuck")
    package static let crashesMax = Setting(
        "crashes.max", .number(1...100), default: defaults.crashesMax,
        help: "Number of workers that may die while they process a job before the job is dead")
    package static let retryAttempts = Setting(
        "retry.attempts", .number(1...100), default: defaults.retry.attemptsMax,
        help: "Attempts before a job is dead")
    package static let retryBase = Setting(
        "retry.base", .duration(.milliseconds(10) ... .seconds(3600)), default: defaults.retry.base,
        help: "The longest delay before the second attempt; it doubles with each one after")
    package static let retryCap = Setting(
        "retry.cap", .duration(.milliseconds(10)...day), default: defaults.retry.cap,
        help: "The longest delay before any attempt")
    package static let keepDone = Setting(
        "keep.done", .duration(.seconds(1)...day * 3650), default: defaults.keepDone,
        help: "Time for which the record of a done job is kept")
    package static let keepRecords = Setting(
        "keep.records", .number(1...10_000_000), default: defaults.doneRecordsMax,
        help: "Maximum number of records of done jobs")
    package static let keepEvents = Setting(
        "keep.events", .number(1000...10_000_000), default: defaults.eventsMax,
        help: "Approximate number of events in the stream")
    package static let deadRecords = Setting(
        "dead.records", .number(0...10_000_000), default: defaults.deadMax,
        help: "Maximum number of dead jobs in Redis; workers move the oldest to a file")
    package static let deadLarge = Setting(
        "dead.large", .number(0...1_000_000), default: defaults.deadLargeMax,
        help: "Maximum number of dead jobs with a large edit in Redis")
    package static let keepDead = Setting(
        "keep.dead", .duration(.seconds(1)...day * 3650), default: defaults.keepDead,
        help: "Time for which a dead job stays in Redis")
    package static let batchIdle = Setting(
        "batch.idle", .duration(.seconds(1)...day * 3650), default: defaults.batchIdleMax,
        help: "Time without a new member after which an unsealed batch is sealed")
}

/// The format of a log line.
package enum LogFormat: String, CaseIterable, Sendable {
    case text, json
}

/// The limits on a photo's header, which apply to every job.
extension Settings {
    package static let renderPixels = Setting(
        "render.pixels", .number(1...100_000_000_000), default: RenderLimits.defaultPixelsMax,
        help: "Maximum number of pixels of a photo")

    static func limit(_ limit: RenderLimit) -> Setting<Int> {
        let usual = RenderLimits()[keyPath: limit.field]
        return limit.countsBytes
            ? Setting(limit.key, .bytes(limit.range), default: usual, help: help(limit))
            : Setting(limit.key, .number(limit.range), default: usual, help: help(limit))
    }

    private static func help(_ limit: RenderLimit) -> String {
        switch limit {
        case .bytes: "Most bytes of a file"
        case .frames: "Most frames of an animation"
        case .pages: "Most pages of a TIFF"
        case .scans: "Most scans of a JPEG"
        case .profile: "Most bytes of an ICC profile, inflated"
        case .metadata: "Most bytes of other metadata, inflated"
        case .density: "Most pixels of a large photo for each byte of its file"
        case .side: "Longest side of a photo and of what a filter makes"
        case .filters: "Most filters of an edit"
        case .radius: "How far a filter may look, in pixels"
        case .spool: "Most bytes of a render's spool files"
        case .movieFrames: "Most frames of a movie"
        case .movieSeconds: "Most seconds of a movie"
        case .tracks: "Most tracks of a movie"
        case .boxes: "Most boxes of a movie"
        }
    }
}
