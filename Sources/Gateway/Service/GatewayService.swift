import AccessKeys
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// A gateway that runs: the server, the reader of events, the keys.
package struct GatewayService: Service {
    private let parts: GatewayParts
    private let onRunning: @Sendable (Int) -> Void

    /// - Parameter onRunning: is called with the port once the server listens.
    package init(_ parts: GatewayParts, onRunning: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.parts = parts
        self.onRunning = onRunning
    }

    package func run() async throws {
        let settings = parts.settings
        let dispatcher = Dispatcher(
            RouteTable.routes, parts,
            Authentication(
                keys: parts.keys, limiter: RateLimiter(name: "requests"),
                requestsPerSecond: settings.requestsPerSecond))
        let onRunning = onRunning
        let application = Application(
            responder: dispatcher,
            server: .http1(),
            configuration: ApplicationConfiguration(
                address: .hostname(settings.address, port: settings.port), serverName: nil),
            onServerRunning: { channel in onRunning(channel.localAddress?.port ?? 0) },
            logger: parts.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await parts.hub.run() }
            group.addTask { await parts.keys.run() }
            group.addTask { try await application.run() }
            // The server ends first, by a signal; the readers end with it.
            defer { group.cancelAll() }
            for try await _ in group.prefix(1) {}
        }
    }
}
