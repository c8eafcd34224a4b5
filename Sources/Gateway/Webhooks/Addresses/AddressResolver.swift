package import AccessKeys
import Edits
import Glibc
import NIOPosix

/// Resolves the addresses of a host.
package protocol AddressResolver: Sendable {
    /// Returns all addresses of the host, the preferred one first; an empty array if it has none.
    ///
    /// - Parameter owner: The owner of the endpoint, who pays for the look-up.
    func addresses(of host: String, for owner: FairShare.Owner) async throws -> [IPAddress]
}

/// The resolver of the system: hosts file, DNS and the other configured sources.
///
/// An address is decoded and never looked up. The call for a name blocks a thread for as long as DNS takes (30 s with three silent
/// servers) and cannot be cancelled. So it has threads of its own, which tenants share, and a thread counts as its tenant's until its
/// call returns, also after the caller has given up. Rejected: `getaddrinfo_a`, which runs the same call on hidden threads and
/// cannot cancel one that has begun.
package struct SystemResolver: AddressResolver {
    /// The maximum number of addresses of one host that are checked.
    static let addressesMax = 64
    /// The simultaneous look-ups: two of a tenant whose name servers are silent leave threads for all others. A thread that waits
    /// costs some 20 KB.
    static let lookups = FairShare.Limits(all: 32, reserve: 4, ofTenantMax: 2)
    /// The look-ups that wait for a thread, about two for each endpoint of a tenant.
    static let waiting = FairShare.Limits(all: 512, ofTenantMax: 48)
    /// The maximum wait for a look-up, including the wait for a thread.
    static let lookupMax = Duration.seconds(5)

    private static let pool: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: lookups.all)
        pool.start()
        return pool
    }()
    private static let shared = FairTurns(lookups, waiting: waiting)

    private let turns: FairTurns
    private let lookUp: @Sendable (String) -> [IPAddress]

    package init() { self.init(turns: Self.shared) { Self.resolve($0) } }

    /// - Parameter lookUp: Returns the addresses of a name; blocks its thread.
    init(turns: FairTurns, lookUp: @escaping @Sendable (String) -> [IPAddress]) {
        (self.turns, self.lookUp) = (turns, lookUp)
    }

    /// The number of look-ups that were refused because too many waited.
    package var refusedCount: Int { turns.refusedCount }

    package func addresses(
        of host: String, for owner: FairShare.Owner
    ) async throws -> [IPAddress] {
        let numeric = Self.resolve(host, flags: AI_NUMERICHOST)
        guard numeric.isEmpty else { return numeric }
        return try await withThrowingTaskGroup(of: [IPAddress].self) { group in
            group.addTask { try await ask(host, owner) }
            group.addTask {
                try await Task.sleep(for: Self.lookupMax)
                throw WebhookError(
                    .unknownHost,
                    "\(host) was not found within \(Self.lookupMax); check that its name servers answer."
                )
            }
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
    }

    /// Looks a name up on a thread of the pool.
    private func ask(_ host: String, _ owner: FairShare.Owner) async throws -> [IPAddress] {
        do {
            try await turns.enter(owner)
        } catch is FairTurns.Full {
            throw WebhookError(
                .unknownHost,
                "\(host) was not looked up: too many other names of the same owner wait for silent name servers."
            )
        }
        let answer = FirstAnswer<[IPAddress]>()
        Self.pool.submit { _ in
            answer.give(.success(lookUp(host)))
            turns.leave(owner)
        }
        return try await answer.value
    }

    private static func resolve(_ host: String, flags: Int32 = 0) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = flags
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
