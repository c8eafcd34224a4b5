/// The grants of memory and the waiting requests: the decisions, without the waiting.
///
/// A request that fits may pass larger requests that wait before it, so that no memory stays unused. Each request
/// lets at most ``passedMax`` others pass. From then on all requests behind it wait until enough grants are
/// returned for it to fit. So no request starves, and all requests are served in whatever order the grants are
/// returned.
struct MemoryLedger {
    /// A request for memory, from its arrival until it is granted or withdrawn.
    struct Request: Equatable {
        let id: Int
        let bytes: Int
        /// The number of later requests that were granted before it.
        var passed = 0
    }

    /// A granted request.
    struct Grant: Equatable {
        let id: Int
        let bytes: Int
        /// The number of earlier requests that still wait.
        let passes: Int
    }

    /// The number of later requests that may pass one request. A small photo takes about 0.2 s, so a large one
    /// waits a few seconds longer than it would in the order of arrival.
    static let passedMax = 16

    /// The bytes that may be granted at the same time.
    let budget: Int
    /// The bytes that are granted.
    private(set) var granted = 0
    /// The waiting requests, in the order of their arrival.
    private(set) var waiting: [Request] = []
    /// Whether further grants are stopped. If nothing is granted, one request at a time is still served.
    private(set) var isPaused = false

    private var grants: [Int: Int] = [:]
    private var nextID = 0

    init(budget: Int) { self.budget = budget }

    /// The bytes that are not granted.
    var free: Int { budget - granted }

    /// Whether a request waits for all returned memory, since no other may pass it any more.
    var isBlocked: Bool { waiting.contains(where: bars) }

    /// Requests memory.
    ///
    /// - Parameter bytes: at most ``budget``; a larger request would wait for ever.
    mutating func request(_ bytes: Int) -> (id: Int, grants: [Grant]) {
        nextID += 1
        waiting.append(Request(id: nextID, bytes: bytes))
        return (nextID, serve())
    }

    /// Requests memory and withdraws the request if it cannot be granted now.
    mutating func requestNow(_ bytes: Int) -> Grant? {
        let (id, grants) = request(bytes)
        // No other request can have been granted: all waiting requests were examined after each change.
        if let grant = grants.first { return grant }
        _ = withdraw(id)
        return nil
    }

    /// Releases a grant.
    mutating func giveBack(_ id: Int) -> [Grant] {
        guard let bytes = grants.removeValue(forKey: id) else {
            preconditionFailure("grant \(id) is given back that is not out")
        }
        granted -= bytes
        return serve()
    }

    /// Withdraws a request that is not granted yet.
    mutating func withdraw(_ id: Int) -> [Grant] {
        waiting.removeAll { $0.id == id }
        return serve()
    }

    /// Stops further grants except one at a time, or allows all that fit.
    mutating func pause(_ isPaused: Bool) -> [Grant] {
        self.isPaused = isPaused
        return serve()
    }

    /// Grants the requests that can be granted now, the oldest first.
    private mutating func serve() -> [Grant] {
        var served: [Grant] = []
        var index = 0
        while index < waiting.count, !isPaused || granted == 0 {
            let request = waiting[index]
            if request.bytes <= free {
                for earlier in 0..<index { waiting[earlier].passed += 1 }
                waiting.remove(at: index)
                grants[request.id] = request.bytes
                granted += request.bytes
                served.append(Grant(id: request.id, bytes: request.bytes, passes: index))
                // An earlier request may have let enough others pass by now.
                if waiting[..<index].contains(where: bars) { break }
            } else if bars(request) {
                break
            } else {
                index += 1
            }
        }
        return served
    }

    /// Returns whether no other request may pass this one, because enough others have passed it.
    private func bars(_ request: Request) -> Bool { request.passed >= Self.passedMax }
}
