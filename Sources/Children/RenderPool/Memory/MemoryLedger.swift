import Edits

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
        /// Whether other requests are put before it, also later ones.
        var isLast = false
    }

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
    private(set) var granted = 0
    /// The waiting requests, in the order of their arrival.
    private(set) var waiting: [Request] = []
    /// Whether further grants are stopped. If nothing is granted, one request at a time is still served.
    private(set) var isPaused = false

    private var grants: [Int: Int] = [:]
    private var nextID = 0

    init(budget: Int) { self.budget = budget }

    var free: Int { budget - granted }

    /// Whether a request waits for all returned memory, since no other may pass it any more.
    var isBlocked: Bool { waiting.contains(where: bars) }

    /// Requests memory.
    ///
    /// - Parameters:
    ///   - bytes: at most ``budget``; a larger request would wait for ever.
    ///   - isLast: whether other requests are put before it, of those to come at most ``passedMax``.
    mutating func request(_ bytes: Int, isLast: Bool = false) -> (id: Int, grants: [Grant]) {
        nextID += 1
        let place = isLast ? nil : waiting.firstIndex(where: \.isLast)
        if let place {
            for later in place..<waiting.count {
                waiting[later].passed += 1
                // Enough others came before it: from now on it waits as all do.
                if bars(waiting[later]) { waiting[later].isLast = false }
            }
        }
        waiting.insert(
            Request(id: nextID, bytes: bytes, isLast: isLast), at: place ?? waiting.count)
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

/// The number of bytes that the render children of one worker may use together, and its source.
public struct MemoryBudget: Sendable, Equatable {
    public let bytes: Int
    public let source: Source

    public enum Source: Sendable, Equatable {
        case setting
        /// The limit of the control group, minus the memory in use and the reserve.
        case group(limit: Int, used: Int)
        /// The available memory of the machine, minus the share for other processes.
        case machine(available: Int)
        /// No source: the available memory is unknown, and nothing is bounded.
        case nobody
    }

    /// The memory of an idle child between small photos, with a margin. A child that holds more could not be lent
    /// for the next photo. Measured: 47 MB for a release build and 55 MB for a debug build, of which 38 and 45 MB
    /// are code that all children share.
    public static let childBytes = 58 << 20
    /// The smallest budget: a photo of 24 MP needs 54 MB in the cheapest lane.
    public static let bytesMin = 64 << 20
    /// The largest budget that can be set.
    public static let bytesMax = 1 << 45

    /// The part of a group's limit that is reserved, at the least, for the worker itself.
    static let workerBytes = 64 << 20
    /// The part of a group's limit that is reserved for the growth of the worker and of its neighbours in the
    /// group.
    static let growthBytes = 32 << 20
    /// The share of a group's limit that is reserved for the page cache of the files that are read and written. The
    /// kernel counts the cache and reclaims it under pressure, which slows down all processes of the group.
    static let cacheShare = 0.125
    /// The share of the machine's available memory in the budget. The rest is for page cache and other processes.
    static let machineShare = 0.5

    /// A budget that bounds nothing.
    public static let unbounded = MemoryBudget(bytes: bytesMax, source: .nobody)

    init(bytes: Int, source: Source) {
        self.bytes = bytes
        self.source = source
    }

    /// Reads the kernel's files and decides the budget.
    ///
    /// - Parameters:
    ///   - setting: the operator's setting, in bytes; it is used unchanged.
    /// - Throws: `MemoryBudgetError` if no child would fit, or if the available memory is unknown.
    init(setting: Int?, files: MemoryFiles) throws(MemoryBudgetError) {
        let group = files.group()
        try self.init(
            setting: setting, limit: group?.limit,
            used: group.flatMap(files.use)?.unreclaimableBytes ?? 0,
            available: files.machine()?.available)
    }

    /// Decides the budget.
    ///
    /// - Parameters:
    ///   - limit: the limit of the control group; nil if it has none.
    ///   - used: the memory that the processes of the group use now, the worker included.
    ///   - available: the available memory of the machine; nil if the kernel does not report it.
    init(
        setting: Int?, limit: Int?, used: Int, available: Int?
    ) throws(MemoryBudgetError) {
        let machine = available.map { available in
            MemoryBudget(
                bytes: Int(Double(available) * Self.machineShare),
                source: .machine(available: available))
        }
        let group = limit.map { limit in
            let others = max(used + Self.growthBytes, Self.workerBytes)
            let cache = Int(Double(limit) * Self.cacheShare)
            return MemoryBudget(
                bytes: limit - others - cache, source: .group(limit: limit, used: used))
        }
        let set = setting.map { MemoryBudget(bytes: $0, source: .setting) }
        guard
            let budget = set
                ?? [group, machine].compactMap(\.self).min(by: { $0.bytes < $1.bytes })
        else {
            throw MemoryBudgetError(problem: "the kernel does not say how much memory there is")
        }
        guard budget.bytes >= Self.bytesMin else {
            throw MemoryBudgetError(
                problem: "\(budget), and one child needs at least \(megabytes(Self.bytesMin))")
        }
        self = budget
    }
}

extension MemoryBudget: CustomStringConvertible {
    public var description: String {
        let reason =
            switch source {
            case .setting: "that is the setting memory"
            case .group(let limit, let used):
                "the control group's limit is \(megabytes(limit)), \(megabytes(used)) are in use, "
                    + "and the worker and the page cache need their part"
            case .machine(let available):
                "the machine has \(megabytes(available)) available, and half of it is left to others (several workers on a machine "
                    + "need a --memory each)"
            case .nobody: "nothing bounds it"
            }
        return "\(megabytes(max(0, bytes))) for render children: \(reason)"
    }
}

/// The reason why a worker cannot start with the available memory.
public struct MemoryBudgetError: Error, CustomStringConvertible {
    let problem: String

    public var description: String {
        "\(problem). Give the worker more memory, or say with --memory how much its render children may use "
            + "together."
    }
}

/// Formats a number of bytes for messages, in units of 1,000,000 bytes.
func megabytes(_ bytes: Int) -> String { "\((bytes + 500_000) / 1_000_000) MB" }
