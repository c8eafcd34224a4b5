public import Adjustments
public import Files
public import JobQueue
public import Logging
public import RenderProtocol
import Synchronization

/// Warm render children: started when needed, used again for the same tenant, replaced before they grow old, and granted
/// memory before they are lent.
///
/// A child that a photo has taken over sees and spoils what it is lent for afterwards: that is never another tenant's
/// photo. One whose decoder has stumbled is not used again at all: it may have been pushed. A photo that is refused for
/// what its header says, before a decoder opened it, costs no child: 45 of 100 harmed files of `ops/hostile`. A process
/// for each photo was measured, forked from one that had all tables ready: 15 % more processor time at 24 MP, since each
/// learns a photo's colours anew, and 9 ms at 1 MP (`ops/bench/ISOLATION.md`). ``WorkerSettings/photosPerChild`` of 1 gives
/// that to whoever wants it.
///
/// Running and idle children together hold no more than the budget: idle ones end when a render needs their memory.
public actor RenderPool {
    struct Warm {
        let child: RenderChild
        /// Whose photos it has read; nil while it has read none.
        var tenant: String?
        var photos: Int
        var held = RenderChild.Held()
    }

    let settings: WorkerSettings
    /// Whether a child has said that what is required keeps it from doing harm.
    var isConfined = false
    /// The formats that children have failed to write and read.
    var formats = FormatGaps()
    let logger: Logger
    let listener: WorkerEvent.Listener
    private(set) var idle: [Warm] = []
    private let level = Mutex(PressureLevel.calm)
    /// Most children that wait for photos of their tenants: two for each slot, so that tenants that take turns find theirs.
    private var idleMax: Int { 2 * settings.slots }
    /// The renders that run.
    nonisolated let renders = RunningRenders()
    /// The slots of the photos that are rendered; those who lend take one before.
    nonisolated let slots: RenderSlots
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
        slots = RenderSlots(settings.slots)
        gate = MemoryGate(budget: settings.memory, brake: brake, listener: listener)
    }

    /// What is granted and who waits, for people; nil when nothing bounds it.
    public nonisolated var memory: WorkerMemory? {
        gate.budget.source == .nobody ? nil : gate.figures
    }

    /// Inspects and renders a photo or a movie, and takes the results over.
    ///
    /// - Parameters:
    ///   - files: with the outputs.
    ///   - place: makes a place for a part of a movie; by default in memory, for small ones.
    ///   - progress: told how much of a movie is done.
    ///   - take: looks at the results while the child is lent, so that one whose results are not believed is not used
    ///     again.
    /// - Throws: a `Failure`, or `CancellationError` when the calling task was cancelled; the child
    ///   is dead then.
    public func render<Result: Sendable>(
        _ request: PhotoRequest, _ files: RenderFiles, tenant: String = "",
        parts place: @escaping @Sendable () throws(Failure) -> OpenFile = { () throws(Failure) in
            try .inMemory(name: "a part of the movie")
        },
        progress: @escaping @Sendable (JobProgress) -> Void = { _ in },
        _ take: @escaping @Sendable (Inspection, RenderUse) async throws -> Result
    ) async throws -> Result {
        let inspection = try await inspect(request, files, tenant: tenant)
        let movie = MovieSegments(
            pool: self, tenant: tenant, request: request, files: files, inspection: inspection)
        let (whole, partsUse) = try await movie.rendered(progress, into: place)
        return try await lend(inspection.memoryBytes, to: tenant) { child in
            let video = DroppedVideo()
            let use = try await child.render(request, whole, as: inspection) { video.note($0) }
                .after(partsUse)
            return try await take(video.inspection(inspection), use)
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
    ///
    /// A recipe with automatic filters is planned by a small copy of the photo, which is decoded for it: the memory for
    /// that is asked for first.
    public func inspect(
        _ request: PhotoRequest, _ files: RenderFiles, tenant: String = ""
    ) async throws -> Inspection {
        var files = files
        (files.outputs, files.spool) = ([], nil)
        let handed = files
        var bytes = MemoryBudget.childBytes
        if request.recipe.isAutomatic {
            let copy = PhotoRequest(
                recipe: try Recipe(filters: []), limits: request.limits,
                outputs: [.init(longestSide: PhotoRequest.longestSideRange.lowerBound)],
                memoryMax: request.memoryMax)
            bytes = try await lend(to: tenant) { child in
                try await child.inspect(copy, handed).memoryBytes
            }
        }
        let inspection = try await lend(bytes, to: tenant) { child in
            try await child.inspect(request, handed)
        }
        try formats.check(inspection.plan)
        return inspection
    }

    /// Draws a contact sheet; nobody says what one needs, so it has all the memory.
    public func draw(_ request: ContactSheetRequest, _ files: RenderFiles) async throws {
        try await lend(gate.budget.bytes, to: "") { child in try await child.draw(request, files) }
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
    ///   - tenant: whose photo it is for; the empty one is an operator's own; nil: it reads none.
    /// - Throws: what `body` throws, and the failure that the child has answered. The child is dead then, unless the
    ///   photo was refused before a decoder opened it, or by the planner. `RenderRequeued` when it was killed because memory
    ///   is short.
    func lend<Result: Sendable>(
        _ bytes: Int = MemoryBudget.childBytes, to tenant: String?,
        _ body: @Sendable (LentChild) async throws -> Result
    ) async throws -> Result {
        let (grant, warm) = try await admit(bytes, tenant)
        defer { gate.giveBack(grant) }
        let lent = LentChild(
            warm.child, among: renders, grant: grant, formats: formats,
            renderTimeout: settings.renderTimeout,
            logger: logger, listener: listener)
        do {
            try await insistOnConfinement(of: lent)
            let result = try await body(lent)
            // One that was killed after its last answer has done its work.
            _ = lent.giveBack()
            await keep(warm, after: lent.use, grant)
            return result
        } catch let answered as AnsweredFailure where answered.leavesChild {
            _ = lent.giveBack()
            await keep(warm, after: lent.use, grant)
            throw answered.failure
        } catch {
            let isRequeued = lent.giveBack()
            warm.child.kill(because: ChildDeath(ending: error))
            await warm.child.wait()
            if isRequeued { throw RenderRequeued() }
            throw (error as? AnsweredFailure)?.failure ?? error
        }
    }

    /// Gets memory, and a child of the tenant's that fits into it.
    private func admit(
        _ bytes: Int, _ tenant: String?
    ) async throws -> (MemoryGate.Grant, Warm) {
        let bytes = max(bytes, MemoryBudget.childBytes)
        // One that still holds what a large photo needed is used again while there is room for that, too.
        if let index = choose(tenant, atMost: .max),
            let grant = gate.admitNow(max(bytes, idle[index].held.resident))
        {
            var warm = idle.remove(at: index)
            warm.tenant = tenant ?? warm.tenant
            await makeRoom(gate.free)
            return (grant, warm)
        }
        let grant = try await gate.admit(bytes)
        var warm =
            choose(tenant, atMost: bytes).map { idle.remove(at: $0) }
            ?? Warm(
                child: RenderChild(
                    executable: settings.renderExecutable, logger: logger, listener: listener),
                photos: 0)
        warm.tenant = tenant ?? warm.tenant
        await makeRoom(gate.free)
        return (grant, warm)
    }

    /// The place of an idle child of the tenant's, or of nobody's, that lives and holds at most so much: the one that worked last.
    private func choose(_ tenant: String?, atMost bytes: Int) -> Int? {
        idle.removeAll { !$0.child.isAlive }
        return idle.lastIndex {
            ($0.tenant == nil || $0.tenant == tenant) && $0.held.resident <= bytes
        }
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

    private func keep(_ warm: Warm, after use: LentChild.Use, _ grant: MemoryGate.Grant) async {
        var warm = warm
        warm.photos += use.photos
        warm.held = warm.child.held
        idle.append(warm)
        // A child for each photo: also one that has only read a header is not used again.
        let isUsedUp = warm.photos >= settings.photosPerChild || settings.photosPerChild == 1
        if level.withLock({ $0 }) >= .shrinking || isUsedUp
            || use.peakBytes > settings.childBytesMax
        {
            await end([idle.count - 1])
        } else if idle.count > idleMax {
            await end([0])
        } else {
            await makeRoom(gate.free + grant.bytes)
        }
    }
}
