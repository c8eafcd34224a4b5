import Edits
import Synchronization

/// The holders of the places in a pool that tenants share: none can use up what the others need.
///
/// A tenant gets a further place while it holds fewer than there are free. Alone it reaches a half of the pool, beside one other a
/// third; some places are always free for a tenant that holds none. Source: the dynamic thresholds of switches with a shared
/// memory (Choudhury and Hahne, 1998), with α = 1. Rejected: a fixed part for each, which a few tenants together fill, and which
/// leaves a lone tenant with a fraction of an idle pool.
///
/// A pure value.
package struct FairShare: Sendable {
    /// The owner of places.
    package enum Owner: Sendable, Hashable {
        /// An operator, who may also use the reserve and has no share.
        case `operator`
        case tenant(String)
        /// A caller of whom nothing but the address is known.
        case address(String)
    }

    /// The sizes of a pool.
    package struct Limits: Sendable {
        /// The places of all owners together.
        package var all: Int
        /// The places that only operators get.
        package var reserve: Int
        /// The most places of one tenant, however many are free.
        package var ofTenantMax: Int

        package init(all: Int, reserve: Int = 0, ofTenantMax: Int = .max) {
            (self.all, self.reserve, self.ofTenantMax) = (max(1, all), reserve, ofTenantMax)
        }
    }

    package let limits: Limits
    private var held: [Owner: Int] = [:]
    /// The number of taken places.
    package private(set) var count = 0

    package init(_ limits: Limits) { self.limits = limits }

    /// Returns the number of places that an owner holds.
    package func held(by owner: Owner) -> Int { held[owner, default: 0] }

    /// Returns whether an owner may take a place now.
    package func hasRoom(for owner: Owner) -> Bool {
        if case .operator = owner { return count < limits.all }
        let mine = held(by: owner)
        return mine < limits.ofTenantMax && mine < limits.all - limits.reserve - count
    }

    /// Takes a place if the owner may have one.
    package mutating func take(_ owner: Owner) -> Bool {
        guard hasRoom(for: owner) else { return false }
        held[owner, default: 0] += 1
        count += 1
        return true
    }

    /// Gives a taken place back.
    package mutating func giveBack(_ owner: Owner) {
        guard let mine = held[owner] else { return }
        held[owner] = mine > 1 ? mine - 1 : nil
        count -= 1
    }
}

extension AccessKey {
    /// The owner of what requests with this key hold.
    package var owner: FairShare.Owner {
        terms.tenant.map { .tenant($0.string) } ?? .operator
    }
}

/// Permits of a pool that tenants share. A caller beyond its share is refused at once.
package final class SharedPermits: Sendable {
    private struct State {
        var places: FairShare
        var byKey: [String: Int] = [:]
        var refused = 0
    }

    /// The sizes of the pool.
    package let limits: FairShare.Limits
    /// The most permits of one key.
    package let ofKeyMax: Int
    private let state: Mutex<State>

    package init(_ limits: FairShare.Limits, ofKeyMax: Int = .max) {
        self.limits = limits
        self.ofKeyMax = ofKeyMax
        state = Mutex(State(places: FairShare(limits)))
    }

    /// A permit, given back by ``close()`` or by its deinitializer.
    package final class Permit: Sendable {
        private let permits: SharedPermits
        private let key: AccessKey
        private let isOpen = Mutex(true)

        fileprivate init(_ permits: SharedPermits, _ key: AccessKey) {
            self.permits = permits
            self.key = key
        }

        deinit { close() }

        /// Gives the permit back; a repeated call does nothing.
        package func close() {
            let wasOpen = isOpen.withLock { isOpen in
                defer { isOpen = false }
                return isOpen
            }
            if wasOpen { permits.giveBack(key) }
        }
    }

    /// The number of open permits.
    package var count: Int { state.withLock { $0.places.count } }
    /// The number of refused callers.
    package var refusedCount: Int { state.withLock { $0.refused } }

    /// Returns a permit; nil if the key, its tenant or the pool has none left.
    package func take(for key: AccessKey) -> Permit? {
        let isThere = state.withLock { state in
            guard state.byKey[key.id, default: 0] < ofKeyMax, state.places.take(key.owner) else {
                state.refused += 1
                return false
            }
            state.byKey[key.id, default: 0] += 1
            return true
        }
        return isThere ? Permit(self, key) : nil
    }

    private func giveBack(_ key: AccessKey) {
        state.withLock { state in
            state.places.giveBack(key.owner)
            let mine = state.byKey[key.id] ?? 0
            state.byKey[key.id] = mine > 1 ? mine - 1 : nil
        }
    }
}

/// Turns at a pool that tenants share. A caller whose tenant has its share already waits in its tenant's own queue, and a free place
/// goes to the waiting tenants in rotation.
package final class FairTurns: Sendable {
    /// The error of a caller that may not even wait: too many wait, of all tenants or of its own.
    package struct Full: Error {}

    private enum Outcome { case turn, full, cancelled }

    private struct Waiter {
        let number: Int
        let continuation: CheckedContinuation<Outcome, Never>
    }

    private struct State {
        var places: FairShare
        var waiting: FairShare
        var queues: [FairShare.Owner: [Waiter]] = [:]
        /// The owners with waiting callers, the next one first.
        var rotation: [FairShare.Owner] = []
        var last = 0
        var refused = 0
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - places: The turns at a time.
    ///   - waiting: The callers that wait for a turn.
    package init(_ places: FairShare.Limits, waiting: FairShare.Limits) {
        state = Mutex(State(places: FairShare(places), waiting: FairShare(waiting)))
    }

    /// The number of callers that wait.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }
    /// The number of callers that were refused with ``Full``.
    package var refusedCount: Int { state.withLock { $0.refused } }

    /// Runs `body` during a turn.
    ///
    /// - Throws: ``Full``; `CancellationError` if the task is cancelled while it waits; the error of `body`.
    package func withTurn<Result>(
        of owner: FairShare.Owner, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async throws -> Result {
        try await enter(owner)
        defer { leave(owner) }
        return try await body()
    }

    /// Takes a turn, after a wait if necessary. The caller ends it with ``leave(_:)``.
    ///
    /// - Throws: ``Full``; `CancellationError` if the task is cancelled while it waits. Then no turn is taken.
    package func enter(_ owner: FairShare.Owner) async throws {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> Outcome? in
                    // If the task is cancelled from here on, `onCancel` waits for the lock.
                    if Task.isCancelled { return .cancelled }
                    if state.queues[owner] == nil, state.places.take(owner) { return .turn }
                    guard state.waiting.take(owner) else {
                        state.refused += 1
                        return .full
                    }
                    if state.queues[owner] == nil { state.rotation.append(owner) }
                    state.queues[owner, default: []].append(
                        Waiter(number: number, continuation: continuation))
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            state.withLock { Self.withdraw(number, of: owner, &$0) }?
                .resume(returning: .cancelled)
        }
        switch outcome {
        case .turn: return
        case .full: throw Full()
        case .cancelled: throw CancellationError()
        }
    }

    /// Ends a turn. The free place goes to a waiting caller.
    package func leave(_ owner: FairShare.Owner) {
        let next = state.withLock { state in
            state.places.giveBack(owner)
            return Self.admit(&state)
        }
        for continuation in next { continuation.resume(returning: .turn) }
    }

    /// Gives free places to waiting callers; more than one may fit, because the share of each grows with the free places.
    private static func admit(_ state: inout State) -> [CheckedContinuation<Outcome, Never>] {
        var admitted: [CheckedContinuation<Outcome, Never>] = []
        while let index = state.rotation.firstIndex(where: { state.places.hasRoom(for: $0) }) {
            let owner = state.rotation.remove(at: index)
            guard state.places.take(owner), var queue = state.queues[owner] else { break }
            admitted.append(queue.removeFirst().continuation)
            state.waiting.giveBack(owner)
            state.queues[owner] = queue.isEmpty ? nil : queue
            if !queue.isEmpty { state.rotation.append(owner) }
        }
        return admitted
    }

    private static func withdraw(
        _ number: Int, of owner: FairShare.Owner, _ state: inout State
    ) -> CheckedContinuation<Outcome, Never>? {
        guard var queue = state.queues[owner],
            let index = queue.firstIndex(where: { $0.number == number })
        else { return nil }
        let waiter = queue.remove(at: index)
        state.waiting.giveBack(owner)
        state.queues[owner] = queue.isEmpty ? nil : queue
        if queue.isEmpty { state.rotation.removeAll { $0 == owner } }
        return waiter.continuation
    }
}
