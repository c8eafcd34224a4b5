import ArgumentParser
import Commands
import JobQueue
import Logging
import Redis
import RenderPool
import ServiceLifecycle
import Telemetry
import UnixSignals
import Worker

/// A complete worker process without pixels, which `ops/chaos` kills.
struct WorkerBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract:
            "Works on a queue like `minilab worker`, but publishes a mark instead of a render.",
        discussion: """
            Claims, leases, heartbeat, commit, finalize and the named points of \
            MINILAB_TEST_STOP_AT are those of a real worker. Takes a real worker's flags and settings; \
            those about rendering do nothing.

            Example:
              minilab-bench worker --redis unix:///tmp/r.sock --slots 8 --ledger /tmp/ledger --work-ms 5
            """)

    @OptionGroup var queueOptions: QueueOptions
    @OptionGroup var workerOptions: WorkerOptions
    @Option(help: "The folder of the effects that jobs publish (default: they publish nothing).")
    var ledger: String?
    @Option(help: "How long each job takes, in ms; it can be cancelled meanwhile.")
    var workMs = 0

    func validate() throws {
        guard (0...3_600_000).contains(workMs) else {
            throw ValidationError("--work-ms is 0 to 3600000.")
        }
    }

    func run() async throws {
        var reader = SettingsReader(try queueOptions.source(workerOptions.flagValues))
        let connection = QueueConnection(&reader)
        let queueSettings = QueueSettings(&reader)
        let settings = WorkerSettings(&reader)
        let logger = makeLogger(&reader)
        try reader.finish()

        let effects = try ledger.map { try EffectLedger(folder: $0, worker: settings.name) }
        let work = Duration.milliseconds(workMs)
        let parts = WorkerParts(
            connection, queueSettings, settings,
            RenderPool(settings: settings.rendering, logger: logger),
            logger,
            metrics: WorkerMetrics(
                Metrics { metric, _, _ in
                    // Records that this worker was refused, so that a scenario can check that it changed nothing.
                    guard metric == "minilab_leases_lost_total", let job = LoggedJob.current else {
                        return
                    }
                    effects?.noteRefusal(of: job, logger)
                }),
            handler: EffectHandler(effects: effects, work: work))
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: parts.worker, successTerminationBehavior: .gracefullyShutdownGroup)
                ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        do {
            try await group.run()
        } catch {
            await parts.close()
            throw error
        }
        await parts.close()
    }
}
