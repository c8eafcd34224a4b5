import AccessKeys
import Adjustments
import Hummingbird
import JobQueue
import Logging
import Operations
import Redis
import Webhooks

/// The parts that routes and deliveries of webhooks share.
struct WebhookParts: Sendable {
    let store: WebhookStore
    let sender: WebhookSender
    let trials = TrialPermits()
    /// The view that an endpoint's owner has of an event.
    let view: WebhookService.View
    /// This gateway's deliveries.
    let service: WebhookService

    /// - Parameters:
    ///   - bell: a client of its own, for reads that wait.
    ///   - allowed: ranges of addresses beside the Internet's that messages may go to.
    init(
        redis: RedisClient, bell: RedisClient, queue: QueueName, allowed: [AddressRange],
        logger: Logger
    ) {
        store = WebhookStore(redis: redis, queue: queue)
        sender = WebhookSender(target: TargetGuard(rule: AddressRule(allowed: allowed)))
        view = { owner, json, event in
            guard let tenant = owner.tenant else { return json }
            do {
                return try TenantView(tenant: JobID(tenant), assetPrefix: owner.assetPrefix)
                    .view(json: json)
            } catch {
                logger.error("event \(event.id) is kept from a tenant's webhook: \(error)")
                return nil
            }
        }
        service = WebhookService(
            store: store, bell: bell, sender: sender, logger: logger, view: view)
    }
}

extension AccessKey {
    /// The owner of the endpoints that this key makes.
    var webhookOwner: WebhookOwner {
        WebhookOwner(tenant: terms.tenant?.string, assetPrefix: terms.assetPrefix.string)
    }

    /// Whether an endpoint is this key's to see and change: an operator's key sees all, a tenant's those that are told what
    /// this very key may see, or a key with a narrower folder could send another's events to itself.
    func covers(_ endpoint: WebhookEndpoint) -> Bool {
        terms.tenant == nil || endpoint.owner == webhookOwner
    }
}
