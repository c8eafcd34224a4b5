import Glibc
import NIOPosix

/// Finds the addresses of a host.
package protocol AddressResolver: Sendable {
    /// All addresses of the host, the preferred one first; empty when it has none.
    func addresses(of host: String) async throws -> [IPAddress]
}

/// The resolver of the system: hosts file, DNS and what else it is set up for.
package struct SystemResolver: AddressResolver {
    /// Most addresses of one host that are looked at.
    static let addressesMax = 64

    package init() {}

    package func addresses(of host: String) async throws -> [IPAddress] {
        // The call blocks for as long as DNS takes.
        try await NIOThreadPool.singleton.runIfActive { Self.look(host) }
    }

    private static func look(_ host: String) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [IPAddress] = []
        var next = list
        while let info = next?.pointee, found.count < addressesMax {
            if let address = address(info), !found.contains(address) { found.append(address) }
            next = info.ai_next
        }
        return found
    }

    private static func address(_ info: addrinfo) -> IPAddress? {
        switch info.ai_family {
        case AF_INET:
            info.ai_addr.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                withUnsafeBytes(of: &address.pointee.sin_addr) { IPAddress(bytes: Array($0)) }
            }
        case AF_INET6:
            info.ai_addr.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                withUnsafeBytes(of: &address.pointee.sin6_addr) { IPAddress(bytes: Array($0)) }
            }
        default: nil
        }
    }
}
