import Synchronization

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
