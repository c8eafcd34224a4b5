import Synchronization

/// Holds a worker's claims back while jobs that it has claimed could not start.
public final class ClaimBrake: Sendable {
    private struct State {
        var isPulled = false
        var wake: @Sendable () -> Void = {}
    }

    private let state = Mutex(State())
    private let listener: WorkerEvent.Listener

    /// A brake that nobody has pulled.
    public init(listener: @escaping WorkerEvent.Listener = { _ in }) { self.listener = listener }

    /// Whether no jobs are to be claimed now.
    var isPulled: Bool { state.withLock { $0.isPulled } }

    /// Pulls the brake, or lets it go.
    func pull(_ isPulled: Bool) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.isPulled != isPulled else { return nil }
            state.isPulled = isPulled
            listener(.holdsClaims(isPulled))
            return isPulled ? nil : state.wake
        }
        wake?()
    }

    /// Says whom to wake when jobs may be claimed again.
    func onRelease(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }
}
