import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// A running HTTP server of a test, on a port of its own; it ends with the object.
///
/// It ends as a signal ends a gateway. Cancelling its task would end the process where a connection has just been accepted:
/// swift-nio stops on a channel that was made and never served.
final class RunningServer: Sendable {
    let port: Int
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    typealias OnServerRunning = @Sendable (any Channel) async -> Void

    /// Starts a server.
    ///
    /// - Parameter application: the application, which passes on that it listens.
    /// - Throws: what ended the server before it listened.
    init(_ application: (@escaping OnServerRunning) -> some ApplicationProtocol) async throws {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let application = application { listening.yield($0.localAddress?.port ?? 0) }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [application],
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        let running = Task {
            defer { listening.finish() }
            try await group.run()
        }
        var port: Int?
        for await found in ports {
            port = found
            break
        }
        guard let port else {
            try await running.value
            throw Ended()
        }
        (self.port, self.group, self.running) = (port, group, running)
    }

    deinit {
        Task { [group] in await group.triggerGracefulShutdown() }
    }

    /// Ends the server, and returns when it has ended.
    func stop() async {
        await group.triggerGracefulShutdown()
        _ = await running.result
    }

    /// The server ended before it listened.
    private struct Ended: Error {}
}
