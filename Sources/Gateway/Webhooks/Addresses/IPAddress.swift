import Glibc

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
