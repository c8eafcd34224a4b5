package import AccessKeys
package import Edits

/// The owner of an endpoint, which receives events of the owner's jobs only.
package struct WebhookOwner: Sendable, Hashable, Codable {
    /// The tenant; nil for the operator, who receives the events of all tenants.
    package let tenant: String?
    /// The folder of the owner's assets, ending in `/`; empty for all.
    package let assetPrefix: String

    package init(tenant: String?, assetPrefix: String) {
        self.tenant = tenant
        self.assetPrefix = assetPrefix
    }

    /// The owner of what endpoints hold: threads, deliveries.
    package var share: FairShare.Owner { tenant.map { .tenant($0) } ?? .operator }
    /// The objects whose events the endpoint gets.
    package var reach: Reach { Reach(tenant: tenant, folder: assetPrefix) }
}
