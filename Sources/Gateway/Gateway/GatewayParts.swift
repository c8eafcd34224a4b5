import AccessKeys
package import JobQueue
package import Library
package import Logging
import Operations
package import Redis
import RenderProtocol
import Webhooks

/// A gateway, assembled: what its calls work with, and the deliveries beside them.
package struct GatewayParts: Sendable {
    package let calls: CallParts
    let deliveries: WebhookService

    package init(
        queue: JobQueue, clients: GatewayClients, library: any LibraryReader & OriginalsInbox,
        pictures: RenderedPictures? = nil, settings: GatewaySettings, logger: Logger
    ) {
        let (redis, name) = (clients.commands, queue.name)
        let keyStore = KeyStore(redis: redis, queue: name)
        let hub = EventHub(queue: name, eventReads: clients.eventReads, logger: logger)
        let permits = CallPermits(streamsMax: settings.streamsMax)
        let webhooks = WebhookParts(
            redis: redis, queue: name, allowed: settings.webhooksAllowed, logger: logger)
        calls = CallParts(
            queue: queue, replays: ReplayStore(redis: redis, queue: name), views: QueueViews(queue),
            events: EventFeed(hub: hub, queue: name, redis: redis), library: library,
            pictures: pictures,
            keys: KeyRing(
                store: keyStore, queue: queue, controlReads: clients.keyReads, logger: logger),
            keyStore: keyStore, audit: AuditLog(redis: redis, queue: name, logger: logger),
            signIn: SignInParts(
                origin: settings.publicOrigin, settings.providerSignIn, redis: redis, queue: name,
                logger: logger),
            webhooks: webhooks,
            limits: CallLimits(
                rate: RequestRate(perSecond: settings.requestsPerSecond),
                uploads: UploadMeter(
                    redis: redis, queue: name, bytesPerDay: settings.uploadBytesPerDay)),
            permits: permits,
            metrics: GatewayMetrics(
                version: Engine.version, commit: Engine.commit, routes: RouteTable.routes.count),
            settings: settings, logger: logger)
        deliveries = WebhookService(
            queue, store: webhooks.store, reads: clients.webhookReads, hub: hub,
            sender: webhooks.sender, readings: permits.readings, logger: logger,
            view: webhooks.view)
    }
}

/// The connections of a gateway to Redis. A blocking read holds its connection, so each kind of them has one of its own.
package struct GatewayClients: Sendable {
    package let commands: RedisClient
    let eventReads: RedisClient
    let keyReads: RedisClient
    let webhookReads: RedisClient

    /// - Parameter client: makes a client.
    package init(_ client: () -> RedisClient) {
        (commands, eventReads) = (client(), client())
        (keyReads, webhookReads) = (client(), client())
    }

    package var all: [RedisClient] { [commands, eventReads, keyReads, webhookReads] }
}
