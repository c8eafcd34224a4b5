package import AccessKeys

/// Decides the address to which a delivery connects: resolves a host once, checks all its addresses, and returns one of them.
///
/// The connection uses only that address, so a name that resolves to another address a moment later has no effect (DNS rebinding).
package struct TargetGuard: Sendable {
    let rule: AddressRule
    let resolver: any AddressResolver

    package init(rule: AddressRule, resolver: any AddressResolver = SystemResolver()) {
        self.rule = rule
        self.resolver = resolver
    }

    /// Returns the address to connect to.
    ///
    /// - Parameter owner: The owner of the endpoint, who pays for the look-up.
    /// - Throws: `unknownHost`, `refusedAddress`.
    package func address(
        for url: WebhookURL, of owner: FairShare.Owner
    ) async throws(WebhookError) -> IPAddress {
        let found: [IPAddress]
        do {
            found = try await resolver.addresses(of: url.host, for: owner)
        } catch let error as WebhookError {
            throw error
        } catch {
            throw WebhookError(
                .unknownHost, "the addresses of \(url.host) were not found: \(error)")
        }
        guard let first = found.first else {
            throw WebhookError(
                .unknownHost, "\(url.host) has no address; check the name, and that DNS answers.")
        }
        for address in found {
            if let kind = rule.refusal(of: address) {
                throw WebhookError(
                    .refusedAddress,
                    // Without the address: an owner of endpoints must not be able to resolve names of the operator's network.
                    "\(url.host) leads to an address that is not of the Internet (\(kind)); webhooks go to such addresses "
                        + "only in ranges that the operator allows.")
            }
        }
        if found.allSatisfy(rule.lists) { return first }
        guard url.isSecure, WebhookURL.ports.contains(url.port) else {
            throw WebhookError(
                .refusedAddress,
                "\(url) is not https on port 443 or 8443; that is allowed only to ranges that the operator allows."
            )
        }
        return first
    }
}
