import Synchronization

/// Values by key, the latest ones used; the others are forgotten.
final class BoundedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let countMax: Int
    private let state = Mutex<State>(State())

    private struct State {
        var values: [Key: (value: Value, use: Int)] = [:]
        var uses = 0
    }

    init(countMax: Int) { self.countMax = countMax }

    subscript(key: Key) -> Value? {
        get {
            state.withLock { state in
                guard let value = state.values[key]?.value else { return nil }
                state.uses += 1
                state.values[key] = (value, state.uses)
                return value
            }
        }
        set {
            state.withLock { state in
                state.uses += 1
                state.values[key] = newValue.map { ($0, state.uses) }
                guard state.values.count > countMax else { return }
                // A tenth at once, so that the search is paid for rarely.
                let oldest = state.values.sorted { $0.value.use < $1.value.use }
                    .prefix(max(1, countMax / 10))
                for (key, _) in oldest { state.values[key] = nil }
            }
        }
    }
}
