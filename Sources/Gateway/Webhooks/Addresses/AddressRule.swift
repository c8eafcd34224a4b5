/// The permitted targets of webhooks: globally reachable addresses, and those that the operator lists.
///
/// Source of the ranges: IANA's registries of special-purpose addresses for IPv4 and IPv6 (RFC 6890 and its updates).
package struct AddressRule: Sendable {
    /// The ranges that the operator lists. Plain HTTP and any port are allowed there.
    package let allowed: [AddressRange]

    package init(allowed: [AddressRange] = []) { self.allowed = allowed }

    /// Returns whether the operator lists the address.
    package func lists(_ address: IPAddress) -> Bool { allowed.contains { $0.contains(address) } }

    /// Returns the reason why the address is refused; nil if it is permitted.
    package func refusal(of address: IPAddress) -> String? {
        lists(address) ? nil : Self.special(address)
    }

    /// Returns the kind of an address that is not globally reachable; nil for one that is.
    static func special(_ address: IPAddress) -> String? {
        let address = address.unmapped
        if address.bytes.count == 4 { return kind(of: address, in: version4) }
        if nat64.contains(address) {
            // DNS64 maps every IPv4 address to such an address, so the IPv4 address decides.
            return special(IPAddress(bytes: Array(address.bytes.suffix(4))))
        }
        if let kind = kind(of: address, in: version6) { return kind }
        // All address space that has been allocated for the global Internet begins so (RFC 4291, 2.4).
        return global.contains(address) ? nil : "not given out"
    }

    private static func kind(
        of address: IPAddress, in table: [(AddressRange, String)]
    ) -> String? {
        table.first { $0.0.contains(address) }?.1
    }

    private static let global = AddressRange(checked: "2000::/3")
    private static let nat64 = AddressRange(checked: "64:ff9b::/96")

    private static let version4: [(AddressRange, String)] = [
        ("0.0.0.0/8", "this network"), ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "carrier-grade NAT"), ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local, with a cloud's metadata"), ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "protocol assignments"), ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relays"), ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmarks"), ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"), ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    ].map { (AddressRange(checked: $0.0), $0.1) }

    private static let version6: [(AddressRange, String)] = [
        ("::/128", "unspecified"), ("::1/128", "loopback"), ("::/96", "IPv4-compatible"),
        ("64:ff9b:1::/48", "local NAT64"), ("100::/64", "discard"),
        ("2001::/23", "protocol assignments, with Teredo"), ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4"), ("3fff::/20", "documentation"), ("5f00::/16", "segment routing"),
        ("fc00::/7", "unique local"), ("fe80::/10", "link-local"), ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    ].map { (AddressRange(checked: $0.0), $0.1) }
}
