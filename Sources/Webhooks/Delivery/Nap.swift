import Synchronization

/// A wait that another task may end. A `ring` before the wait begins ends it, too.
final class Nap: Sendable {
    private let state = Mutex((isRung: false, wait: nil as Task<Void, Never>?))

    /// Waits until the time is over, `ring` is called or the task is cancelled. Only one caller may wait at a time.
    func sleep(atMost time: Duration) async {
        let wait = state.withLock { state -> Task<Void, Never>? in
            if state.isRung { return nil }
            let wait = Task {
                // The sleep is cancelled by `ring`, and then ends early.
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
