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
