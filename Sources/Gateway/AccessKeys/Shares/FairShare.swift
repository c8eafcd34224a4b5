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
    package enum Owner: Sendable, Hashable {
        /// An operator, who may also use the reserve and has no share.
        case `operator`
        case tenant(String)
        /// A caller of whom nothing but the address is known.
        case address(String)
    }

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
    package private(set) var count = 0

    package init(_ limits: Limits) { self.limits = limits }

    package func held(by owner: Owner) -> Int { held[owner, default: 0] }

    package func hasRoom(for owner: Owner) -> Bool {
        if case .operator = owner { return count < limits.all }
        let mine = held(by: owner)
        return mine < limits.ofTenantMax && mine < limits.all - limits.reserve - count
    }

    package mutating func take(_ owner: Owner) -> Bool {
        guard hasRoom(for: owner) else { return false }
        held[owner, default: 0] += 1
        count += 1
        return true
    }

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

    package let limits: FairShare.Limits
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

    package var count: Int { state.withLock { $0.places.count } }
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
///
/// In the queue of an owner that is several, such as the address of a proxy, its members take turns alike.
package final class FairTurns: Sendable {
    /// The error of a caller that may not even wait: too many wait, of all tenants or of its own.
    package struct Full: Error {}

    private struct Waiting {
        let answer: FirstAnswer<Void>
        let member: String?
        /// The number of turns of its member that come before this one. A queue is in the order of rounds.
        let round: Int
    }

    private struct State {
        var places: FairShare
        var waiting: FairShare
        var queues: [FairShare.Owner: [Waiting]] = [:]
        /// The owners with waiting callers, the next one first.
        var rotation: [FairShare.Owner] = []
        var refused = 0
    }

    private let state: Mutex<State>

    package init(_ places: FairShare.Limits, waiting: FairShare.Limits) {
        state = Mutex(State(places: FairShare(places), waiting: FairShare(waiting)))
    }

    package var waitingCount: Int { state.withLock { $0.waiting.count } }
    package var refusedCount: Int { state.withLock { $0.refused } }

    /// Runs `body` during a turn.
    ///
    /// - Throws: ``Full``; `CancellationError` if the task is cancelled while it waits; the error of `body`.
    package func withTurn<Result>(
        of owner: FairShare.Owner, as member: String? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await enter(owner, as: member)
        defer { leave(owner) }
        return try await body()
    }

    /// Takes a turn, after a wait if necessary. The caller ends it with ``leave(_:)``.
    ///
    /// - Parameter member: who it is among those of an owner that is several; callers without one wait in the order in which they came.
    /// - Throws: ``Full``; `CancellationError` if the task is cancelled while it waits. Then no turn is taken.
    package func enter(_ owner: FairShare.Owner, as member: String? = nil) async throws {
        try Task.checkCancellation()
        let answer = FirstAnswer<Void>()
        try state.withLock { state in
            if state.queues[owner] == nil, state.places.take(owner) {
                answer.give(.success(()))
                return
            }
            guard state.waiting.take(owner) else {
                state.refused += 1
                throw Full()
            }
            if state.queues[owner] == nil { state.rotation.append(owner) }
            Self.insert(answer, of: member, into: &state.queues[owner, default: []])
        }
        do { try await answer.value } catch {
            state.withLock { Self.withdraw(answer, of: owner, &$0) }
            throw error
        }
    }

    /// Ends a turn. The free place goes to a waiting caller.
    package func leave(_ owner: FairShare.Owner) {
        state.withLock { state in
            state.places.giveBack(owner)
            Self.admit(&state)
        }
    }

    /// Gives free places to waiting callers, to operators first; more than one may fit, because the share of each grows with the free
    /// places.
    private static func admit(_ state: inout State) {
        func next() -> Int? {
            if state.places.hasRoom(for: .operator),
                let index = state.rotation.firstIndex(of: .operator)
            {
                return index
            }
            return state.rotation.firstIndex { state.places.hasRoom(for: $0) }
        }
        while let index = next() {
            let owner = state.rotation[index]
            guard let next = state.queues[owner]?.first else { break }
            remove(at: 0, of: owner, &state)
            if state.queues[owner] != nil {
                state.rotation.remove(at: index)
                state.rotation.append(owner)
            }
            // A caller that was cancelled takes no place.
            if next.answer.give(.success(())) { _ = state.places.take(owner) }
        }
    }

    /// Puts a caller behind those of its round: the first one of a member waits for one turn of each of the others.
    private static func insert(
        _ answer: FirstAnswer<Void>, of member: String?, into queue: inout [Waiting]
    ) {
        guard let member else {
            let round = queue.last?.round ?? 0
            queue.append(Waiting(answer: answer, member: nil, round: round))
            return
        }
        let last = queue.last { $0.member == member }
        let round = last.map { $0.round + 1 } ?? queue.first?.round ?? 0
        let index = queue.firstIndex { $0.round > round } ?? queue.endIndex
        queue.insert(Waiting(answer: answer, member: member, round: round), at: index)
    }

    private static func withdraw(
        _ answer: FirstAnswer<Void>, of owner: FairShare.Owner, _ state: inout State
    ) {
        guard let index = state.queues[owner]?.firstIndex(where: { $0.answer === answer }) else {
            return
        }
        remove(at: index, of: owner, &state)
    }

    private static func remove(at index: Int, of owner: FairShare.Owner, _ state: inout State) {
        state.queues[owner]?.remove(at: index)
        state.waiting.giveBack(owner)
        guard state.queues[owner]?.isEmpty ?? true else { return }
        state.queues[owner] = nil
        state.rotation.removeAll { $0 == owner }
    }
}
