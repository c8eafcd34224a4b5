/// A measure that is applied to one of the running renders.
public enum PressureAction: String, Sendable, CaseIterable {
    /// The youngest running render is paused.
    case pause = "paused"
    /// The oldest paused render is resumed.
    case resume = "resumed"
    /// The youngest render is killed and its job returned.
    case requeue = "requeued"

    /// The shortest time between two steps, so that the effect of one is measured before the next.
    static let interval: Duration = .seconds(1)

    /// Returns the next step; nil: none.
    ///
    /// One render always runs. If that render itself exhausts the memory, its own limit ends it, or the kernel
    /// does, which kills children first. That death is reported as such (`outOfMemory`); returning the job again
    /// and again would hide it.
    ///
    /// - Parameters:
    ///   - running: the number of running renders.
    ///   - paused: the number of paused renders.
    ///   - waited: the time since the last step; nil if there was none.
    static func next(
        _ turn: PressureLadder.Turn, running: Int, paused: Int, waited: Duration?
    ) -> PressureAction? {
        if running == 0, paused > 0 { return .resume }
        if let waited, waited < interval { return nil }
        switch turn.level {
        case .calm, .holding, .shrinking: return paused > 0 ? .resume : nil
        case .pausing: return turn.isStrained && running > 1 ? .pause : nil
        case .requeueing: return turn.isStrained && running + paused > 1 ? .requeue : nil
        }
    }
}
