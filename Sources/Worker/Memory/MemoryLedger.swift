/// Who may use how much memory, and who waits for some: the decisions, without the waiting.
///
/// A request that fits may pass bigger ones that wait before it, so that memory is used while they wait. Each request
/// lets at most ``passedMax`` pass: then everybody behind it waits, what is granted comes back, and it fits. So none
/// starves, and every order of ends serves all.
struct MemoryLedger {
    /// A request for memory, from its arrival until it is granted or withdrawn.
    struct Request: Equatable {
        let id: Int
        let bytes: Int
        /// Later requests that were granted before it.
        var passed = 0
    }

    /// A request that was granted.
    struct Grant: Equatable {
        let id: Int
        let bytes: Int
        /// Requests that came before it and wait on.
        let passes: Int
    }

    /// Later requests that one lets pass. A small photo takes some 0.2 s, so a big one waits a few seconds
    /// longer than it would by the order of arrival.
    static let passedMax = 16

    /// Bytes that may be granted at the same time.
    let budget: Int
    /// Bytes that are granted.
    private(set) var granted = 0
    /// Those who wait, in the order of their arrival.
    private(set) var waiting: [Request] = []
    /// Whether nothing is granted at present beside what is: one at a time goes on.
    private(set) var isHeld = false

    private var grants: [Int: Int] = [:]
    private var nextID = 0

    init(budget: Int) { self.budget = budget }

    /// Bytes that are not granted.
    var free: Int { budget - granted }

    /// Whether a request waits for all the memory that comes back, since nobody passes it any more.
    var isBlocked: Bool { waiting.contains(where: bars) }

    /// Asks for memory.
    ///
    /// - Parameter bytes: at most ``budget``, or it waits for ever.
    mutating func request(_ bytes: Int) -> (id: Int, grants: [Grant]) {
        nextID += 1
        waiting.append(Request(id: nextID, bytes: bytes))
        return (nextID, serve())
    }

    /// Asks for memory only if it is to be had at once.
    mutating func requestNow(_ bytes: Int) -> Grant? {
        let (id, grants) = request(bytes)
        // Nothing else can have been served: what waits has been looked at whenever something changed.
        if let grant = grants.first { return grant }
        _ = withdraw(id)
        return nil
    }

    /// Gives back what was granted.
    mutating func giveBack(_ id: Int) -> [Grant] {
        guard let bytes = grants.removeValue(forKey: id) else {
            preconditionFailure("grant \(id) is given back that is not out")
        }
        granted -= bytes
        return serve()
    }

    /// Takes a request back that is not granted yet.
    mutating func withdraw(_ id: Int) -> [Grant] {
        waiting.removeAll { $0.id == id }
        return serve()
    }

    /// Lets one at a time go on, or all that fit.
    mutating func hold(_ isHeld: Bool) -> [Grant] {
        self.isHeld = isHeld
        return serve()
    }

    /// Grants what can be granted now, the oldest first.
    private mutating func serve() -> [Grant] {
        var served: [Grant] = []
        var index = 0
        while index < waiting.count, !isHeld || granted == 0 {
            let request = waiting[index]
            if request.bytes <= free {
                for earlier in 0..<index { waiting[earlier].passed += 1 }
                waiting.remove(at: index)
                grants[request.id] = request.bytes
                granted += request.bytes
                served.append(Grant(id: request.id, bytes: request.bytes, passes: index))
                // One that has let enough pass may stand before this place now.
                if waiting[..<index].contains(where: bars) { break }
            } else if bars(request) {
                break
            } else {
                index += 1
            }
        }
        return served
    }

    /// Whether a request lets nobody pass: it has let enough pass.
    private func bars(_ request: Request) -> Bool { request.passed >= Self.passedMax }
}
