/// Places for deliveries that go on at a time; who comes when all are taken waits in turn.
actor DeliverySlots {
    private var free: Int
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = max(1, count) }

    /// Takes a place. Each wait ends, because each delivery does.
    ///
    /// - Throws: `CancellationError`; then no place is taken.
    func enter() async throws {
        if free > 0 { free -= 1 } else { await withCheckedContinuation { waiters.append($0) } }
        if Task.isCancelled {
            leave()
            throw CancellationError()
        }
    }

    /// Gives a place to the next one.
    func leave() {
        if waiters.isEmpty { free += 1 } else { waiters.removeFirst().resume() }
    }
}
