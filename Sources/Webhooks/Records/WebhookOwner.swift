/// Whose an endpoint is: it gets events of these jobs alone.
package struct WebhookOwner: Sendable, Hashable, Codable {
    /// The tenant; nil: the operator, who gets events of all.
    package let tenant: String?
    /// The folder of its assets, ending in `/`; empty for all.
    package let assetPrefix: String

    package init(tenant: String?, assetPrefix: String) {
        self.tenant = tenant
        self.assetPrefix = assetPrefix
    }
}
