import Synchronization

/// A wait that others may end. A call before it begins ends it, too.
final class Nap: Sendable {
    private let state = Mutex((isRung: false, wait: nil as Task<Void, Never>?))

    /// Waits for a time, a call, or the end of the task. One caller at a time.
    func sleep(atMost time: Duration) async {
        let wait = state.withLock { state -> Task<Void, Never>? in
            if state.isRung { return nil }
            let wait = Task {
                // Cancelled by a call: then it is over early.
                _ = try? await Task.sleep(for: time)
            }
            state.wait = wait
            return wait
        }
        if let wait {
            await withTaskCancellationHandler {
                await wait.value
            } onCancel: {
                wait.cancel()
            }
        }
        state.withLock { $0 = (false, nil) }
    }

    /// Ends the wait.
    func ring() {
        state.withLock { state in
            state.isRung = true
            state.wait?.cancel()
        }
    }
}
