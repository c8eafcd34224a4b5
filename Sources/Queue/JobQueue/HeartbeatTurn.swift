/// An event of a heartbeat.
public enum HeartbeatTurn: Sendable {
    /// One turn is complete, with or without leases to renew.
    case turned
    /// Redis has renewed the leases.
    case renewed
    /// The renewal failed, with the reason.
    case failed(String)

    /// The callback for these events. It must return at once.
    public typealias Listener = @Sendable (HeartbeatTurn) -> Void
}
