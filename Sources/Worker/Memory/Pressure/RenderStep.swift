/// What is done to one of the renders that run.
public enum RenderStep: String, Sendable, CaseIterable {
    /// The youngest that runs stands still.
    case pause = "paused"
    /// The oldest that stands still runs on.
    case resume = "resumed"
    /// The youngest is killed and its job handed back.
    case requeue = "requeued"

    /// Shortest time between two steps: what one render less does has to be seen first.
    static let interval: Duration = .seconds(1)

    /// What is to be done next; nil: nothing.
    ///
    /// One render always runs. If it is itself what takes the memory, its own limit ends it, or the kernel does, which kills
    /// children first; that is an end of its own (`outOfMemory`) and not for us to hide by handing it back for ever.
    ///
    /// - Parameters:
    ///   - running: renders that run.
    ///   - paused: renders that stand still.
    ///   - waited: time since the last step; nil when there was none.
    static func next(
        _ turn: PressureLadder.Turn, running: Int, paused: Int, waited: Duration?
    ) -> RenderStep? {
        if running == 0, paused > 0 { return .resume }
        if let waited, waited < interval { return nil }
        switch turn.level {
        case .calm, .holding, .shrinking: return paused > 0 ? .resume : nil
        case .pausing: return turn.isStrained && running > 1 ? .pause : nil
        case .requeueing: return turn.isStrained && running + paused > 1 ? .requeue : nil
        }
    }
}
