import ArgumentParser
import JobQueue
import Library
import Logging
import RenderPool
import RenderProtocol
import ServiceLifecycle
import SystemPackage
import Telemetry
import UnixSignals
import Worker

struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract: "Processes the jobs of a queue until it is stopped.",
        discussion: """
            Start as many as you like, on as many machines as share the library. SIGTERM: running \
            jobs are finished or handed back. SIGKILL costs one lease.

            Every flag is also an environment variable (--render-timeout: MINILAB_RENDER_TIMEOUT) \
            and a field of the settings file (render.timeout); flag > environment > file > default.

            Example:
              minilab worker --redis redis://127.0.0.1:6379 --library /srv/photos
            """)

    @OptionGroup var queueOptions: QueueOptions
    @OptionGroup var workerOptions: WorkerOptions
    @OptionGroup(title: "Traces") var traceOptions: TraceOptions

    @Flag(help: .listSettings) var listSettings = false

    func run() async throws {
        var reader = SettingsReader(
            try queueOptions.source(workerOptions.flagValues + traceOptions.flagValues))
        let connection = QueueConnection(&reader)
        let queueSettings = QueueSettings(&reader)
        var settings = WorkerSettings(&reader)
        let location = LibraryLocation(&reader)
        if settings.eventURLs != nil, case .folder = location {
            reader.refuse(
                "event.urls is set, but the library is a folder, and its files have no URLs; expected a library in "
                    + "a bucket"
            )
        }
        let statusSettings = StatusSettings(&reader)
        let traceSettings = TraceSettings(&reader)
        let logger = makeLogger(&reader)
        if listSettings { print(block: reader.list) }
        try reader.finish()
        guard !listSettings else { return }
        let traces = TraceExporter.start(
            traceSettings, of: "minilab-worker", version: Engine.version, named: settings.name,
            logger)
        for warning in connection.warnings { logger.warning("\(warning)") }
        try settings.rendering.boundMemory()

        let store = try await OpenStore.open(location, for: .queue(connection), logger)
        do {
            try await work(
                connection, queueSettings, settings, statusSettings, store, traces, logger)
        } catch {
            await store.close()
            throw error
        }
        await store.close()
    }

    private func work(
        _ connection: QueueConnection, _ queueSettings: QueueSettings, _ settings: WorkerSettings,
        _ statusSettings: StatusSettings, _ library: OpenStore,
        _ traces: TraceExporter?, _ logger: Logger
    ) async throws {
        let metrics = WorkerMetrics(
            version: Engine.version, commit: Engine.commit, worker: settings.name,
            queue: connection.name.string,
            slots: settings.rendering.slots, lease: queueSettings.lease)
        // The port opens before the first claim: a worker must not start if it cannot be monitored as configured.
        let status = try await StatusPort.open(
            statusSettings, connection, queueSettings, metrics, traces, logger)
        let parts = WorkerParts(
            connection, queueSettings, settings, library: library, logger, metrics: metrics)
        do {
            try await parts.pool.start()
        } catch {
            await parts.close()
            await status?.close()
            throw error
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                // Services stop in reverse order, so the port still serves while the worker drains, and the last spans are sent.
                services: (traces.map { [.init(service: $0)] } ?? [])
                    + (status.map { [.init(service: $0.server)] } ?? [])
                    + [
                        // Its end stops the others.
                        .init(
                            service: parts.worker,
                            successTerminationBehavior: .gracefullyShutdownGroup)
                    ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        do {
            try await group.run()
        } catch {
            await parts.close()
            await status?.close()
            throw error
        }
        await parts.close()
        await status?.close()
    }

}

package struct WorkerOptions: ParsableArguments {
    @Option(Settings.library) var library: FlagValue?
    @Option(Settings.originals) var originals: FlagValue?
    @Option(Settings.scratch) var scratch: FlagValue?
    @Option(Settings.scratchSize) var scratchSize: FlagValue?
    @Option(Settings.resources) var resources: FlagValue?
    @Option(Settings.slots) var slots: FlagValue?
    @Option(Settings.lease) var lease: FlagValue?
    @Option(Settings.renderTimeout) var renderTimeout: FlagValue?
    @OptionGroup var limits: LimitOptions
    @Option(Settings.renderPhotos) var renderPhotos: FlagValue?
    @Option(Settings.renderMemory) var renderMemory: FlagValue?
    @Option(Settings.renderReuse) var renderReuse: FlagValue?
    @Option(Settings.editorsLookalikes) var editorsLookalikes: FlagValue?
    @Option(Settings.editorsTint) var editorsTint: FlagValue?
    @Option(Settings.memory) var memory: FlagValue?
    @Option(Settings.memoryRoot) var memoryRoot: FlagValue?
    @Option(Settings.renderExecutable) var renderExecutable: FlagValue?
    @Option(Settings.shutdownGrace) var shutdownGrace: FlagValue?
    @Option(Settings.eventURLs) var eventURLs: FlagValue?
    @Option(Settings.retryAttempts) var retryAttempts: FlagValue?
    @Option(Settings.keepDone) var keepDone: FlagValue?
    @Option(Settings.workerName) var workerName: FlagValue?
    @Option(Settings.statusPort) var statusPort: FlagValue?
    @Option(Settings.statusAddress) var statusAddress: FlagValue?
    @Flag(help: "\(Settings.requireConfinement.help).") var requireConfinement = false
    @Option(Settings.pressureWatch) var pressureWatch: FlagValue?
    @Option(Settings.pressureStall) var pressureStall: FlagValue?
    @Option(Settings.pressureQuiet) var pressureQuiet: FlagValue?

    package init() {}

    package var flagValues: [FlagValue] {
        FlagValue.all(in: self) + limits.flagValues
            + (requireConfinement ? [FlagValue(Settings.requireConfinement, "true")] : [])
    }
}
