import Adjustments
import ArgumentParser
import FoundationEssentials
package import JobQueue
package import Logging
package import Redis
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
        name: .customLong("redis-user"),
        help: "The user, when the URL has no login (default: the server's default user).")
    var redisUser: String?

    @Option(
        name: .customLong("redis-password-file"),
        help: ArgumentHelp(
            "A file with the password alone (default: redis-password of systemd's credentials, if it is there).",
            valueName: "path"))
    var redisPasswordFile: String?

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

    /// The flags that were given, as they were, for a process of its own.
    var words: [String] {
        let flags: [(String, String?)] = [
            ("redis", redis), ("redis-user", redisUser),
            ("redis-password-file", redisPasswordFile), ("redis-ca", redisCA),
            ("redis-certificate", redisCertificate), ("redis-key", redisKey), ("queue", queue),
            ("settings", settings), ("log-level", logLevel), ("log-format", logFormat),
        ]
        return flags.flatMap { name, value in value.map { ["--\(name)", $0] } ?? [] }
    }

    /// Flags, environment and file together.
    package func source(_ more: [String: String?] = [:]) throws(SettingsError) -> SettingsSource {
        var source = SettingsSource()
        let flags =
            [
                "redis": redis, "redis.user": redisUser, "redis.password.file": redisPasswordFile,
                "redis.ca": redisCA, "redis.certificate": redisCertificate,
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
    package let name: QueueName
    package let redis: RedisConfiguration
    /// What is allowed and shows a secret to somebody, as sentences for the log.
    package let warnings: [String]

    init(name: QueueName, redis: RedisConfiguration) {
        self.name = name
        self.redis = redis
        warnings = []
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
        var warnings: [String] = []
        if url.password != nil, reader.isFlag("redis") {
            warnings.append(
                "the password in --redis is shown to every user of this machine by ps; put it into a file and "
                    + "give --redis-user and --redis-password-file.")
        }
        if !url.hostsInClear.isEmpty {
            warnings.append(
                "the password and all jobs go in clear to \(url.hostsInClear.joined(separator: ", ")); use rediss:// "
                    + "unless that network is yours alone.")
        }
        self.warnings = warnings
        var redis = RedisConfiguration(url: Self.login(url, &reader), name: "minilab")
        redis.caCertificateFile = reader.optional(.text("redis.ca", "a path"))
        redis.clientCertificateFile = reader.optional(.text("redis.certificate", "a path"))
        redis.clientKeyFile = reader.optional(.text("redis.key", "a path"))
        self.redis = redis
    }

    /// The URL with the user and the password that were given beside it.
    private static func login(_ url: RedisURL, _ reader: inout SettingsReader) -> RedisURL {
        let user = reader.optional(.text("redis.user", "a name"))
        let named = reader.optional(.text("redis.password.file", "the path of a file"))
        let file = SecretFile.redisPassword.file(
            named: named, environment: reader.environment,
            exists: FileManager.default.fileExists(atPath:))
        // A password in the URL was said by somebody; a credential is there for every command of the unit.
        guard let file, url.password == nil || named != nil else {
            if user != nil {
                reader.refuse(
                    "redis.user is set and there is no password for it: give --redis-password-file")
            }
            return url
        }
        guard url.password == nil else {
            reader.refuse(
                "redis.password.file is set and redis has a password too; give one of them")
            return url
        }
        do throws(SecretFileError) {
            return url.loggingIn(as: user, with: try SecretFile.redisPassword.read(file))
        } catch {
            reader.refuse("redis.password.file: \(error)")
            return url
        }
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
