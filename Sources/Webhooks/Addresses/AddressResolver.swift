import Glibc
import NIOCore
import NIOPosix
import Synchronization

/// Resolves the addresses of a host.
package protocol AddressResolver: Sendable {
    /// Returns all addresses of the host, the preferred one first; an empty array if it has none.
    func addresses(of host: String) async throws -> [IPAddress]
}

/// The resolver of the system: hosts file, DNS and the other configured sources.
///
/// Its call blocks a thread for as long as DNS takes, and cannot be cancelled. So it has threads of its own: otherwise a name
/// whose servers are silent would delay file reads of the process. No caller waits longer than ``lookupMax``.
package struct SystemResolver: AddressResolver {
    /// The maximum number of addresses of one host that are checked.
    static let addressesMax = 64
    /// The number of simultaneous look-ups.
    static let threads = 8
    /// The maximum wait for a look-up.
    static let lookupMax = TimeAmount.seconds(5)

    private static let pool: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: threads)
        pool.start()
        return pool
    }()

    package init() {}

    package func addresses(of host: String) async throws -> [IPAddress] {
        try await withCheckedThrowingContinuation { continuation in
            let answer = FirstAnswer(continuation)
            let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
            let timer = eventLoop.scheduleTask(in: Self.lookupMax) {
                answer.give(
                    .failure(
                        WebhookError(
                            .unknownHost,
                            "\(host) was not found within \(Self.lookupMax.nanoseconds / 1_000_000_000) s; check that "
                                + "its name servers answer.")))
            }
            Self.pool.submit { _ in
                answer.give(.success(Self.resolve(host)))
                timer.cancel()
            }
        }
    }

    private static func resolve(_ host: String) -> [IPAddress] {
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

/// Passes the first of several results to the waiting caller, and drops the others.
private final class FirstAnswer: Sendable {
    private let waiter: Mutex<CheckedContinuation<[IPAddress], any Error>?>

    init(_ waiter: CheckedContinuation<[IPAddress], any Error>) { self.waiter = Mutex(waiter) }

    func give(_ answer: Result<[IPAddress], any Error>) {
        waiter.withLock { $0.take() }?.resume(with: answer)
    }
}
