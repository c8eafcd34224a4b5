import ArgumentParser
import FoundationEssentials
package import JobQueue
package import Logging
package import Redis
import Telemetry

/// The flags of all commands that use a queue. Each except the settings file is a setting.
package struct QueueOptions: ParsableArguments {
    @Option(Settings.redis) var redis: FlagValue?
    @Option(Settings.redisUser) var redisUser: FlagValue?
    @Option(Settings.redisPasswordFile) var redisPasswordFile: FlagValue?
    @Option(Settings.redisCA) var redisCA: FlagValue?
    @Option(Settings.redisCertificate) var redisCertificate: FlagValue?
    @Option(Settings.redisKey) var redisKey: FlagValue?
    @Option(Settings.queue) var queue: FlagValue?
    @Option(help: "A JSON file of settings, such as the workers'.") var settings: String?
    @Option(Settings.logLevel) var logLevel: FlagValue?
    @Option(Settings.logFormat) var logFormat: FlagValue?

    package init() {}

    /// The flags as they were written, for a child process.
    var arguments: [String] {
        FlagValue.all(in: self).flatMap { ["--\($0.flag)", $0.text] }
            + (settings.map { ["--settings", $0] } ?? [])
    }

    /// Returns the settings from flags, environment and file.
    ///
    /// - Parameter more: settings from other flags of the command.
    package func source(_ more: [FlagValue] = []) throws(SettingsError) -> SettingsSource {
        try SettingsSource(
            FlagValue.all(in: self) + more, file: SettingsSource.file(settings))
    }
}

/// The location of the queue, from the settings.
package struct QueueConnection: Sendable {
    package let name: QueueName
    package let redis: RedisConfiguration
    /// Warnings for the log about permitted settings that expose a secret.
    package let warnings: [String]

    init(name: QueueName, redis: RedisConfiguration) {
        self.name = name
        self.redis = redis
        warnings = []
    }

    /// Reads the location; the default of `redis` is `redis://127.0.0.1:6379`.
    package init(_ reader: inout SettingsReader) {
        name = reader.value(Settings.queue)
        let url = reader.value(Settings.redis)
        var warnings: [String] = []
        if url.password != nil, reader.isFlag(Settings.redis.key) {
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
        redis.caCertificateFile = reader.optional(Settings.redisCA)
        redis.clientCertificateFile = reader.optional(Settings.redisCertificate)
        redis.clientKeyFile = reader.optional(Settings.redisKey)
        self.redis = redis
    }

    /// Returns the URL with the user and the password of the separate settings.
    private static func login(_ url: RedisURL, _ reader: inout SettingsReader) -> RedisURL {
        let user = reader.optional(Settings.redisUser)
        let named = reader.optional(Settings.redisPasswordFile)
        let file = SecretFile.redisPassword.file(
            named: named, environment: reader.environment,
            exists: FileManager.default.fileExists(atPath:))
        // A password in the URL is deliberate, so it has priority over a credential, which every command of the systemd unit
        // sees.
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
}

/// Creates the logger that the settings describe.
package func makeLogger(_ reader: inout SettingsReader, defaultLevel: Logger.Level = .info)
    -> Logger
{
    let level = reader.optional(Settings.logLevel)
    let format = reader.value(Settings.logFormat)
    var logger = Logger(label: "minilab") { label -> any LogHandler in
        var handler: any LogHandler =
            format == .json ? JSONLogHandler(label: label) : TextLogHandler()
        handler.metadataProvider = .multiplex([.job, .trace])
        return handler
    }
    logger.logLevel = level ?? defaultLevel
    return logger
}
