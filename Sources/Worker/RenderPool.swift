import Adjustments
public import JobQueue
public import Logging
public import RenderProtocol
import Synchronization

/// Warm render children: started when needed, used again, replaced before they grow old, and granted memory before they
/// are lent.
///
/// Running and idle children together hold no more than the budget: idle ones end when a render needs their memory.
public actor RenderPool {
    struct Warm {
        let child: RenderChild
        var photos: Int
        var held = RenderChild.Held()
    }

    private let settings: WorkerSettings
    let logger: Logger
    let listener: WorkerEvent.Listener
    private(set) var idle: [Warm] = []
    private let level = Mutex(PressureLevel.calm)
    /// The renders that run.
    nonisolated let renders = RunningRenders()
    /// What grants the memory.
    nonisolated let gate: MemoryGate

    /// An empty pool.
    ///
    /// - Parameter brake: pulled while jobs wait for memory.
    public init(
        settings: WorkerSettings, brake: ClaimBrake = ClaimBrake(), logger: Logger,
        listener: @escaping WorkerEvent.Listener = { _ in }
    ) {
        self.settings = settings
        self.logger = logger
        self.listener = listener
        gate = MemoryGate(budget: settings.memory, brake: brake, listener: listener)
    }

    /// What is granted and who waits, for people; nil when nothing bounds it.
    public nonisolated var memory: WorkerMemory? {
        gate.budget.source == .nobody ? nil : gate.figures
    }

    /// Probes and renders a photo.
    ///
    /// - Throws: a `Failure`, or `CancellationError` when the calling task was cancelled; the child
    ///   is dead then.
    public func render(_ request: PhotoRequest) async throws -> RenderReport {
        let (_, plan) = try await probe(ProbeRequest(request))
        return try await lend(plan.estimate.memoryBytes) { child in
            try await child.render(request, planned: plan)
        }
    }

    /// Plans a render for less memory while it is short, and for all there is when that is too little for the photo: it
    /// waits for memory then, and is not refused.
    ///
    /// - Parameter body: told the most memory, in bytes, that the render may be planned to need.
    nonisolated func planning<Result>(
        _ body: (Int) async throws -> Result
    ) async throws -> Result {
        let all = gate.budget.bytes
        let now = level.withLock { $0 }.memoryMax(of: all)
        do {
            return try await body(now)
        } catch let failure as Failure where failure.code == .exceedsMemoryBudget && now < all {
            return try await body(all)
        }
    }

    /// Goes to another level: while memory is short nothing is granted beside what is, and no child is kept that does
    /// nothing.
    ///
    /// - Returns: how many children are ended.
    func follow(_ level: PressureLevel) async -> Int {
        self.level.withLock { $0 = level }
        gate.hold(level > .calm)
        guard level >= .shrinking else { return 0 }
        let count = idle.count
        await end(Array(idle.indices))
        return count
    }

    /// Reads the header of a photo and plans its render.
    public func probe(_ request: ProbeRequest) async throws -> (PhotoHeader, RenderPlan) {
        try await lend { child in try await child.probe(request) }
    }

    /// Draws a contact sheet; nobody says what one needs, so it has all the memory.
    public func draw(_ request: ContactSheetRequest) async throws {
        try await lend(gate.budget.bytes) { child in try await child.draw(request) }
    }

    /// Ends all idle children and waits until they are gone.
    public func close() async {
        await end(Array(idle.indices))
    }

    /// Lends a child for requests that follow each other.
    ///
    /// Memory is asked for before there is a child, so nobody holds some while it waits for more.
    ///
    /// - Parameters:
    ///   - bytes: what the requests are likely to need at most; waits until so much is free.
    ///   - last: the child is rather this one, if it is idle: it knows the digest of a photo that it has read.
    /// - Throws: what `body` throws; unless that came as the child's answer, the child is dead then. `RenderRequeued` when
    ///   it was killed because memory is short.
    func lend<Result: Sendable>(
        _ bytes: Int = MemoryBudget.childBytes, preferring last: LentChild? = nil,
        _ body: @Sendable (LentChild) async throws -> Result
    ) async throws -> Result {
        let (grant, warm) = try await admit(bytes, last)
        defer { gate.giveBack(grant) }
        let lent = LentChild(
            warm.child, among: renders, grant: grant, renderTimeout: settings.renderTimeout,
            logger: logger, listener: listener)
        do {
            let result = try await body(lent)
            // One that was killed after its last answer has done its work.
            _ = lent.giveBack()
            await keep(warm, after: lent.use, grant)
            return result
        } catch let failure as Failure where Self.leavesChildAlive(failure) {
            _ = lent.giveBack()
            await keep(warm, after: lent.use, grant)
            throw failure
        } catch {
            let isRequeued = lent.giveBack()
            warm.child.kill(because: .cancelled)
            await warm.child.wait()
            throw isRequeued ? RenderRequeued() : error
        }
    }

    /// Gets memory, and a child that fits into it.
    private func admit(
        _ bytes: Int, _ last: LentChild?
    ) async throws -> (MemoryGate.Grant, Warm) {
        let bytes = max(bytes, MemoryBudget.childBytes)
        // One that still holds what a large photo needed is used again while there is room for that, too.
        if let index = choose(last, atMost: .max),
            let grant = gate.admitNow(max(bytes, idle[index].held.resident))
        {
            let warm = idle.remove(at: index)
            await makeRoom(gate.free)
            return (grant, warm)
        }
        let grant = try await gate.admit(bytes)
        let warm =
            choose(last, atMost: bytes).map { idle.remove(at: $0) }
            ?? Warm(
                child: RenderChild(
                    executable: settings.renderExecutable, reachable: settings.reachable,
                    logger: logger, listener: listener),
                photos: 0)
        await makeRoom(gate.free)
        return (grant, warm)
    }

    /// The place of an idle child that lives and holds at most so much: `last`, or else the one that worked last.
    private func choose(_ last: LentChild?, atMost bytes: Int) -> Int? {
        idle.removeAll { !$0.child.isAlive }
        return idle.firstIndex { last?.isSame(as: $0.child) == true && $0.held.resident <= bytes }
            ?? idle.lastIndex { $0.held.resident <= bytes }
    }

    /// Ends idle children, the oldest first, until the others hold at most so much.
    private func makeRoom(_ bytes: Int) async {
        var held = idle.reduce(0) { $0 + $1.held.own }
        var ending = 0
        while held > bytes {
            held -= idle[ending].held.own
            ending += 1
        }
        await end(Array(0..<ending))
    }

    private func end(_ indices: [Int]) async {
        let children = indices.map { idle[$0].child }
        for index in indices.reversed() { idle.remove(at: index) }
        for child in children { child.finish() }
        for child in children { await child.wait() }
    }

    /// Whether a failure came as an answer: then the child waits for the next request.
    private static func leavesChildAlive(_ failure: Failure) -> Bool {
        switch failure.code {
        case .renderCrashed, .renderTimedOut, .outOfMemory, .internalError: false
        default: true
        }
    }

    private func keep(_ warm: Warm, after use: LentChild.Use, _ grant: MemoryGate.Grant) async {
        var warm = warm
        warm.photos += use.photos
        warm.held = warm.child.held
        idle.append(warm)
        if level.withLock({ $0 }) >= .shrinking || warm.photos >= settings.photosPerChild
            || use.peakBytes > settings.childBytesMax
        {
            await end([idle.count - 1])
        } else {
            await makeRoom(gate.free + grant.bytes)
        }
    }
}
