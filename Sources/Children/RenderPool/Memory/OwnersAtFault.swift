import Edits
import Synchronization

/// The owners of children that took more memory than there was for them. For a time their renders wait for memory behind those of
/// others, and are paused and given up first.
final class OwnersAtFault: Sendable {
    private struct State {
        /// The end of each owner's time.
        var owners: [Owner: ContinuousClock.Instant] = [:]
        var kills = 0
    }

    /// How long an owner is at fault after its last child that took too much.
    static let time: Duration = .seconds(60)
    /// The most owners that are remembered; further ones wait as all do.
    static let ownersMax = 1_000

    private let state = Mutex(State())

    /// The number of their children that the kernel has killed for lack of memory.
    var kills: Int { state.withLock { $0.kills } }

    /// Notes that a child of an owner took too much.
    ///
    /// - Parameter wasKilled: whether the kernel ended it, and counted that.
    func note(_ owner: Owner?, wasKilled: Bool, at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            if wasKilled { state.kills += 1 }
            guard let owner else { return }
            state.owners = state.owners.filter { $0.value > now }
            guard state.owners[owner] != nil || state.owners.count < Self.ownersMax else { return }
            state.owners[owner] = now + Self.time
        }
    }

    func has(_ owner: Owner?, at now: ContinuousClock.Instant = .now) -> Bool {
        guard let owner else { return false }
        return state.withLock { $0.owners[owner].map { $0 > now } ?? false }
    }

    func owners(at now: ContinuousClock.Instant) -> Set<Owner> {
        state.withLock { Set($0.owners.filter { $0.value > now }.keys) }
    }
}
