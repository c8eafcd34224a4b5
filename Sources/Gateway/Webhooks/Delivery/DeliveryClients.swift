import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// The HTTP clients of deliveries, one for each host and the address that was checked for it.
///
/// A client connects to its own address only, whatever the name resolves to later, so the clients of two addresses share no
/// connection. They share the certificates of the authorities: reading these takes 6 ms and 42 MB, which each message paid when it
/// had a client of its own.
final class DeliveryClients: Sendable {
    /// The target of a client.
    struct Target: Sendable, Hashable {
        let host: String
        let address: IPAddress
    }

    private struct Entry {
        let client: HTTPClient
        var users = 0
        var usedAt = 0
    }

    private struct State {
        var entries: [Target: Entry] = [:]
        var uses = 0
    }

    /// The clients without a delivery that are kept: as many as deliver at a time.
    static let idleMax = 64
    /// The maximum time to connect.
    static let connectTimeout = TimeAmount.seconds(5)
    /// The time for which an unused connection is kept: below the 5 s after which Node.js closes one, so that a message meets no
    /// connection that its receiver is closing.
    static let connectionIdleMax = TimeAmount.seconds(2)
    /// The authorities of the system, read once for the process; a change of them needs a restart.
    private static let systemRoots: NIOSSLTrustRoots = {
        for path in [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        ] {
            // Another system keeps them elsewhere: then each client reads them.
            if let roots = try? NIOSSLCertificate.fromPEMFile(path) { return .certificates(roots) }
        }
        return .default
    }()

    private let timeout: Duration
    private let tls: TLSConfiguration
    private let idleMax: Int
    private let state = Mutex(State())

    /// - Parameter authorities: A PEM file of certificate authorities to trust besides the system's.
    init(timeout: Duration, authorities: String?, idleMax: Int = idleMax) {
        self.timeout = timeout
        self.idleMax = idleMax
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = Self.systemRoots
        if let authorities { tls.additionalTrustRoots = [.file(authorities)] }
        self.tls = tls
    }

    deinit {
        let clients = state.withLock { $0.entries.values.map(\.client) }
        Task { for client in clients { await Self.end(client) } }
    }

    /// The number of clients.
    var count: Int { state.withLock { $0.entries.count } }

    /// Runs `body` with the client of a target.
    func with<Result: Sendable>(
        _ target: Target, _ body: (HTTPClient) async -> Result
    ) async -> Result {
        let client = state.withLock { state in
            var entry = state.entries[target] ?? Entry(client: make(target))
            entry.users += 1
            state.entries[target] = entry
            return entry.client
        }
        let result = await body(client)
        for client in state.withLock({ giveBack(target, &$0) }) { await Self.end(client) }
        return result
    }

    /// - Returns: The clients that are not kept, those that were not used for longest.
    private func giveBack(_ target: Target, _ state: inout State) -> [HTTPClient] {
        state.uses += 1
        state.entries[target]?.users -= 1
        state.entries[target]?.usedAt = state.uses
        let idle = state.entries.filter { $0.value.users == 0 }.sorted {
            $0.value.usedAt < $1.value.usedAt
        }
        let surplus = idle.prefix(max(0, idle.count - idleMax))
        for (target, _) in surplus { state.entries[target] = nil }
        return surplus.map(\.value.client)
    }

    private func make(_ target: Target) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(
                connect: Self.connectTimeout, read: .nanoseconds(timeout.nanoseconds)),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        // Its spans would have whole URLs, with what is secret in them.
        configuration.tracing.tracer = nil
        configuration.connectionPool.idleTimeout = Self.connectionIdleMax
        // Or a refused connection or certificate is tried anew until the time to connect is over.
        configuration.connectionPool.retryConnectionEstablishment = false
        // The name stays in Host and in the check of the certificate; the connection uses the address.
        configuration.dnsOverride = [target.host: target.address.description]
        return HTTPClient(
            eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    }

    private static func end(_ client: HTTPClient) async {
        // The call fails only for a client that was shut down before.
        try? await client.shutdown()
    }
}
