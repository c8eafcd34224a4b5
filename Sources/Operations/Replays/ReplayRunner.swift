import Adjustments
import FoundationEssentials
package import JobQueue
package import Logging

/// Carries out the replays that are asked for, one at a time, until it is cancelled.
package struct ReplayRunner: Sendable {
    /// How long a gateway has an order before another one may go on with it.
    private static let hold = 15_000
    /// How often orders are looked for. Asking costs one command.
    private static let lookEvery: Duration = .seconds(1)

    private let store: ReplayStore
    private let queue: JobQueue
    /// Its own name among gateways.
    private let name: String
    private let logger: Logger
    private let onChange: @Sendable (Bool) -> Void

    /// - Parameter onChange: is called with true when this runner begins with an order, with false when it leaves it.
    package init(
        store: ReplayStore, queue: JobQueue, name: String, logger: Logger,
        onChange: @escaping @Sendable (Bool) -> Void = { _ in }
    ) {
        self.store = store
        self.queue = queue
        self.name = name
        self.logger = logger
        self.onChange = onChange
    }

    package func run() async {
        while !Task.isCancelled {
            do {
                for order in try await store.list() where order.state == .running {
                    try await carryOut(order)
                }
            } catch is CancellationError {
                return
            } catch {
                // Redis is away: the orders stay in it, and are taken up by the next look.
                logger.warning("replays stand still until Redis answers: \(error)")
            }
            do { try await Task.sleep(for: Self.lookEvery) } catch { return }
        }
    }

    private var now: Int { Int(Date.now.timeIntervalSince1970 * 1000) }

    /// - Returns: whether it is ours now.
    private func take(_ id: String) async throws -> Bool {
        let order = try await store.update(id) { order in
            guard order.state == .running, order.runner == name || order.runnerUntil < now else {
                return order
            }
            return order.held(by: name, until: now + Self.hold)
        }
        return order?.runner == name && order?.state == .running
    }

    /// Carries out an order that nobody else has. One that cannot be carried out has failed, and holds up no other.
    private func carryOut(_ order: ReplayOrder) async throws {
        guard try await take(order.id) else { return }
        do {
            try await carryOut(order.id)
        } catch let failure as Failure where failure.code != .ioFailure {
            _ = try await store.update(order.id) { order in
                guard order.state == .running, order.runner == name else { return order }
                var order = order
                order.state = .failed
                order.message = failure.message
                order.endedAt = now
                return order
            }
        }
    }

    private func carryOut(_ id: String) async throws {
        onChange(true)
        defer { onChange(false) }
        guard let order = try await store.find(id) else { return }
        let replay = Replaying(
            rate: order.rate,
            edit: try order.withEdit.map { text throws(Failure) in try Edit(json: text) },
            isDryRun: false)
        var dead = try await DeadReader(queue, order.filter())
        while let page = try await dead.next() {
            // A slow rate makes a page last longer than the hold.
            let step = max(1, min(order.rate ?? page.count, page.count))
            for start in stride(from: 0, to: page.count, by: step) {
                let some = Array(page[start..<min(start + step, page.count)])
                let lines = try await replay.start(some, on: queue)
                let after = try await store.update(id) { order in
                    guard order.runner == name else { return order }
                    var order = order.held(by: name, until: now + Self.hold)
                    order.count(lines)
                    return order
                }
                guard let after, after.state == .running, after.runner == name else { return }
            }
        }
        _ = try await store.update(id) { order in
            guard order.state == .running, order.runner == name else { return order }
            var order = order
            order.state = .done
            order.endedAt = now
            return order
        }
    }
}
