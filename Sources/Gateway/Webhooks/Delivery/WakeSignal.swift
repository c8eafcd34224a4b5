import Synchronization

/// A wait that another task may end. A `wake` before the wait begins ends it, too.
final class WakeSignal: Sendable {
    private let state = Mutex((isWoken: false, wait: nil as Task<Void, Never>?))

    /// Waits until the time is over, `wake` is called or the task is cancelled. Only one caller may wait at a time.
    func wait(atMost time: Duration) async {
        let wait = state.withLock { state -> Task<Void, Never>? in
            if state.isWoken { return nil }
            let wait = Task {
                // The sleep is cancelled by `wake`, and then ends early.
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
    func wake() {
        state.withLock { state in
            state.isWoken = true
            state.wait?.cancel()
        }
    }
}
