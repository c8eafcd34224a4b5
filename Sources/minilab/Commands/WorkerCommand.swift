import ArgumentParser
import JobQueue
import Library
import Logging
import ServiceLifecycle
import SystemPackage
import UnixSignals
import Worker

/// `minilab worker`.
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract: "Works on the jobs of a queue until it is stopped.",
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

    @Flag(
        help:
            "Finish or hand back the running jobs and end when standard input ends, as on SIGTERM: minilab fleet starts its workers so."
    )
    var drainAtEndOfInput = false

    func run() async throws {
        var reader = SettingsReader(try queueOptions.source(workerOptions.flags))
        let connection = QueueConnection(&reader)
        let queueSettings = QueueSettings(&reader)
        var settings = WorkerSettings(&reader)
        let location = LibraryLocation(&reader)
        if settings.eventURLs != nil, case .folder = location {
            reader.refuse(
                "event.urls is set, and the library is a folder, whose files have no URLs; expected a library in a bucket"
            )
        }
        let statusSettings = StatusSettings(&reader)
        let logger = makeLogger(&reader)
        try reader.finish()
        for warning in connection.warnings { logger.warning("\(warning)") }
        try settings.boundMemory()

        let store = try await OpenStore.open(location, for: .editing, logger)
        do {
            try await work(
                connection, queueSettings, settings, statusSettings, store.library, logger)
        } catch {
            await store.close()
            throw error
        }
        await store.close()
    }

    private func work(
        _ connection: QueueConnection, _ queueSettings: QueueSettings, _ settings: WorkerSettings,
        _ statusSettings: StatusSettings, _ library: any LibraryStore, _ logger: Logger
    ) async throws {
        // Before the first claim: a worker that cannot be watched as it was told must not begin.
        let status = try await StatusPort.open(
            statusSettings, connection, queueSettings, settings, logger)
        let parts = WorkerParts(
            connection, queueSettings, settings, library: library, logger,
            listener: { status?.record($0) })
        do {
            try await parts.pool.start()
        } catch {
            await parts.close()
            await status?.close()
            throw error
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                // Services end in the opposite order: the port tells of a worker that drains.
                services: (status.map { [.init(service: $0.server)] } ?? [])
                    + (drainAtEndOfInput
                        ? [ending(EndOfInput())] : [])
                    + [ending(parts.worker)],
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

    /// A service with which all others end.
    private func ending(
        _ service: any Service
    ) -> ServiceGroupConfiguration.ServiceConfiguration {
        .init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)
    }
}

/// The flags that say how a worker works.
package struct WorkerOptions: ParsableArguments {
    @Option(
        help: "The library: a folder (originals, edits, staging), or s3://bucket/prefix?endpoint=…")
    var library: String?

    @Option(help: "The folder or URL of the originals, when it is not LIBRARY/originals.")
    var originals: String?

    @Option(
        help:
            "With a library in a bucket: the folder of this machine for downloads and results (default: /var/tmp/minilab)."
    )
    var scratch: String?

    @Option(help: "Most bytes of downloads that are kept there (default: 8G).")
    var scratchSize: String?

    @Option(help: "The folder of files that edits name by digest: masks, watermarks, tables.")
    var resources: String?

    @Option(help: "Jobs at the same time (default: one per core).")
    var slots: String?

    @Option(help: "How long a job is held without a heartbeat (default: 30s).")
    var lease: String?

    @Option(help: "How long a render may take (default: 5m).")
    var renderTimeout: String?

    @OptionGroup var limits: LimitOptions

    @Option(help: "Photos after which a render child is replaced (default: 200).")
    var renderPhotos: String?

    @Option(help: "Peak memory after which a render child is replaced (default: 512M).")
    var renderMemory: String?

    @Option(
        help: ArgumentHelp(
            "Whether the render of the same photo with the same edit is used again; in a bucket, true means "
                + "within an asset, and library among all assets, for two requests more a render. "
                + "Always among the jobs of one tenant, but with tenants, which is library for all of "
                + "them together (default: true).",
            valueName: "true|library|tenants|false"))
    var renderReuse: String?

    @Option(
        help: ArgumentHelp(
            "Whether tone and colour of Apple's Photos are rendered about alike: true or false. False: such "
                + "an edit cannot be handled, and the next one is made on its render (default: false).",
            valueName: "true|false"))
    var editorsLookalikes: String?

    @Option(
        help: ArgumentHelp(
            "The format of the app Color Tint, which its text leaves open.",
            valueName: "identifier/version"))
    var editorsTint: String?

    @Option(
        help:
            "What all render children may use together (default: what the control group's limit leaves, else half of the machine's available memory)."
    )
    var memory: String?

    @Option(help: "The folder below which the kernel's files about memory are (default: /).")
    var memoryRoot: String?

    @Option(help: "Where minilab-render is (default: beside minilab).")
    var renderExecutable: String?

    @Option(help: "How long running jobs may go on after SIGTERM (default: 20s).")
    var shutdownGrace: String?

    @Option(
        help:
            "With a library in a bucket: how long the presigned URLs hold that events get, 1m to 7d (default: they get none)."
    )
    var eventUrls: String?

    @Option(help: "Attempts before a job is dead (default: 5).")
    var retryAttempts: String?

    @Option(help: "How long the record of a done job stays (default: 24h).")
    var keepDone: String?

    @Option(
        help: "The worker's name in events and logs (default: host, process, something random).")
    var workerName: String?

    @Option(help: "The port of /metrics, /healthz and /readyz (default: none is opened).")
    var statusPort: String?

    @Option(help: "The address that it listens on (default: 127.0.0.1, this machine alone).")
    var statusAddress: String?

    @Flag(help: "Render nothing when this machine cannot confine render children.")
    var requireConfinement = false

    @Option(
        help: ArgumentHelp(
            "Whether less is done at a time while memory is short (default: true).",
            valueName: "true|false"))
    var pressureWatch: String?

    @Option(
        help:
            "Percent of time in which something waits for memory from which it is short (default: 5)."
    )
    var pressureStall: String?

    @Option(help: "How long memory must not be short before one thing more is done (default: 3s).")
    var pressureQuiet: String?

    package init() {}

    /// What was given, by key of the setting.
    package var flags: [String: String?] {
        [
            "require.confinement": requireConfinement ? "true" : nil,
            "library": library, "originals": originals, "scratch": scratch,
            "scratch.size": scratchSize, "resources": resources, "slots": slots,
            "lease": lease,
            "render.timeout": renderTimeout,
            "render.photos": renderPhotos, "render.memory": renderMemory,
            "event.urls": eventUrls, "render.reuse": renderReuse, "memory": memory,
            "memory.root": memoryRoot,
            "editors.lookalikes": editorsLookalikes, "editors.tint": editorsTint,
            "render.executable": renderExecutable, "shutdown.grace": shutdownGrace,
            "retry.attempts": retryAttempts, "keep.done": keepDone, "worker.name": workerName,
            "status.port": statusPort, "status.address": statusAddress,
            "pressure.watch": pressureWatch, "pressure.stall": pressureStall,
            "pressure.quiet": pressureQuiet,
        ].merging(limits.flags) { $1 }
    }
}
