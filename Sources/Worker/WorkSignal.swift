/// Wakes the claim loop when there may be jobs to claim.
actor WorkSignal {
    /// Whether batches have lanes, which are fed as their jobs end.
    private(set) var hasLanes = false
    private var isRung = false
    private var waiter: CheckedContinuation<Void, Never>?

    /// Jobs were taken in, here or by another worker.
    func ring() {
        isRung = true
        wake()
    }

    /// Remembers what an admission found.
    func note(hasLanes: Bool) { self.hasLanes = hasLanes }

    /// Waits until it is rung, or the time is over. What was rung since the last wait counts.
    func wait(atMost time: Duration) async {
        if !isRung {
            let timer = Task {
                do {
                    try await Task.sleep(for: time)
                } catch {
                    return  // it was rung
                }
                wake()
            }
            await withCheckedContinuation { waiter = $0 }
            timer.cancel()
        }
        isRung = false
    }

    private func wake() {
        waiter?.resume()
        waiter = nil
    }
}
