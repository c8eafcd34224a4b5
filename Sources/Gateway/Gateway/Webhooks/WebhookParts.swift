import AccessKeys
import Edits
import Hummingbird
import JobQueue
import Logging
import Operations
import Redis
import Webhooks

/// The parts that the routes and deliveries of webhooks share.
struct WebhookParts: Sendable {
    let store: WebhookStore
    let sender: WebhookSender
    /// The conversion of an event to the view of an endpoint's owner.
    let view: WebhookService.View
    /// The deliveries of this gateway.
    let service: WebhookService

    /// - Parameters:
    ///   - reads: a separate client for blocking reads.
    ///   - readings: the turns at reading pages of events.
    ///   - allowed: address ranges outside the public Internet that messages may reach.
    init(
        redis: RedisClient, reads: RedisClient, queue: QueueName, allowed: [AddressRange],
        readings: FairTurns, logger: Logger
    ) {
        store = WebhookStore(redis: redis, queue: queue)
        sender = WebhookSender(target: TargetGuard(rule: AddressRule(allowed: allowed)))
        view = { owner, json, event in
            do {
                return try TenantView(owner.reach).view(event, json: json)
            } catch {
                logger.error("event \(event.id) is kept from a tenant's webhook: \(error)")
                return nil
            }
        }
        service = WebhookService(
            store: store, reads: reads, sender: sender, readings: readings, logger: logger,
            view: view)
    }
}

extension AccessKey {
    /// The owner of endpoints that this key creates.
    var webhookOwner: WebhookOwner {
        WebhookOwner(tenant: reach.tenant, assetPrefix: reach.folder)
    }

    /// Returns whether the key may see and change an endpoint: one that gets no event beyond the key's own reach. Otherwise a
    /// key with a narrower prefix could send another key's events to itself.
    func covers(_ endpoint: WebhookEndpoint) -> Bool { reach.covers(endpoint.owner.reach) }
}
