/// What a heartbeat tells of itself, as it happens.
public enum HeartbeatTurn: Sendable {
    /// It has done one turn, with or without leases to renew.
    case turned
    /// Redis has renewed the leases.
    case renewed
    /// Redis did not; why.
    case failed(String)

    /// Who is told: it returns at once.
    public typealias Listener = @Sendable (HeartbeatTurn) -> Void
}
