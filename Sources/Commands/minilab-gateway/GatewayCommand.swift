import AccessKeys
import ArgumentParser
import Commands
import Dashboard
import Editing
import Edits
import Files
import FoundationEssentials
import Gateway
import JobQueue
import Library
import Logging
import Redis
import RenderPool
import RenderProtocol
import ServiceLifecycle
import Synchronization
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
        let redis = RedisClient(links, logger: logger)
        // Blocking reads of events need connections of their own.
        let eventReads = RedisClient(links, logger: logger)
        let keyReads = RedisClient(links, logger: logger)
        let webhookReads = RedisClient(links, logger: logger)
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
            logger.notice(
                "the gateway listens on http://\(settings.address):\(port)",
                metadata: ["version": "\(Engine.build)"])
        }
        // A reply to a scrape that is late closes the connection for all its calls.
        let gaugeReads = RedisClient(links, logger: logger)
        let gauges = QueueGauges(
            queue: JobQueue(name: connection.name, redis: gaugeReads, settings: queueSettings),
            isWorker: false)
        let clients = [redis, eventReads, keyReads, webhookReads, gaugeReads]
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
            await close(clients, pictures, store)
            throw error
        }
        await close(clients, pictures, store)
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
        guard let port = parts.settings.statusPort else { return nil }
        return try await StatusServer.open(
            host: parts.settings.statusAddress, port: port,
            pages: parts.statusPages { await gauges.families() + (traces?.families() ?? []) },
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

/// Thumbnails that sandboxed render children make, one at a time for a tenant, cached in a folder of bounded size.
///
/// The folder belongs to this process and is removed with it, because a picture takes only about a second to make
/// again.
actor RenderedPictures: PictureMaker {
    /// The most bytes of cached pictures: about four hundred pictures. In a container the folder is in memory.
    static let keptBytesMax = 64 << 20
    /// The most pictures that wait to be rendered; a tenant has at most as many as are free.
    static let waitingMax = 64
    /// The longest time for a picture. A photo of 50 MP takes 2 s; a page shows the place of a missing one.
    static let timeMax = Duration.seconds(15)

    private let pool: RenderPool
    private let renderer: FileRenderer
    private let folder: FilePath
    /// Pictures by file name, the least recently requested first.
    private var kept: [(name: String, bytes: Int)] = []
    private var making: [String: Task<Void, any Error>] = [:]
    /// Two pictures at a time, of two tenants: a photo that takes long delays only others of its own tenant.
    private let turns = FairTurns(
        .init(all: 2, ofTenantMax: 1), waiting: .init(all: RenderedPictures.waitingMax))

    /// - Parameter folder: a new folder for this cache alone.
    init(settings: WorkerSettings, folder: FilePath, logger: Logger) {
        var rendering = settings.rendering
        rendering.slots = 2
        rendering.timeout = min(rendering.timeout, Self.timeMax)
        pool = RenderPool(settings: rendering, logger: logger)
        renderer = FileRenderer(pool: pool, settings: settings.editing)
        self.folder = folder
    }

    nonisolated var refusedCount: Int { turns.refusedCount }

    func picture(
        named name: String, side: Int, for owner: FairShare.Owner,
        of open: @Sendable @escaping () async throws -> OpenFile
    ) async throws -> OpenFile {
        let digest = SHA256.hash(data: "\(side)\n\(name)".utf8)
        let file = digest.hex + ".jpg"
        let path = folder.appending(file)
        if let index = kept.firstIndex(where: { $0.name == file }) {
            kept.append(kept.remove(at: index))
            return try OpenFile(reading: path.string)
        }
        if let task = making[file] {
            try await task.value
            return try OpenFile(reading: path.string)
        }
        let task = Task {
            do {
                try await turns.withTurn(of: owner) {
                    try await self.make(path, side, try await open())
                }
            } catch is FairTurns.Full {
                throw Failure(
                    .ioFailure,
                    "\(turns.waitingCount) pictures wait to be made, and this tenant has its share of them; ask again later."
                )
            }
        }
        making[file] = task
        defer { making[file] = nil }
        try await task.value
        let made = try OpenFile(reading: path.string)
        keep(file, try made.length())
        return made
    }

    private func make(_ path: FilePath, _ side: Int, _ photo: OpenFile) async throws {
        var output = Recipe.Output()
        output.format = .jpeg
        do {
            // The photo's tenant is not known here: it shares a process with no other photo.
            _ = try await renderer.render(
                photo, Recipe(filters: [], output: output),
                for: Borrower(.photo(path.string)), longestSide: side, to: path)
        } catch {
            // An incomplete picture may be left. It is in no list, and the next attempt needs its path.
            try? FileManager.default.removeItem(atPath: path.string)
            throw error
        }
    }

    private func keep(_ name: String, _ bytes: Int) {
        guard !kept.contains(where: { $0.name == name }) else { return }
        kept.append((name, bytes))
        var total = kept.reduce(0) { $0 + $1.bytes }
        while total > Self.keptBytesMax, kept.count > 1 {
            let oldest = kept.removeFirst()
            total -= oldest.bytes
            // A file that cannot be removed is removed with the folder.
            try? FileManager.default.removeItem(atPath: folder.appending(oldest.name).string)
        }
    }

    /// Stops the render children and removes the folder.
    func close() async {
        await pool.close()
        // The next start creates a new folder; the system cleans up temporary folders.
        try? FileManager.default.removeItem(atPath: folder.string)
    }
}
