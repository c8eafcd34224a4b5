/// The target of the next connection: the way from the addresses of the URL to the one server that executes the client's
/// commands.
///
///     standalone   the server
///     sentinel     a sentinel ──address of the master──▶ the server
///     cluster      a node ──MOVED──▶ the node that has the client's keys
///
/// All keys of a queue are in one slot, so one client needs one node of a cluster. It starts at any node and follows the
/// redirections, so it needs neither a map of the slots nor the permission to read it.
struct Route {
    /// The maximum number of consecutive redirections before a wait. Two or three are usual in a cluster; more means that its nodes
    /// disagree, as they do during a failover.
    static let redirectionsMax = 5

    struct Stop: Equatable {
        let address: RedisURL.Address
        /// Whether the connection only asks for the master; otherwise it carries commands.
        let isSentinel: Bool
    }

    private(set) var stop: Stop
    /// The addresses of the URL, and in a cluster also the last node that had the client's keys.
    private var entrances: [RedisURL.Address]
    private let urlCount: Int
    private let hasSentinels: Bool
    private var current = 0
    /// The number of entrances tried since the last reply to a command or the last wait.
    private var tried = 1
    private var redirections = 0

    init(_ topology: RedisURL.Topology) {
        switch topology {
        case .standalone(let address): entrances = [address]
        case .sentinel(_, let addresses), .cluster(let addresses): entrances = addresses
        }
        hasSentinels = if case .sentinel = topology { true } else { false }
        urlCount = entrances.count
        stop = Stop(address: entrances[0], isSentinel: hasSentinels)
    }

    /// Records a reply of the present server, or a wait: all entrances may be tried again.
    mutating func startOver() {
        tried = 1
        redirections = 0
    }

    /// Chooses the next stop after a connection, or an attempt at one, ended.
    ///
    /// Returns true if it should be tried at once, and false if the client should wait first. Each entrance is tried once
    /// between two waits.
    ///
    /// - Parameter wasServing: Whether commands were written on that connection.
    mutating func advance(after failure: LinkFailure, wasServing: Bool) -> Bool {
        if case .redirection(let address) = failure.consequence,
            redirections < Self.redirectionsMax
        {
            redirections += 1
            if !hasSentinels { remember(address) }
            stop = Stop(address: address, isSentinel: false)
            return true
        }
        // The master that a sentinel named may just have failed, and the other sentinels have not noticed it earlier.
        let isSearch = !wasServing && stop.isSentinel == hasSentinels
        let hasMore = isSearch && tried < entrances.count
        if hasMore { tried += 1 } else { startOver() }
        // The next entrance is used also after a wait: this one may be cut off from the others and out of date.
        current = (current + 1) % entrances.count
        stop = Stop(address: entrances[current], isSentinel: hasSentinels)
        return hasMore
    }

    private mutating func remember(_ address: RedisURL.Address) {
        guard !entrances.contains(address) else { return }
        if entrances.count > urlCount { entrances.removeLast() }
        entrances.append(address)
        current = min(current, entrances.count - 1)
    }
}
