import Edits
import ArgumentParser
import Files
import FoundationEssentials
import JobQueue
import Logging
import Redis
import ServiceLifecycle
import SystemPackage
import UnixSignals
import Worker

/// `minilab fleet`.
struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Runs as many workers on this machine as the waiting work asks for.",
        discussion: """
            Starts workers when the work takes longer than it should, and stops those that hold no job when fewer have \
            been enough for some minutes. /v1/scale of the gateway answers by the same formula.

            What follows -- is given to each worker (minilab worker --help). A worker has one slot and its part of the \
            machine's memory unless that sets another limit. When the fleet itself is killed, its workers finish or hand back \
            their jobs and end.

            Example:
              minilab fleet --min 1 --max 8 --within 10m --redis redis://10.0.0.5 -- --library /srv/photos
            """)

    @OptionGroup var queueOptions: QueueOptions

    @Option(Settings.fleetMin) var min: FlagValue?
    @Option(Settings.fleetMax) var max: FlagValue?
    @Option(Settings.fleetWithin) var within: FlagValue?
    @Option(Settings.fleetKeep) var keep: FlagValue?
    @Flag(help: .listSettings) var listSettings = false

    @Argument(parsing: .postTerminator, help: "The flags of each worker.")
    var worker: [String] = []

    func run() async throws {
        var reader = SettingsReader(
            try queueOptions.source([min, max, within, keep].compactMap(\.self)))
        let connection = QueueConnection(&reader)
        let queueSettings = QueueSettings(&reader)
        let settings = FleetSettings(&reader)
        reader.passOverWorkerSettings()
        let logger = makeLogger(&reader)
        if listSettings { print(block: reader.list) }
        try reader.finish()
        guard !listSettings else { return }
        for warning in connection.warnings { logger.warning("\(warning)") }
        let redis = RedisClient(connection.redis, logger: logger)
        let fleet = Fleet(
            program: try ownProgram(),
            command: try ["worker"] + queueOptions.arguments
                + settings.workerArguments(given: worker)
                + worker,
            queue: JobQueue(name: connection.name, redis: redis, settings: queueSettings),
            target: settings.target, range: settings.range, keep: settings.keep,
            name: WorkerSettings.defaultName(), parentWatch: try ParentWatch(), logger: logger)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: fleet)], gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger))
        do {
            try await group.run()
        } catch {
            await redis.close()
            throw error
        }
        await redis.close()
    }

    private func ownProgram() throws -> FilePath {
        FilePath(try FileSystem.target(ofLink: "/proc/self/exe"))
    }
}
