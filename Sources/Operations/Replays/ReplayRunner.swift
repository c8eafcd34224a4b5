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
                    if try await take(order.id) { try await carryOut(order.id) }
                }
            } catch is CancellationError {
                return
            } catch {
                logger.warning("a replay stands still, and is tried again: \(error)")
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
