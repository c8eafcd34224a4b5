import AccessKeys
import ArgumentParser
import FoundationEssentials
import Gateway
import JobQueue
import Library
import Logging
import Commands
import Redis
import RenderPool
import RenderProtocol
import ServiceLifecycle
import Telemetry
import SystemPackage
import UnixSignals
import Worker

/// `minilab-gateway`, which `minilab gateway` (`GatewayLauncher`) starts.
struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "minilab-gateway",
        abstract: "Serves a queue and its library over HTTP, until it is stopped.",
        discussion: """
            Jobs, batches, events, originals and renders for services that have a key (minilab key create), and the \
            dashboard for operators. Start as many as you like. TLS is a proxy's work: give its address with --origin.

            Every flag is also an environment variable (--library: MINILAB_LIBRARY; --port: MINILAB_GATEWAY_PORT).

            Example:
              minilab gateway --redis redis://127.0.0.1:6379 --library /srv/photos
            """,
        version: Engine.name)

    @OptionGroup var queueOptions: QueueOptions
    @OptionGroup var options: GatewayOptions
    @OptionGroup(title: "Sign-in with an identity provider") var oidc: OIDCOptions
    @OptionGroup(title: "Traces") var traceOptions: TraceOptions

    @Flag(help: .listSettings) var listSettings = false

    func run() async throws {
        var reader = SettingsReader(
            try queueOptions.source(
                FlagValue.all(in: options) + oidc.flagValues + traceOptions.flagValues)
        )
        let connection = QueueConnection(&reader)
        let queueSettings = QueueSettings(&reader)
        let location = LibraryLocation(&reader)
        let settings = GatewaySettings(&reader)
        var worker = WorkerSettings(&reader)
        let traceSettings = TraceSettings(&reader)
        reader.passOverWorkerSettings()
        let logger = makeLogger(&reader)
        if listSettings { print(block: reader.list) }
        try reader.finish()
        guard !listSettings else { return }
        let traces = TraceExporter.start(
            traceSettings, of: "minilab-gateway", version: Engine.version, named: worker.name,
            logger)
        for warning in connection.warnings { logger.warning("\(warning)") }

        let store = try await OpenStore.open(location, for: .queue(connection), logger)
        let redis = RedisClient(connection.redis, logger: logger)
        // Blocking reads of events need connections of their own.
        let eventReads = RedisClient(connection.redis, logger: logger)
        let keyReads = RedisClient(connection.redis, logger: logger)
        let webhookReads = RedisClient(connection.redis, logger: logger)
        let queue = JobQueue(name: connection.name, redis: redis, settings: queueSettings)
        try await compare(store, with: queue, logger)
        try worker.rendering.boundMemory()
        // The folder is temporary, because pictures can be rendered again.
        let folder = try TemporaryFolder(beside: FileManager.default.temporaryDirectory.path + "/x")
        let pictures = RenderedPictures(
            settings: worker, folder: FilePath(folder.path), logger: logger)
        let parts = GatewayParts(
            queue: queue, redis: redis, eventReads: eventReads, keyReads: keyReads,
            webhookReads: webhookReads,
            library: store.library, pictures: pictures, settings: settings, logger: logger)
        let service = GatewayService(parts) { port in
            logger.notice("the gateway listens on http://\(settings.address):\(port)")
        }
        let status = try await openStatusPort(parts, traces)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                // Services end in the opposite order: spans are sent last.
                services: (traces.map { [.init(service: $0)] } ?? []) + [
                    .init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)
                ] + (status.map { [.init(service: $0)] } ?? []),
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        do {
            try await group.run()
        } catch {
            await close([redis, eventReads, keyReads, webhookReads], pictures, store)
            throw error
        }
        await close([redis, eventReads, keyReads, webhookReads], pictures, store)
    }

    /// Refuses a library that is not the queue's. While Redis is away, the gateway starts nevertheless.
    private func compare(
        _ store: OpenStore, with queue: JobQueue, _ logger: Logger
    ) async throws(QueueError) {
        guard let library = store.ofQueue else { return }
        do throws(QueueError) {
            try await queue.insist(on: library)
        } catch {
            guard error.code == .redis else { throw error }
            logger.warning(
                "the library could not be compared with the queue's",
                metadata: ["error": "\(error)"])
        }
    }

    /// Opens the status port if the settings name one.
    private func openStatusPort(
        _ parts: GatewayParts, _ traces: TraceExporter?
    ) async throws -> StatusServer? {
        guard let port = parts.settings.statusPort else { return nil }
        return try await StatusServer.open(
            host: parts.settings.statusAddress, port: port,
            pages: parts.statusPages { traces?.families() ?? [] },
            logger: parts.logger)
    }

    private func close(
        _ clients: [RedisClient], _ pictures: RenderedPictures, _ store: OpenStore
    ) async {
        await pictures.close()
        for client in clients { await client.close() }
        await store.close()
    }
}
