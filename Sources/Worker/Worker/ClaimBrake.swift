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
        var storeTrouble: String?
        var childTrouble: String?
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

    /// The sentence that says why no jobs are claimed: the library cannot be used, or no render child can be started; nil for
    /// neither. The worker's heartbeats report it.
    package var trouble: String? { state.withLock { $0.storeTrouble ?? $0.childTrouble } }

    /// Sets the sentence that says why the library cannot be used; nil: it can.
    func tell(ofStore trouble: String?) { state.withLock { $0.storeTrouble = trouble } }

    /// Adds or removes the reason that jobs wait for memory.
    public func pullForMemory(_ isPulled: Bool) { pull(isPulled, for: .memory) }

    /// Adds the reason that no render child can be started; nil removes it.
    public func pullForChildren(_ trouble: String?) {
        state.withLock {
            $0.childTrouble = trouble.map { "no render child can be started: \($0)" }
        }
        pull(trouble != nil, for: .children)
    }

    /// Sets the closure that runs when claims may resume.
    func onRelease(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }
}
