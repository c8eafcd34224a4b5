public import ArgumentParser
public import Edits
import Files
import FoundationEssentials
package import JobQueue
package import Logging
package import Redis
import RenderProtocol
import Telemetry
import Worker

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

    /// Returns the settings from flags, environment and file.
    ///
    /// - Parameter more: settings from other flags of the command.
    package func source(_ more: [FlagValue] = []) throws(SettingsError) -> SettingsSource {
        try SettingsSource(
            FlagValue.all(in: self) + more, file: SettingsSource.file(settings))
    }
}

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

extension QueueOptions {
    /// Opens the queue for one command and closes its connection afterwards.
    ///
    /// - Throws: `QueueError.laterFormat` if a later release wrote the queue.
    func withQueue<Result: Sendable>(
        _ body: (JobQueue, RedisClient) async throws -> Result
    ) async throws -> Result {
        var reader = SettingsReader(try source())
        let connection = QueueConnection(&reader)
        let settings = QueueSettings(&reader)
        reader.passOverWorkerSettings()
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        for warning in connection.warnings { logger.warning("\(warning)") }
        let redis = RedisClient(connection.redis, logger: logger)
        do {
            let queue = JobQueue(name: connection.name, redis: redis, settings: settings)
            try await queue.checkFormat()
            let result = try await body(queue, redis)
            await redis.close()
            return result
        } catch {
            await redis.close()
            throw error
        }
    }
}

extension SettingsReader {
    /// Skips the settings of a queue, for a command that uses none. So the command does not read the queue's password.
    package mutating func passOverQueueSettings() {
        passOver { reader in
            _ = QueueConnection(&reader)
            _ = QueueSettings(&reader)
            _ = StatusSettings(&reader)
            _ = TraceSettings(&reader)
        }
    }

    /// Skips the settings that only workers need, valid or not. Operators inspect a queue most urgently when its
    /// workers do not start.
    package mutating func passOverWorkerSettings() {
        passOver { reader in
            _ = WorkerSettings(&reader)
            _ = StatusSettings(&reader)
            _ = LibraryLocation(&reader)
        }
    }
}

/// A secret that is read from a file, because `ps` shows command lines to every user.
package struct SecretFile: Sendable {
    let what: String
    /// The name of the credential in systemd's `LoadCredential=`.
    let credential: String

    static let redisPassword = SecretFile(what: "password", credential: "redis-password")
    /// The client secret of the gateway at an identity provider.
    package static let oidcClientSecret = SecretFile(
        what: "client secret", credential: "oidc-client-secret")

    /// The longest secret in bytes; a longer file is probably the wrong file.
    static let bytesMax = 4096

    /// Returns the path of the secret: the named file, else a credential of the systemd unit; nil if there is neither.
    func file(
        named: String?, environment: [String: String], exists: (String) -> Bool
    ) -> String? {
        if let named { return named }
        guard let folder = environment["CREDENTIALS_DIRECTORY"] else { return nil }
        let file = "\(folder)/\(credential)"
        return exists(file) ? file : nil
    }

    /// Reads the first line.
    ///
    /// - Throws: an error that names the file and never its content.
    func read(_ file: String) throws(SecretFileError) -> String {
        let bytes: [UInt8]
        do {
            bytes = try SmallFile.bytes(file, atMost: Self.bytesMax)
        } catch {
            throw SecretFileError("the \(what) file \(file) cannot be read: \(error)")
        }
        guard bytes.count <= Self.bytesMax, let text = String(validating: bytes, as: UTF8.self)
        else {
            throw SecretFileError(
                "the \(what) file \(file) is not one line of UTF-8 of at most \(Self.bytesMax) bytes"
            )
        }
        let secret = text.hasSuffix("\n") ? String(text.dropLast()) : text
        guard !secret.isEmpty, !secret.hasControls else {
            throw SecretFileError(
                "the \(what) file \(file) is empty or has more than one line; write the \(what) into it and "
                    + "nothing else")
        }
        return secret
    }
}

extension SettingsReader {
    /// Reads a secret from the file that a setting names, else from the systemd unit's credential; nil if there is
    /// neither.
    package mutating func secret(_ secret: SecretFile, _ setting: Setting<String>) -> String? {
        guard
            let file = secret.file(
                named: optional(setting), environment: environment,
                exists: FileManager.default.fileExists(atPath:))
        else { return nil }
        do throws(SecretFileError) {
            return try secret.read(file)
        } catch {
            refuse("\(setting.key): \(error)")
            return nil
        }
    }
}

/// The reason for which the file of a secret cannot be used.
struct SecretFileError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The flags for the limits on a photo's header, which apply to every job.
package struct LimitOptions: ParsableArguments {
    @Option(Settings.renderPixels) var renderPixels: FlagValue?
    @Option(Settings.limit(.bytes)) var limitBytes: FlagValue?
    @Option(Settings.limit(.frames)) var limitFrames: FlagValue?
    @Option(Settings.limit(.pages)) var limitPages: FlagValue?
    @Option(Settings.limit(.scans)) var limitScans: FlagValue?
    @Option(Settings.limit(.profile)) var limitProfile: FlagValue?
    @Option(Settings.limit(.metadata)) var limitMetadata: FlagValue?
    @Option(Settings.limit(.density)) var limitDensity: FlagValue?
    @Option(Settings.limit(.side)) var limitSide: FlagValue?
    @Option(Settings.limit(.filters)) var limitFilters: FlagValue?
    @Option(Settings.limit(.radius)) var limitRadius: FlagValue?
    @Option(Settings.limit(.spool)) var limitSpool: FlagValue?
    @Option(Settings.limit(.movieFrames)) var limitMovieFrames: FlagValue?
    @Option(Settings.limit(.movieSeconds)) var limitMovieSeconds: FlagValue?
    @Option(Settings.limit(.tracks)) var limitTracks: FlagValue?
    @Option(Settings.limit(.boxes)) var limitBoxes: FlagValue?

    package init() {}

    package var flagValues: [FlagValue] { FlagValue.all(in: self) }
}

extension RenderLimits {
    init(_ reader: inout SettingsReader) {
        self.init(pixelsMax: reader.value(Settings.renderPixels))
        for limit in RenderLimit.allCases {
            self[keyPath: limit.field] = reader.value(Settings.limit(limit))
        }
    }
}

extension ClosedRange<Int> {
    /// Refuses a flag's value that is not in the range.
    func check(_ value: Int?, _ flag: String, unit: String = "") throws {
        guard let value, !contains(value) else { return }
        throw ValidationError(
            "\(flag) is \(value); expected \(lowerBound) to \(upperBound)\(unit).")
    }
}

/// The flags for the tenant and the priority of a job or a batch.
struct SchedulingOptions: ParsableArguments {
    @Option(help: "The tenant; tenants share the workers fairly (default: default).")
    var tenant: String?

    @Option(help: "How urgent: interactive, normal or bulk (default: normal; of a batch: bulk).")
    var priority: Priority?

    @Option(
        help: ArgumentHelp(
            "What one job is likely to cost, in milliseconds of one slot (default: learned).",
            valueName: "ms"))
    var cost: Int?

    func scheduling() throws -> Scheduling {
        var scheduling = Scheduling()
        scheduling.tenant = try tenant.map { try JobID($0) }
        scheduling.priority = priority
        try (1...ContractLimits.costMax).check(cost, "--cost", unit: " milliseconds")
        scheduling.cost = cost
        return scheduling
    }
}

/// The flags for the time of a single job and for the older jobs that it replaces.
struct TimingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Not begun before; a time in UTC like 2026-11-21T06:00:00Z.", valueName: "time"))
    var notBefore: String?

    @Option(
        help: ArgumentHelp(
            "The deadline: a job that has not begun by then dies.", valueName: "time"))
    var deadline: String?

    @Option(
        help: "Takes the place of older jobs of the asset: waiting, or the running one as well.")
    var replace: Scheduling.Replacement?

    /// The flags that were set, for a command that does not support them.
    var given: [String] {
        [
            notBefore.map { _ in "--not-before" }, deadline.map { _ in "--deadline" },
            replace.map { _ in "--replace" },
        ].compactMap(\.self)
    }

    func applied(to scheduling: Scheduling) throws -> Scheduling {
        var scheduling = scheduling
        scheduling.notBefore = try notBefore.map {
            try Scheduling.time($0, of: "--not-before")
        }
        scheduling.deadline = try deadline.map { try Scheduling.time($0, of: "--deadline") }
        scheduling.replace = replace
        return scheduling
    }
}

// Argument Parser lists the values of an enum of strings by itself.
extension Priority: ExpressibleByArgument {}
extension Scheduling.Replacement: ExpressibleByArgument {}
