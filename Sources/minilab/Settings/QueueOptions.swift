import Adjustments
import ArgumentParser
import JobQueue
package import Logging
import Redis
import Telemetry

/// The flags that every command with a queue has. Each is also a setting; see ``Setting``.
package struct QueueOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Redis: redis://host, unix:///path, redis+sentinel://host,host/master or "
                + "redis+cluster://host,host; rediss for TLS; user:password@ and /database too.",
            valueName: "url"))
    var redis: String?

    @Option(
        name: .customLong("redis-ca"), help: "PEM file of the authorities to trust with rediss.")
    var redisCA: String?

    @Option(
        name: .customLong("redis-certificate"),
        help: "PEM file of our own certificate, for a Redis that asks.")
    var redisCertificate: String?

    @Option(name: .customLong("redis-key"), help: "PEM file of its key.")
    var redisKey: String?

    @Option(help: "The queue (default: photos).")
    var queue: String?

    @Option(help: "A JSON file of settings, such as the workers'.")
    var settings: String?

    @Option(name: .customLong("log-level"), help: "trace, debug, info, notice, warning, error.")
    var logLevel: String?

    @Option(name: .customLong("log-format"), help: "text or json.")
    var logFormat: String?

    package init() {}

    /// Flags, environment and file together.
    package func source(_ more: [String: String?] = [:]) throws(SettingsError) -> SettingsSource {
        var source = SettingsSource()
        let flags =
            [
                "redis": redis, "redis.ca": redisCA, "redis.certificate": redisCertificate,
                "redis.key": redisKey, "queue": queue, "log.level": logLevel,
                "log.format": logFormat,
            ].merging(more) { $1 }
        source.flags = flags.compactMapValues(\.self)
        if let file = settings ?? source.environment["MINILAB_SETTINGS"] {
            try source.readFile(at: file)
        }
        return source
    }
}

/// Where the queue is, read from settings.
package struct QueueConnection: Sendable {
    let name: QueueName
    let redis: RedisConfiguration

    init(name: QueueName, redis: RedisConfiguration) {
        self.name = name
        self.redis = redis
    }

    /// Reads it; `redis` is `redis://127.0.0.1:6379` when nobody says.
    package init(_ reader: inout SettingsReader) {
        name = reader.value(
            Setting(
                key: "queue", expected: "1 to 64 letters, digits, '.', '_' or '-'",
                defaultText: QueueName.photos.string, parse: { try QueueName($0) }),
            or: .photos)
        let url = reader.value(
            Setting(
                key: "redis",
                expected:
                    "redis://, unix:///path, redis+sentinel:// or redis+cluster://, and rediss for "
                    + "TLS",
                defaultText: Self.defaultAddress, parse: { try RedisURL($0) }),
            or: Self.standInURL)
        var redis = RedisConfiguration(url: url, name: "minilab")
        redis.caCertificateFile = reader.optional(.text("redis.ca", "a path"))
        redis.clientCertificateFile = reader.optional(.text("redis.certificate", "a path"))
        redis.clientKeyFile = reader.optional(.text("redis.key", "a path"))
        self.redis = redis
    }

    private static let defaultAddress = "redis://127.0.0.1:6379"

    private static let standInURL: RedisURL = {
        do {
            return try RedisURL(defaultAddress)
        } catch {
            preconditionFailure("the default address is valid: \(error)")
        }
    }()
}

/// How logs are written.
package func makeLogger(_ reader: inout SettingsReader, defaultLevel: Logger.Level = .info)
    -> Logger
{
    let level = reader.optional(
        .choice("log.level", Logger.Level.allCases.map(\.rawValue), default: defaultLevel.rawValue))
    let format = reader.optional(.choice("log.format", ["text", "json"], default: "text"))
    var logger = Logger(label: "minilab") { label -> any LogHandler in
        var handler: any LogHandler =
            format == "json" ? JSONLogHandler(label: label) : TextLogHandler()
        handler.metadataProvider = .job
        return handler
    }
    logger.logLevel = level.flatMap { Logger.Level(rawValue: $0) } ?? defaultLevel
    return logger
}
