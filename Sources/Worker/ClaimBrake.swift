import Synchronization

/// Holds a worker's claims back while jobs that it has claimed could not start.
public final class ClaimBrake: Sendable {
    /// The reasons for which claims are held back.
    enum Reason: Hashable {
        /// Jobs wait for memory.
        case memory
        /// The library's store cannot be used.
        case store
    }

    private struct State {
        var reasons: Set<Reason> = []
        var wake: @Sendable () -> Void = {}
    }

    private let state = Mutex(State())
    private let listener: WorkerEvent.Listener

    /// A brake that nobody has pulled.
    public init(listener: @escaping WorkerEvent.Listener = { _ in }) { self.listener = listener }

    /// Whether no jobs are to be claimed now.
    var isPulled: Bool { state.withLock { !$0.reasons.isEmpty } }

    /// Pulls the brake for a reason, or lets it go; it holds as long as there is one.
    func pull(_ isPulled: Bool, for reason: Reason) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            let was = !state.reasons.isEmpty
            if isPulled { state.reasons.insert(reason) } else { state.reasons.remove(reason) }
            let isPulled = !state.reasons.isEmpty
            guard was != isPulled else { return nil }
            listener(.holdsClaims(isPulled))
            return isPulled ? nil : state.wake
        }
        wake?()
    }

    /// Says whom to wake when jobs may be claimed again.
    func onRelease(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }
}
