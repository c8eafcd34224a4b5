/// A limit on the number of simultaneous deliveries. Further deliveries wait in order.
actor DeliverySlots {
    private var free: Int
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = max(1, count) }

    /// Takes a slot. Each wait ends, because each delivery ends.
    ///
    /// - Throws: `CancellationError`; then no slot is taken.
    func enter() async throws {
        if free > 0 { free -= 1 } else { await withCheckedContinuation { waiters.append($0) } }
        if Task.isCancelled {
            leave()
            throw CancellationError()
        }
    }

    /// Releases a slot to the next waiting delivery.
    func leave() {
        if waiters.isEmpty { free += 1 } else { waiters.removeFirst().resume() }
    }
}
