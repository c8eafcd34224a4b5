import ArgumentParser
import Edits
import Files
import FoundationEssentials
import JobQueue
import Logging
import Redis
import RenderPool
import ServiceLifecycle
import SystemPackage
import UnixSignals
import Worker

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

/// The settings of a fleet: the number of its workers, and the time in which they should finish the work.
struct FleetSettings {
    let target: ScaleTarget
    let range: ClosedRange<Int>
    let keep: Duration
    /// Whether the environment or the file sets the slots of a worker, and whether they set its memory.
    private let hasSlots: Bool
    private let hasMemory: Bool

    init(_ reader: inout SettingsReader) {
        let least = reader.value(Settings.fleetMin)
        let most = reader.value(Settings.fleetMax)
        if least > most {
            reader.refuse("fleet.min is \(least) and fleet.max is \(most); expected min up to max")
        }
        range = min(least, most)...most
        let within = reader.value(Settings.fleetWithin)
        keep = reader.value(Settings.fleetKeep)
        hasSlots = reader.isSet(Settings.slots)
        hasMemory = reader.isSet(Settings.memory)
        var target = ScaleTarget()
        target.within = Int(within / .seconds(1))
        target.slots = 1
        // The fleet's range applies to its own workers; others may run on other machines.
        target.minWorkers = 0
        target.maxWorkers = ScaleTarget.workersMax
        self.target = target
    }

    /// Returns defaults for the worker flags that are not set: one slot, and a share of the machine's memory.
    ///
    /// - Throws: `MemoryBudgetError` if the machine's memory is unknown.
    func workerArguments(given: [String]) throws -> [String] {
        func isGiven(_ flag: String) -> Bool {
            given.contains { $0 == flag || $0.hasPrefix(flag + "=") }
        }
        var arguments: [String] = []
        if !hasSlots, !isGiven("--slots") { arguments += ["--slots", "1"] }
        if !hasMemory, !isGiven("--memory") {
            var whole = RenderSettings(executable: "")
            try whole.boundMemory()
            let part = max(MemoryBudget.bytesMin, whole.memory.bytes / range.upperBound)
            arguments += ["--memory", "\(part)"]
        }
        return arguments
    }
}
