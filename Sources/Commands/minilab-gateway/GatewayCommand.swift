import AccessKeys
import ArgumentParser
import Commands
import Dashboard
import Edits
import FoundationEssentials
import Gateway
import JobQueue
import Library
import Logging
import Redis
import RenderPool
import RenderProtocol
import ServiceLifecycle
import SystemPackage
import Telemetry
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
        version: Engine.versionLine)

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
        let links = connection.redis.ofGateway
        let clients = GatewayClients { RedisClient(links, logger: logger) }
        let queue = JobQueue(
            name: connection.name, redis: clients.commands, settings: queueSettings)
        try await compare(store, with: queue, logger)
        try worker.rendering.boundMemory()
        // The folder is temporary, because pictures can be rendered again.
        let folder = try TemporaryFolder(beside: FileManager.default.temporaryDirectory.path + "/x")
        let pictures = RenderedPictures(
            worker.rendering, worker.editing, folder: FilePath(folder.path), logger: logger)
        let parts = GatewayParts(
            queue: queue, clients: clients, library: store.library, pictures: pictures,
            settings: settings, logger: logger)
        let service = GatewayService(parts) { port in
            logger.notice(
                "the gateway listens on http://\(settings.address):\(port)",
                metadata: ["version": "\(Engine.build)"])
        }
        // A reply to a scrape that is late closes the connection for all its calls.
        let gaugeReads = RedisClient(links, logger: logger)
        let gauges = QueueGauges(
            queue: JobQueue(name: connection.name, redis: gaugeReads, settings: queueSettings),
            isWorker: false)
        let status = try await openStatusPort(parts, gauges, traces)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                // Services end in the opposite order: spans are sent last.
                services: (traces.map { [.init(service: $0)] } ?? []) + service.services
                    + (status.map { [.init(service: $0)] } ?? []),
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        do {
            try await group.run()
        } catch {
            await close(clients.all + [gaugeReads], pictures, store)
            throw error
        }
        await close(clients.all + [gaugeReads], pictures, store)
    }

    /// Refuses a library that is not the queue's, and a queue of a later release. While Redis is away, the gateway starts nevertheless.
    private func compare(
        _ store: OpenStore, with queue: JobQueue, _ logger: Logger
    ) async throws(QueueError) {
        guard let library = store.ofQueue else { return }
        do throws(QueueError) {
            try await queue.checkFormat()
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
        _ parts: GatewayParts, _ gauges: QueueGauges, _ traces: TraceExporter?
    ) async throws -> StatusServer? {
        guard let port = parts.calls.settings.statusPort else { return nil }
        return try await StatusServer.open(
            host: parts.calls.settings.statusAddress, port: port,
            pages: parts.statusPages { await gauges.families() + (traces?.families() ?? []) },
            logger: parts.calls.logger)
    }

    private func close(
        _ clients: [RedisClient], _ pictures: RenderedPictures, _ store: OpenStore
    ) async {
        await pictures.close()
        for client in clients { await client.close() }
        await store.close()
    }
}

/// The flags that configure a gateway. Each is a setting.
struct GatewayOptions: ParsableArguments {
    @Option(Settings.library) var library: FlagValue?
    @Option(Settings.originals) var originals: FlagValue?
    @Option(Settings.gatewayAddress) var address: FlagValue?
    @Option(Settings.gatewayPort) var port: FlagValue?
    @Option(Settings.gatewayOrigin) var origin: FlagValue?
    @Option(Settings.gatewayStatusPort) var statusPort: FlagValue?
    @Option(Settings.gatewayStatusAddress) var statusAddress: FlagValue?
    @Option(Settings.gatewayUploadMax) var uploadMax: FlagValue?
    @Option(Settings.gatewayUploadDay) var uploadDay: FlagValue?
    @Option(Settings.gatewayBacklog) var backlog: FlagValue?
    @Option(Settings.gatewayStored) var stored: FlagValue?
    @Option(Settings.gatewayRate) var rate: FlagValue?
    @Option(Settings.gatewayWebhooksAllow) var webhooksAllow: FlagValue?
}

extension GatewaySettings {
    /// Reads the settings of a gateway.
    init(_ reader: inout SettingsReader) {
        self.init()
        address = reader.value(Settings.gatewayAddress)
        port = reader.value(Settings.gatewayPort)
        statusAddress = reader.value(Settings.gatewayStatusAddress)
        statusPort = reader.optional(Settings.gatewayStatusPort)
        publicOrigin = reader.optional(Settings.gatewayOrigin)
        providerSignIn = ProviderSignInSettings(&reader, origin: publicOrigin)
        uploadBytesMax = reader.value(Settings.gatewayUploadMax)
        uploadBytesPerDay = reader.value(Settings.gatewayUploadDay)
        backlogMax = reader.value(Settings.gatewayBacklog)
        storedBytesMax = reader.optional(Settings.gatewayStored)
        requestsPerSecond = reader.value(Settings.gatewayRate)
        webhooksAllowed = reader.value(Settings.gatewayWebhooksAllow)
    }
}

/// The flags that configure sign-in with an identity provider. Each is a setting.
struct OIDCOptions: ParsableArguments {
    @Option(Settings.oidcIssuer) var oidcIssuer: FlagValue?
    @Option(Settings.oidcClientID) var oidcClientID: FlagValue?
    @Option(Settings.oidcClientSecretFile) var oidcClientSecretFile: FlagValue?
    @Option(
        name: .customLong(Settings.oidcRoles.flag),
        help: ArgumentHelp(
            "\(Settings.oidcRoles.help). May be given several times.",
            valueName: Settings.oidcRoles.syntax.placeholder))
    var oidcRole: [String] = []
    @Option(Settings.oidcClaim) var oidcClaim: FlagValue?
    @Option(Settings.oidcName) var oidcName: FlagValue?

    var flagValues: [FlagValue] {
        FlagValue.all(in: self)
            + (oidcRole.isEmpty
                ? [] : [FlagValue(Settings.oidcRoles, oidcRole.joined(separator: ","))])
    }
}

extension ProviderSignInSettings {
    /// Reads the settings of an identity provider; returns nil if there is none.
    ///
    /// - Parameter origin: the origin that browsers use.
    init?(_ reader: inout SettingsReader, origin: String?) {
        let issuer = reader.optional(Settings.oidcIssuer)
        let client = reader.optional(Settings.oidcClientID)
        let secret = reader.secret(.oidcClientSecret, Settings.oidcClientSecretFile)
        let claim = reader.value(Settings.oidcClaim)
        let name = reader.value(Settings.oidcName)
        let roles = reader.optional(Settings.oidcRoles)
        guard let issuer else {
            if client != nil || roles != nil {
                reader.refuse(
                    "gateway.oidc.client.id or .roles is set and gateway.oidc.issuer is not: give --oidc-issuer URL"
                )
            }
            return nil
        }
        guard let origin else {
            reader.refuse(
                "gateway.oidc.issuer is set and gateway.origin is not: the provider must redirect browsers back; give "
                    + "--origin https://…, the address that they use")
            return nil
        }
        guard let client, let roles else {
            reader.refuse(
                "gateway.oidc.issuer is set and gateway.oidc.\(client == nil ? "client.id" : "roles") is not, or is wrong: "
                    + "give \(client == nil ? "--oidc-client-id ID" : "--oidc-role GROUP=KEY")")
            return nil
        }
        do throws(OIDCError) {
            self.init(
                provider: try ProviderSettings(
                    issuer: issuer, clientID: client, clientSecret: secret,
                    redirectURI: origin + Links.providerReturn, claim: claim),
                roles: roles, name: name)
        } catch {
            reader.refuse("gateway.oidc: \(error.message)")
            return nil
        }
    }
}
