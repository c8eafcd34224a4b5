import Edits
import Glibc

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

/// A range of addresses with a common prefix: `10.0.0.0/8`, `fd00::/8`, or a single address.
package struct AddressRange: Sendable, Hashable, CustomStringConvertible {
    private let base: [UInt8]
    private let length: Int

    /// - Throws: `invalidRange`, also if bits are set behind the prefix: the author of `10.1.2.3/8` may have meant another range.
    package init(_ text: String) throws(WebhookError) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let address = IPAddress(String(parts[0]))?.unmapped
        let bits = (address?.bytes.count ?? 0) * 8
        let length = parts.count == 2 ? Int(parts[1]) : bits
        guard let address, let length, (0...bits).contains(length),
            address.bytes == Self.masked(address.bytes, length)
        else {
            throw WebhookError(
                .invalidRange,
                "\(String(text.prefix(80)).debugDescription) is no range of addresses; give one as in 10.1.0.0/16, "
                    + "fd00:1234::/32 or 192.0.2.7.")
        }
        base = address.bytes
        self.length = length
    }

    /// Creates a range from a constant of this code.
    init(checked text: String) {
        do {
            try self.init(text)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Returns whether the address is in the range. A mapped address counts as the IPv4 address that it contains.
    package func contains(_ address: IPAddress) -> Bool {
        let bytes = address.unmapped.bytes
        return bytes.count == base.count && Self.masked(bytes, length) == base
    }

    private static func masked(_ bytes: [UInt8], _ length: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let bits = min(8, max(0, length - index * 8))
            return bits == 0 ? 0 : byte & (0xff << UInt8(8 - bits))
        }
    }

    package var description: String { "\(IPAddress(bytes: base))/\(length)" }
}

/// An address of IPv4 (4 bytes) or IPv6 (16 bytes), in network order.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        precondition(bytes.count == 4 || bytes.count == 16, "an address has 4 or 16 bytes")
        self.bytes = bytes
    }

    /// Decodes `192.0.2.1` or `2001:db8::1`: four decimal numbers or RFC 4291's form, nothing else; no zone.
    package init?(_ text: String) {
        var buffer = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &buffer) == 1 {
            bytes = Array(buffer.prefix(4))
        } else if inet_pton(AF_INET6, text, &buffer) == 1 {
            bytes = buffer
        } else {
            return nil
        }
    }

    /// The IPv4 address in an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`); otherwise the address itself.
    var unmapped: IPAddress {
        guard bytes.count == 16, bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xff,
            bytes[11] == 0xff
        else { return self }
        return IPAddress(bytes: Array(bytes.suffix(4)))
    }

    package var description: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        _ = inet_ntop(
            bytes.count == 4 ? AF_INET : AF_INET6, bytes, &buffer, socklen_t(buffer.count))
        return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    }
}

/// The URL of an endpoint, in a form that every parser reads alike: `https://host[:port][/path][?query]` in ASCII.
package struct WebhookURL: Sendable, Hashable, CustomStringConvertible {
    package let string: String
    let isSecure: Bool
    /// The name in lower case or the address, without the brackets of IPv6.
    let host: String
    let port: Int

    /// The URL for logs and the audit log: whom it leads to, without the path and the query, which may have a token.
    package var logged: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(isSecure ? "https" : "http")://\(name):\(port)/…"
    }

    /// The maximum length of a URL, in bytes.
    package static let bytesMax = 2048
    /// The ports that are allowed outside the operator's own ranges.
    static let ports: Set<Int> = [443, 8443]

    /// - Throws: `invalidURL`.
    package init(_ text: String) throws(WebhookError) {
        // The host contains no character that parsers interpret differently: no @, backslash, percent or Unicode.
        let form =
            /(https?):\/\/([a-z0-9](?:[a-z0-9.\-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::([0-9]{1,5}))?((?:[\/?][!$-;=?-Z_a-z~]*)?)/
        guard text.utf8.count <= Self.bytesMax, let match = text.wholeMatch(of: form) else {
            throw Self.refusal(
                text,
                "expected https://host, with a port, a path and a query if needed, in ASCII and the host in lower case; no "
                    + "user, password or #")
        }
        string = text
        isSecure = match.1 == "https"
        port = match.3.flatMap { Int($0) } ?? (isSecure ? 443 : 80)
        guard (1...65_535).contains(port) else { throw Self.refusal(text, "no port \(port)") }
        host = match.2.hasPrefix("[") ? String(match.2.dropFirst().dropLast()) : String(match.2)
        guard !match.2.hasPrefix("[") || IPAddress(host) != nil else {
            throw Self.refusal(text, "\(host) is no address")
        }
    }

    package var description: String { string }

    private static func refusal(_ text: String, _ reason: String) -> WebhookError {
        WebhookError(
            .invalidURL,
            "URL \(String(text.prefix(200)).debugDescription) is not allowed: \(reason).")
    }
}
