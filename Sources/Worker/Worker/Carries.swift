/// The publications that a worker continues for workers that died, beside its upkeep. It holds all that it was given, and
/// as many run at once as it has slots: each may wait for a store, or for a lock that a stopped process has.
actor Carries {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// How many have been given and have not ended.
    private(set) var held = 0

    /// - Parameter count: how many run at once.
    init(atOnce count: Int) { free = max(1, count) }

    /// Records one that was given.
    func add() { held += 1 }

    /// Waits until it may run.
    func begin() async {
        if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
    }

    /// Records that it has ended.
    func end() {
        held -= 1
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
