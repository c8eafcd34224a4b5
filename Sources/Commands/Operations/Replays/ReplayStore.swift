import Edits
import FoundationEssentials
package import JobQueue
package import Redis

/// The replays that clients requested from gateways, in Redis.
package struct ReplayStore: Sendable {
    private let records: RecordHash
    /// The number of attempts of a change while other clients change the same order.
    private static let triesMax = 5

    package init(redis: RedisClient, queue: QueueName) {
        records = RecordHash(
            redis: redis, key: queue.keys.replays, stream: queue.keys.control, field: "replay",
            countMax: ReplayOrder.countMax)
    }

    /// Returns all orders, the newest first.
    package func list() async throws -> [ReplayOrder] {
        try await records.all().values.compactMap(Self.decode)
            .sorted { ($0.startedAt, $0.id) > ($1.startedAt, $1.id) }
    }

    /// Returns an order; nil if there is none.
    package func find(_ id: String) async throws -> ReplayOrder? {
        try await records.record(id).flatMap(Self.decode)
    }

    /// Adds an order. If the tenant's share is used up, it replaces the tenant's oldest ended order; if the maximum is reached, the
    /// oldest ended one of the tenant that has most.
    ///
    /// - Parameter caller: The tenant of the requesting client; nil for an operator, who has no share.
    /// - Throws: `exceedsLimit` if too many orders are running.
    package func add(_ order: ReplayOrder, by caller: String?) async throws {
        let share = caller.map {
            RecordHash.Share(of: $0, at: "reach.tenant", countMax: ReplayOrder.ofTenantMax)
        }
        for _ in 0..<Self.triesMax {
            let change = try await records.replace(
                order.id, nil, with: Self.encode(order), within: share)
            switch change {
            case .made: return
            case .changed: throw Failure(.internalError, "replay \(order.id) is there already.")
            case .full, .share:
                let ended = Dictionary(
                    grouping: try await list().filter { $0.state != .running }, by: \.reach?.tenant)
                let oldest =
                    change == .share
                    ? ended[caller]?.last
                    : ended.values.max { $0.count < $1.count }?.last
                guard let oldest else {
                    let most = change == .share ? ReplayOrder.ofTenantMax : ReplayOrder.countMax
                    throw Failure(
                        .exceedsLimit,
                        "\(most) replays run\(change == .share ? " of this tenant" : ""); stop some, or wait for their end."
                    )
                }
                _ = try await update(oldest.id) { _ in nil }
            }
        }
        throw Self.contended(order.id)
    }

    /// Stops a running order.
    ///
    /// - Returns: The order; nil if there is none.
    package func stop(_ id: String, at time: Int) async throws -> ReplayOrder? {
        try await update(id) { order in
            guard order.state == .running else { return order }
            var order = order
            order.state = .stopped
            order.endedAt = time
            return order
        }
    }

    /// Changes an order in its present state; `change` may be called several times.
    ///
    /// - Returns: The changed order; nil if there is none, or it was removed.
    @discardableResult
    func update(
        _ id: String, _ change: (ReplayOrder) throws -> ReplayOrder?
    ) async throws -> ReplayOrder? {
        for _ in 0..<Self.triesMax {
            guard let bytes = try await records.record(id), let order = Self.decode(bytes) else {
                return nil
            }
            let changed = try change(order)
            if changed == order { return order }
            if try await records.replace(id, bytes, with: changed.map(Self.encode)) == .made {
                return changed
            }
        }
        throw Self.contended(id)
    }

    private static func contended(_ id: String) -> Failure {
        Failure(.ioFailure, "replay \(id) was changed by others again and again; try again.")
    }

    private static func encode(_ order: ReplayOrder) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(order))
    }

    /// Returns nil for a record of a later minilab, which executes it itself.
    private static func decode(_ bytes: [UInt8]) -> ReplayOrder? {
        try? JSONDecoder().decode(ReplayOrder.self, from: Data(bytes))
    }
}
