import AccessKeys
import Edits
import Files
import Hummingbird
import HummingbirdCore
import JobQueue
import Library
import Logging
import NIOCore
import NIOPosix
import Operations
package import ServiceLifecycle
import Synchronization
import Webhooks

/// A running gateway: the server, the reader of events, the keys, the webhooks.
package struct GatewayService: Service {
    private let parts: CallParts
    private let deliveries: WebhookService
    private let server: ServerWatch
    private let onRunning: @Sendable (Int) -> Void

    /// - Parameters:
    ///   - askEvery: the time between two checks of Redis; nil for the usual one.
    ///   - onRunning: called with the port once the server listens.
    package init(
        _ gateway: GatewayParts, askEvery: Duration? = nil,
        onRunning: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        parts = gateway.calls
        deliveries = gateway.deliveries
        self.onRunning = onRunning
        server = ServerWatch(
            parts.queue, as: .gateway, parts.logger, askEvery: askEvery ?? ServerWatch.askEvery)
    }

    /// The gateway, and the watch over its Redis. A Redis that ends the gateway ends it as a signal does: calls are
    /// finished, and nothing but the reason is told.
    package var services: [ServiceGroupConfiguration.ServiceConfiguration] {
        [
            .init(
                service: WatchService(watch: server),
                failureTerminationBehavior: .gracefullyShutdownGroup),
            .init(service: self, successTerminationBehavior: .gracefullyShutdownGroup),
        ]
    }

    private struct WatchService: Service {
        let watch: ServerWatch

        func run() async throws {
            try await cancelWhenGracefulShutdown { try await watch.run() }
        }
    }

    package func run() async throws {
        Heap.settle()
        let settings = parts.settings
        let dispatcher = Dispatcher(
            RouteTable.routes, parts,
            Authentication(
                keys: parts.keys, sessions: parts.signIn.sessions, origin: parts.signIn.origin,
                rate: parts.limits.rate))
        let onRunning = onRunning
        let replays = ReplayRunner(
            store: parts.replays, queue: parts.queue, name: Self.name(), logger: parts.logger,
            onChange: { [metrics = parts.metrics] in metrics.replays($0 ? 1 : -1) },
            refusal: { [keys = parts.keys] in keys.refusal(of: $0.by)?.message })
        let deliveries = deliveries
        let application = Application(
            responder: dispatcher,
            server: .border(parts.limits.border, parts.limits.connections),
            configuration: .border(
                .hostname(settings.address, port: settings.port), parts.limits.border,
                logger: parts.logger),
            onServerRunning: { channel in
                Heap.leaveCodeOfStart()
                onRunning(channel.localAddress?.port ?? 0)
            },
            logger: parts.logger)
        try await parts.library.sweepArrivals()
        if try await askServer() { await begin() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await parts.events.hub.run() }
            group.addTask { await parts.keys.run() }
            group.addTask {
                await CallRights(keys: parts.keys, connections: parts.limits.connections).run()
            }
            group.addTask { await readMemory() }
            group.addTask { await breakOffLate() }
            group.addTask { await compareGenerations() }
            group.addTask { await replays.run() }
            group.addTask { await parts.views.history.run() }
            group.addTask { try await deliveries.run() }
            group.addTask {
                try await application.run()
                deliveries.stop()
            }
            // After a signal, the server and the deliveries stop first, each after its current work; then the readers
            // are cancelled.
            defer { group.cancelAll() }
            for try await _ in group.prefix(2) {}
        }
    }

    /// Breaks off the calls that still run a while after a signal. It returns when the gateway ends.
    private func breakOffLate() async {
        do {
            try await gracefulShutdown()
            while true {
                try await Task.sleep(for: parts.settings.endTime)
                parts.limits.connections.closeAll()
            }
        } catch {
            return  // cancelled: the gateway has ended
        }
    }

    /// Refuses a server that may lose jobs, and moves the gateway's records to their place. While Redis is away, the gateway starts
    /// nevertheless, and the first answer decides.
    ///
    /// - Returns: whether Redis answers.
    private func askServer() async throws(QueueError) -> Bool {
        do throws(QueueError) {
            try await server.ask()
            try await GatewayRecords(parts.queue).settle(telling: parts.logger)
            return true
        } catch {
            guard error.code == .redis else { throw error }
            parts.logger.warning(
                "Redis could not be checked", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Reads what the first call needs before anybody can call: keys, the newest event, and the memory of which tenants have shares.
    private func begin() async {
        await parts.keys.begin()
        await parts.events.hub.begin()
        // A failure is told by who reads it from now on.
        _ = await memoryFailure()
    }

    /// Compares the queue with what the library remembers of it. Workers have it remember.
    private func compareGenerations() async {
        let watch = GenerationWatch(parts.queue, isRaised: false, parts.logger)
        while !Task.isCancelled {
            await watch.compare(
                note: { try await parts.library.note(of: parts.queue.name.string) },
                keep: { _ in })
            do { try await Task.sleep(for: GenerationWatch.compareEvery) } catch { break }
        }
    }

    /// Reads the limit of Redis' memory now and then: what producers may store depends on it. While it is not known, a try follows
    /// soon, because without it nobody has a limit; the first failure in a row is logged.
    private func readMemory() async {
        var isFailing = false
        while !Task.isCancelled {
            let failure = await memoryFailure()
            if let failure, !isFailing, !Task.isCancelled {
                parts.logger.warning("the memory of Redis is not known: \(failure)")
            }
            isFailing = failure != nil
            do {
                try await Task.sleep(for: isFailing ? Self.memoryRetryWait : ServerMemory.readEvery)
            } catch { break }
        }
    }

    /// The wait after a failed attempt to read the limit of Redis' memory.
    private static let memoryRetryWait: Duration = .seconds(1)

    /// Reads it once. Returns why Redis has not told it; nil if it has.
    private func memoryFailure() async -> QueueError? {
        do throws(QueueError) {
            try await parts.queue.readMemory()
            return nil
        } catch {
            return error
        }
    }

    /// Returns a random name that identifies this process among gateways, including those of other hosts and
    /// containers.
    private static func name() -> String {
        "g" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    }
}
