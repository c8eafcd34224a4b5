import Synchronization

/// A cache of the most recently used values, bounded by their total cost.
final class BoundedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let costMax: Int
    private let state = Mutex<State>(State())

    private struct State {
        var values: [Key: Item] = [:]
        var cost = 0
        var uses = 0
    }

    private struct Item {
        let value: Value
        let cost: Int
        var use: Int
    }

    /// - Parameter costMax: the largest total cost. A value that costs more than a quarter of it is not cached.
    init(costMax: Int) { self.costMax = costMax }

    subscript(key: Key) -> Value? {
        state.withLock { state in
            guard let value = state.values[key]?.value else { return nil }
            state.uses += 1
            state.values[key]?.use = state.uses
            return value
        }
    }

    func set(_ key: Key, _ value: Value, cost: Int = 1) {
        state.withLock { state in
            state.cost -= state.values.removeValue(forKey: key)?.cost ?? 0
            guard cost <= costMax / 4 else { return }
            state.uses += 1
            state.cost += cost
            state.values[key] = Item(value: value, cost: cost, use: state.uses)
            guard state.cost > costMax else { return }
            // Frees a quarter at once, so that the sorting is rarely needed.
            for (key, item) in state.values.sorted(by: { $0.value.use < $1.value.use })
            where state.cost > costMax / 4 * 3 {
                state.values[key] = nil
                state.cost -= item.cost
            }
        }
    }

    func remove(_ key: Key) {
        state.withLock { $0.cost -= $0.values.removeValue(forKey: key)?.cost ?? 0 }
    }
}
