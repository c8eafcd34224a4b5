package import Edits
import FoundationEssentials
package import JobQueue
package import Logging
package import Redis
import Synchronization

/// A replay of many dead jobs that a client requested from a gateway: its filter, rate and progress.
///
/// It is stored in Redis and executed by one gateway at a time; if that gateway dies, another one continues. A replayed job is no
/// longer dead, so no job is replayed twice.
package struct ReplayOrder: Sendable, Codable, Equatable {
    package enum State: String, Sendable, Codable {
        /// All jobs are being replayed.
        case running
        case stopped, done, failed
        /// The first jobs of its ``ReplayTrial`` are being replayed, or run.
        case trying
        /// Too many of the first jobs failed; nothing else is replayed until a client continues it.
        case held

        /// Whether a gateway works on it.
        package var isOpen: Bool { self == .running || self == .trying }
        package var hasEnded: Bool { !isOpen && self != .held }
    }

    package let id: String
    /// The jobs that the requesting client may see; nil in a record of an earlier release, which is carried out no more.
    package let reach: Reach?
    package let batch: String?
    package let tenant: String?
    package let codes: [String]
    /// The earliest time of death, ms since 1970.
    package let since: Int?
    /// The latest time of death, ms since 1970; jobs that died later do not match.
    package let until: Int
    /// The SHA-256 of the edit of the matching jobs.
    package let edit: String?
    /// The new edit of the jobs, as canonical JSON.
    package let withEdit: String?
    package let rate: Int?
    /// The id of the key of the client that requested it, or that continued it.
    package internal(set) var by: String
    /// The time of the request, ms since 1970.
    package let startedAt: Int
    /// The number of matching jobs at the time of the request.
    package let expected: Int
    package internal(set) var state: State
    /// The jobs that are tried first; nil for a replay without a trial.
    package internal(set) var trial: ReplayTrial?
    /// The number of jobs that are ready again. A gateway that died may have left some uncounted.
    package internal(set) var replayed = 0
    /// The number of jobs that could not be replayed.
    package internal(set) var refused = 0
    /// The numbers of replayed jobs, by the failure code of their death.
    package internal(set) var died: [String: Int] = [:]
    package internal(set) var message: String?
    /// The time of its end, ms since 1970.
    package internal(set) var endedAt: Int?
    /// The gateway that executes the replay, and the time until which no other gateway does.
    var runner: String?
    var runnerUntil = 0

    /// The maximum number of stored replays, including ended ones.
    package static let countMax = 200
    /// The maximum number of stored replays of a tenant, including ended ones, so that ten tenants keep what they need to see.
    package static let ofTenantMax = 20

    package init(
        id: String, _ filter: DeadFilter, until: Int, withEdit: Edit? = nil, rate: Int?, by: String,
        startedAt: Int, expected: Int, trial: ReplayTrial? = nil
    ) {
        self.id = id
        // A gateway of an earlier release does not know this state, and leaves the order to others.
        state = trial == nil ? .running : .trying
        self.trial = trial
        reach = filter.reach
        batch = filter.batch?.string
        tenant = filter.tenant?.string
        codes = filter.codes.map(\.rawValue).sorted()
        since = filter.since
        self.until = until
        edit = filter.edit
        self.withEdit = withEdit?.json.canonical
        self.rate = rate
        self.by = by
        self.startedAt = startedAt
        self.expected = expected
    }

    /// Returns a new name of an order.
    package static func newID() -> String {
        var random = SystemRandomNumberGenerator()
        return "r" + String(UInt64.random(in: 1 << 60...UInt64.max, using: &random), radix: 36)
    }

    /// Returns whether a caller may see and stop it: all jobs that it may replay are the caller's.
    package func isWithin(_ other: Reach) -> Bool {
        reach.map { other.covers($0) } ?? other.isEverything
    }

    /// Returns the filter of the jobs.
    ///
    /// - Throws: `invalidValue`, for a record that was edited by hand, or that does not say whose jobs it means.
    func filter() throws(Failure) -> DeadFilter {
        guard let reach else {
            throw Failure(
                .invalidValue,
                "replay \(id) does not say whose jobs it means, because an earlier release took it. Request it again."
            )
        }
        var filter = DeadFilter(reach)
        if let batch { filter.batch = try BatchID(batch) }
        if let tenant { filter.tenant = try JobID(tenant) }
        filter.codes = Set(codes.compactMap(FailureCode.init))
        filter.since = since
        filter.until = until
        filter.edit = edit
        return filter
    }

    /// Returns the order as leased by a gateway until a time in ms since 1970.
    package func leased(by runner: String, until: Int) -> ReplayOrder {
        var order = self
        order.runner = runner
        order.runnerUntil = until
        return order
    }

    mutating func count(_ lines: [ReplayLine]) {
        for line in lines {
            if line.answer == .replayed {
                replayed += 1
                died[line.code?.rawValue ?? "unknown", default: 0] += 1
            } else {
                refused += 1
            }
        }
    }
}

/// Executes the requested replays until it is cancelled: of each tenant and of operators one at a time, the oldest first. Those of
/// several tenants run beside each other, because a slow rate makes one last for days.
package struct ReplayRunner: Sendable {
    /// The time in ms for which a gateway holds an order before another one may continue it.
    private static let lease = 15_000
    /// The interval at which the runner checks for orders. A check costs one command.
    static let pollInterval: Duration = .seconds(1)
    /// The bytes of a damaged record that are logged.
    private static let shownMax = 500

    private let store: ReplayStore
    let queue: JobQueue
    private let name: String
    private let logger: Logger
    private let onChange: @Sendable (Bool) -> Void
    private let refusal: @Sendable (ReplayOrder) -> String?

    /// - Parameters:
    ///   - onChange: Called with true when this runner starts an order, and with false when it leaves the order.
    ///   - refusal: Returns why whoever requested an order may not have it carried out any more; nil if they may. Asked before each
    ///     step.
    package init(
        store: ReplayStore, queue: JobQueue, name: String, logger: Logger,
        onChange: @escaping @Sendable (Bool) -> Void = { _ in },
        refusal: @escaping @Sendable (ReplayOrder) -> String? = { _ in nil }
    ) {
        self.store = store
        self.queue = queue
        self.name = name
        self.logger = logger
        self.onChange = onChange
        self.refusal = refusal
    }

    package func run() async {
        let busy = BusyOwners()
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                do {
                    let read = try await store.read()
                    for (id, record) in read.damaged {
                        guard try await store.remove(id, record) else { continue }
                        let shown = String(decoding: record.prefix(Self.shownMax), as: UTF8.self)
                        logger.error(
                            "the record of a replay was damaged and is removed: request the replay again",
                            metadata: ["replay": "\(id)", "record": "\(shown)"])
                    }
                    for order in read.orders.reversed() where order.state.isOpen {
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

    /// Executes one order until it has ended, is held, or another runner has it.
    ///
    /// - Returns: the order as it is then; nil if there is none.
    package func run(_ id: String) async throws -> ReplayOrder? {
        guard let order = try await store.find(id) else { return nil }
        if order.state.isOpen { try await carryOut(order) }
        return try await store.find(id)
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
            guard order.state.isOpen, order.runner == name || isFree else { return order }
            return order.leased(by: name, until: now + Self.lease)
        }
        return order?.runner == name && order?.state.isOpen == true
    }

    /// Changes an order that this runner holds, and renews its lease. An order that its requester may not have carried out any more
    /// fails.
    ///
    /// - Returns: the order; nil if the runner does not hold it any more, or it is in none of `states`.
    func change(
        _ id: String, in states: Set<ReplayOrder.State>, _ change: (inout ReplayOrder) -> Void
    ) async throws -> ReplayOrder? {
        let now = try await queue.now()
        let after = try await store.update(id) { order in
            guard order.runner == name, order.state.isOpen else { return order }
            var order = order.leased(by: name, until: now + Self.lease)
            change(&order)
            if order.state.isOpen, let reason = refusal(order) {
                order.state = .failed
                order.message = reason
                order.endedAt = now
            }
            return order
        }
        guard let after, after.runner == name, states.contains(after.state) else { return nil }
        return after
    }

    /// Executes an order that no other gateway holds. An order that cannot be executed fails, and does not block others.
    private func carryOut(_ order: ReplayOrder) async throws {
        guard try await claim(order.id) else { return }
        do {
            // Asks for the right before the first job.
            guard try await change(order.id, in: [.running, .trying], { _ in }) != nil else {
                return
            }
            try await carryOut(order.id)
        } catch let failure as Failure where failure.code != .ioFailure {
            let now = try await queue.now()
            _ = try await store.update(order.id) { order in
                guard order.state.isOpen, order.runner == name else { return order }
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
        if order.state == .trying {
            guard try await haveFirstSucceeded(of: order, replay) else { return }
        }
        var dead = try await DeadReader(queue, order.filter())
        while let page = try await dead.next() {
            // With a slow rate, a page takes longer than the hold lasts.
            let step = max(1, min(order.rate ?? page.count, page.count))
            for start in stride(from: 0, to: page.count, by: step) {
                let some = Array(page[start..<min(start + step, page.count)])
                let lines = try await replay.start(some, on: queue)
                let after = try await change(id, in: [.running]) { $0.count(lines) }
                guard after != nil else { return }
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

/// The replays that clients requested from gateways, in Redis.
package struct ReplayStore: Sendable {
    private let records: RecordHash
    /// The number of attempts of a change while other clients change the same order.
    private static let triesMax = 5

    /// - Parameter keys: The place of the orders; nil for that of this release.
    package init(redis: RedisClient, queue: QueueName, at keys: GatewayKeys? = nil) {
        let keys = keys ?? queue.gatewayKeys
        records = RecordHash(
            redis: redis, key: keys.replays, stream: keys.control, field: "replay",
            countMax: ReplayOrder.countMax)
    }

    package func list() async throws -> [ReplayOrder] { try await read().orders }

    /// The bytes of records that are decoded in one turn: some 3 ms of a core. The edit of one may have as many.
    private static let turnBytes = 64 << 10

    /// Returns the orders, the newest first, for a caller whose turns others wait for: each holds a few records.
    ///
    /// - Parameter turn: runs what it is given in a turn.
    package func list(
        inTurns turn: (_ decode: () -> [ReplayOrder]) async throws -> [ReplayOrder]
    ) async throws -> [ReplayOrder] {
        var (orders, rest) = ([ReplayOrder](), Array(try await records.all().values)[...])
        while let first = rest.first {
            var (end, bytes) = (rest.startIndex + 1, first.count)
            while end < rest.endIndex, bytes + rest[end].count <= Self.turnBytes {
                bytes += rest[end].count
                end += 1
            }
            let some = rest[..<end]
            rest = rest[end...]
            orders += try await turn { some.compactMap(Self.decode) }
        }
        return orders.sorted(by: Self.isNewer)
    }

    private static func isNewer(_ one: ReplayOrder, _ other: ReplayOrder) -> Bool {
        (one.startedAt, one.id) > (other.startedAt, other.id)
    }

    /// Returns the orders, the newest first, and the records that no release can read. Those of a later release are in neither.
    package func read() async throws -> (orders: [ReplayOrder], damaged: [String: [UInt8]]) {
        let all = try await records.all()
        return (
            all.values.compactMap(Self.decode).sorted(by: Self.isNewer),
            all.filter { Self.isDamaged($0.value) }
        )
    }

    /// Removes a record, and returns whether it was there as it is given: of several gateways, one has removed it.
    func remove(_ id: String, _ record: [UInt8]) async throws -> Bool {
        try await records.replace(id, record, with: nil) == .made
    }

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
                    grouping: try await list().filter(\.state.hasEnded), by: \.reach?.tenant)
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

    /// Continues a held order with its remaining jobs.
    ///
    /// - Parameter caller: the id of the key of the client that continues it, whose right counts from now on.
    /// - Returns: The order; nil if there is none. It is running, unless it was not held.
    package func goOn(_ id: String, by caller: String) async throws -> ReplayOrder? {
        try await update(id) { order in
            guard order.state == .held else { return order }
            var order = order
            order.state = .running
            order.by = caller
            order.message = nil
            return order
        }
    }

    /// Stops an order that has not ended.
    ///
    /// - Returns: The order; nil if there is none.
    package func stop(_ id: String, at time: Int) async throws -> ReplayOrder? {
        try await update(id) { order in
            guard !order.state.hasEnded else { return order }
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

    /// Returns whether no release can read a record: each writes an object with the name and the state of its order.
    private static func isDamaged(_ bytes: [UInt8]) -> Bool {
        struct Named: Decodable { let id, state: String }
        do {
            _ = try JSONDecoder().decode(Named.self, from: Data(bytes))
            return false
        } catch {
            return true
        }
    }

    /// Returns nil for a record of a later minilab, which executes it itself: one that this release cannot decode, or with a failure
    /// code that it does not know. Without that code the order would mean other jobs, and without its last one all. A later release
    /// that narrows orders by something else gives them a new state. A damaged record has no order either (``isDamaged(_:)``).
    private static func decode(_ bytes: [UInt8]) -> ReplayOrder? {
        guard let order = try? JSONDecoder().decode(ReplayOrder.self, from: Data(bytes)),
            order.codes.allSatisfy({ FailureCode(rawValue: $0) != nil })
        else { return nil }
        return order
    }
}
