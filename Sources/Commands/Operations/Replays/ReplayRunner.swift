import Edits
import FoundationEssentials
package import JobQueue
package import Logging
import Synchronization

/// Executes the requested replays until it is cancelled: of each tenant and of operators one at a time, the oldest first. Those of
/// several tenants run beside each other, because a slow rate makes one last for days.
package struct ReplayRunner: Sendable {
    /// The time in ms for which a gateway holds an order before another one may continue it.
    private static let lease = 15_000
    /// The interval at which the runner checks for orders. A check costs one command.
    private static let pollInterval: Duration = .seconds(1)

    private let store: ReplayStore
    private let queue: JobQueue
    /// The name of this gateway among others.
    private let name: String
    private let logger: Logger
    private let onChange: @Sendable (Bool) -> Void

    /// - Parameter onChange: Called with true when this runner starts an order, and with false when it leaves the order.
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
        let busy = BusyOwners()
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                do {
                    for order in try await store.list().reversed() where order.state == .running {
                        guard busy.begin(order.reach?.tenant) else { continue }
                        group.addTask {
                            await attempt(order)
                            busy.end(order.reach?.tenant)
                        }
                    }
                } catch {
                    log(error)
                }
                // Cancelled with the runner.
                do { try await Task.sleep(for: Self.pollInterval) } catch { return }
            }
        }
    }

    /// The owners of the orders that this runner executes: tenants, and nil for operators.
    private final class BusyOwners: Sendable {
        private let owners = Mutex<Set<String?>>([])

        func begin(_ owner: String?) -> Bool { owners.withLock { $0.insert(owner).inserted } }
        func end(_ owner: String?) { owners.withLock { _ = $0.remove(owner) } }
    }

    private func attempt(_ order: ReplayOrder) async {
        do {
            try await carryOut(order)
        } catch {
            log(error)
        }
    }

    /// Redis is unavailable: the orders stay in it, and the next check resumes them.
    private func log(_ error: any Error) {
        if error is CancellationError { return }
        logger.warning("replays are paused until Redis answers: \(error)")
    }

    /// - Returns: Whether this gateway holds the order now.
    private func claim(_ id: String) async throws -> Bool {
        let now = try await queue.now()
        let order = try await store.update(id) { order in
            // A lease that ends later than a lease from now was taken before the clock was set back.
            let isFree = order.runnerUntil < now || order.runnerUntil > now + Self.lease
            guard order.state == .running, order.runner == name || isFree else { return order }
            return order.leased(by: name, until: now + Self.lease)
        }
        return order?.runner == name && order?.state == .running
    }

    /// Executes an order that no other gateway holds. An order that cannot be executed fails, and does not block others.
    private func carryOut(_ order: ReplayOrder) async throws {
        guard try await claim(order.id) else { return }
        do {
            try await carryOut(order.id)
        } catch let failure as Failure where failure.code != .ioFailure {
            let now = try await queue.now()
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
            // With a slow rate, a page takes longer than the hold lasts.
            let step = max(1, min(order.rate ?? page.count, page.count))
            for start in stride(from: 0, to: page.count, by: step) {
                let some = Array(page[start..<min(start + step, page.count)])
                let lines = try await replay.start(some, on: queue)
                let now = try await queue.now()
                let after = try await store.update(id) { order in
                    guard order.runner == name else { return order }
                    var order = order.leased(by: name, until: now + Self.lease)
                    order.count(lines)
                    return order
                }
                guard let after, after.state == .running, after.runner == name else { return }
            }
        }
        let now = try await queue.now()
        _ = try await store.update(id) { order in
            guard order.state == .running, order.runner == name else { return order }
            var order = order
            order.state = .done
            order.endedAt = now
            return order
        }
    }
}
