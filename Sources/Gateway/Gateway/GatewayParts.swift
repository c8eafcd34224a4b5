package import AccessKeys
package import JobQueue
package import Library
package import Logging
package import Operations
package import Redis
import RenderProtocol

/// The parts that the routes share. A class, because every call carries a reference to it.
package final class GatewayParts: Sendable {
    package let queue: JobQueue
    package let redis: RedisClient
    package let library: any LibraryReader & OriginalsInbox
    package let keys: KeyRing
    package let keyStore: KeyStore
    package let hub: EventHub
    let frames = EventFrames()
    let traceWishes = TraceWishes()
    let border = BorderLimits()
    package let connections: OpenConnections
    package let permits: CallPermits
    let rate: RequestRate
    let refusals = RefusalPace()
    let answers = AnswerMemory()
    package let replays: ReplayStore
    package let audit: AuditLog
    package let sessions: SessionStore
    package let snapshots: SharedSnapshot
    let fleet: SharedFleet
    let scaling: ScaleDesk
    package let history: RateHistory
    /// The maker of thumbnails of versions; nil if this gateway has no renderer.
    let pictures: RenderedPictures?
    let webhooks: WebhookParts
    package let metrics: GatewayMetrics
    let signIns = SignInLimit()
    /// Sign-in with an identity provider; nil without one.
    let providerSignIn: ProviderSignIn?
    let pageOrigin: PageOrigin
    package let settings: GatewaySettings
    package let logger: Logger

    /// - Parameters:
    ///   - eventReads: a separate client for blocking reads of events.
    ///   - keyReads: a separate client for blocking reads of key changes.
    ///   - webhookReads: a separate client for blocking reads of webhooks.
    package init(
        queue: JobQueue, redis: RedisClient, eventReads: RedisClient, keyReads: RedisClient,
        webhookReads: RedisClient, library: any LibraryReader & OriginalsInbox,
        pictures: RenderedPictures? = nil,
        settings: GatewaySettings, logger: Logger
    ) {
        self.queue = queue
        self.redis = redis
        self.library = library
        self.settings = settings
        self.logger = logger
        keyStore = KeyStore(redis: redis, queue: queue.name)
        keys = KeyRing(store: keyStore, queue: queue, controlReads: keyReads, logger: logger)
        hub = EventHub(queue: queue.name, eventReads: eventReads, logger: logger)
        connections = OpenConnections(max: border.connectionsMax)
        permits = CallPermits(streamsMax: settings.streamsMax)
        rate = RequestRate(perSecond: settings.requestsPerSecond)
        replays = ReplayStore(redis: redis, queue: queue.name)
        audit = AuditLog(redis: redis, queue: queue.name, logger: logger)
        sessions = SessionStore(redis: redis, queue: queue.name)
        snapshots = SharedSnapshot(queue)
        fleet = SharedFleet(queue)
        scaling = ScaleDesk(queue, snapshots)
        history = RateHistory(queue)
        webhooks = WebhookParts(
            queue, redis: redis, reads: webhookReads, hub: hub, allowed: settings.webhooksAllowed,
            readings: permits.readings, logger: logger)
        self.pictures = pictures
        metrics = GatewayMetrics(
            version: Engine.version, commit: Engine.commit, routes: RouteTable.routes.count)
        providerSignIn = settings.providerSignIn.map {
            ProviderSignIn($0, redis: redis, queue: queue.name, logger: logger)
        }
        pageOrigin = PageOrigin(origin: settings.publicOrigin)
    }
}
