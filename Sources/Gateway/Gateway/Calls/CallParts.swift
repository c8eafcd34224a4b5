import AccessKeys
import Edits
import JobQueue
import Library
package import Logging
import Operations
import Redis
import Webhooks

/// The parts that calls work with, by subject. A class, because every call carries a reference to it.
package final class CallParts: Sendable {
    let queue: JobQueue
    let replays: ReplayStore
    let views: QueueViews
    let events: EventFeed
    let library: any LibraryReader & OriginalsInbox
    /// The maker of thumbnails of versions; nil if this gateway has no renderer.
    let pictures: RenderedPictures?
    let keys: KeyRing
    let keyStore: KeyStore
    let audit: AuditLog
    let signIn: SignInParts
    let webhooks: WebhookParts
    let limits: CallLimits
    let permits: CallPermits
    let metrics: GatewayMetrics
    package let settings: GatewaySettings
    package let logger: Logger

    init(
        queue: JobQueue, replays: ReplayStore, views: QueueViews, events: EventFeed,
        library: any LibraryReader & OriginalsInbox, pictures: RenderedPictures?, keys: KeyRing,
        keyStore: KeyStore, audit: AuditLog, signIn: SignInParts, webhooks: WebhookParts,
        limits: CallLimits, permits: CallPermits, metrics: GatewayMetrics,
        settings: GatewaySettings, logger: Logger
    ) {
        self.queue = queue
        self.replays = replays
        self.views = views
        self.events = events
        self.library = library
        self.pictures = pictures
        self.keys = keys
        self.keyStore = keyStore
        self.audit = audit
        self.signIn = signIn
        self.webhooks = webhooks
        self.limits = limits
        self.permits = permits
        self.metrics = metrics
        self.settings = settings
        self.logger = logger
    }
}

/// Readings of the whole queue that calls share, so that many callers cost Redis what one does.
struct QueueViews: Sendable {
    let snapshots: SharedSnapshot
    let fleet: SharedFleet
    let scaling: ScaleDesk
    let history: RateHistory

    init(_ queue: JobQueue) {
        snapshots = SharedSnapshot(queue)
        fleet = SharedFleet(queue)
        scaling = ScaleDesk(queue, snapshots)
        history = RateHistory(queue)
    }
}

/// The events of a queue as calls read them: the newest from memory, older ones from the stream.
struct EventFeed: Sendable {
    let hub: EventHub
    let frames = EventFrames()
    let queue: QueueName
    let redis: RedisClient

    /// Returns a reader of the stream itself.
    ///
    /// - Parameters:
    ///   - position: the id of an entry, or a time in ms: ``EventReader`` tells them apart.
    ///   - tenant: the tenant for which alone events may be kept; nil for none.
    ///   - count: the most events of its first reading.
    func reader(after position: String, of tenant: JobID?, atMost count: Int) -> EventReader {
        EventReader(
            queue: queue, redis: redis, after: position, of: tenant?.string, atMost: count)
    }
}

/// The limits that all calls share: what a client may have open, ask for and bring.
///
/// Calls that hold something for long take one of the ``CallPermits``, too.
struct CallLimits: Sendable {
    let border = BorderLimits()
    let connections: OpenConnections
    let rate: RequestRate
    /// The bytes of a day that a key may bring.
    let uploads: UploadMeter
    let refusals = RefusalPace()
    let answers = AnswerMemory()
    let traceWishes = TraceWishes()

    init(rate: RequestRate, uploads: UploadMeter) {
        connections = OpenConnections(max: border.connectionsMax)
        self.rate = rate
        self.uploads = uploads
    }
}

/// The parts of signing in to the pages: with a key, and with an identity provider.
struct SignInParts: Sendable {
    let sessions: SessionStore
    let limit = SignInLimit()
    let origin: PageOrigin
    /// Sign-in with an identity provider; nil without one.
    let provider: ProviderSignIn?

    /// - Parameter origin: the origin that browsers use; nil for this machine only.
    init(
        origin: String?, _ provider: ProviderSignInSettings?, redis: RedisClient, queue: QueueName,
        logger: Logger
    ) {
        sessions = SessionStore(redis: redis, queue: queue)
        self.origin = PageOrigin(origin: origin)
        self.provider = provider.map {
            ProviderSignIn($0, redis: redis, queue: queue, logger: logger)
        }
    }
}

/// The parts that the routes and deliveries of webhooks share.
struct WebhookParts: Sendable {
    let store: WebhookStore
    let sender: WebhookSender
    let trials: WebhookTrials
    /// The conversion of an event to the view of an endpoint's owner.
    let view: WebhookView

    /// - Parameter allowed: address ranges outside the public Internet that webhooks may reach.
    init(redis: RedisClient, queue: QueueName, allowed: [AddressRange], logger: Logger) {
        store = WebhookStore(redis: redis, queue: queue)
        sender = WebhookSender(target: TargetGuard(rule: AddressRule(allowed: allowed)))
        trials = WebhookTrials(store, through: sender)
        view = { owner, json, event in
            do {
                return try TenantView(owner.reach).view(event, json: json)
            } catch {
                logger.error("event \(event.id) is kept from a tenant's webhook: \(error)")
                return nil
            }
        }
    }
}
