import Synchronization

/// Stops a worker's claims while jobs that it has already claimed could not start.
public final class ClaimBrake: Sendable {
    /// The reasons for stopping claims.
    enum Reason: Hashable {
        /// Jobs wait for memory.
        case memory
        /// The library's store is unavailable, or it is not the queue's library.
        case store
        /// No render child can be started.
        case children
    }

    private struct State {
        var reasons: Set<Reason> = []
        var trouble: String?
        var wake: @Sendable () -> Void = {}
    }

    private let state = Mutex(State())
    private let listener: WorkerEvent.Listener

    /// Creates a released brake.
    public init(listener: @escaping WorkerEvent.Listener = { _ in }) { self.listener = listener }

    /// Whether claims are stopped now.
    var isPulled: Bool { state.withLock { !$0.reasons.isEmpty } }

    /// Adds or removes a reason. The brake stays pulled while at least one reason remains.
    func pull(_ isPulled: Bool, for reason: Reason) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            let was = !state.reasons.isEmpty
            if isPulled { state.reasons.insert(reason) } else { state.reasons.remove(reason) }
            let isPulled = !state.reasons.isEmpty
            guard was != isPulled else { return nil }
            listener(.pausesClaims(isPulled))
            return isPulled ? nil : state.wake
        }
        wake?()
    }

    /// The sentence that says why the library cannot be used; nil: it can. The worker's heartbeats report it.
    package var trouble: String? {
        get { state.withLock { $0.trouble } }
        set { state.withLock { $0.trouble = newValue } }
    }

    /// Adds or removes the reason that jobs wait for memory.
    public func pullForMemory(_ isPulled: Bool) { pull(isPulled, for: .memory) }

    /// Adds or removes the reason that no render child can be started.
    public func pullForChildren(_ isPulled: Bool) { pull(isPulled, for: .children) }

    /// Sets the closure that runs when claims may resume.
    func onRelease(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }
}
