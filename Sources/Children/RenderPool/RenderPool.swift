package import Edits
import Files
public import Logging
public import RenderProtocol
import Synchronization
import SystemPackage
import Telemetry
import Tracing

/// Warm render children. The pool starts them on demand, reuses them for the same owner, replaces them before they
/// grow old, and grants memory before it lends them.
///
/// A child that a photo has taken over can read and corrupt the photos of its later loans, so a child is never lent
/// to a second owner. A child whose decoder has failed is not used again at all, because the failure may be an
/// attack. A photo that is refused for its header, before a decoder opens it, costs no child: 45 of 100 harmed
/// files of `ops/hostile`. Rejected: a process for each photo, forked from one with all tables ready. It was
/// measured to need 15 % more processor time at 24 MP, since each process learns a photo's colours anew, and 9 ms
/// at 1 MP (`MEASURED.md`). Operators can choose it by setting ``RenderSettings/photosPerChild`` to 1.
///
/// Running and idle children together hold no more than the budget: idle children are ended when a render needs
/// their memory.
public actor RenderPool {
    struct Warm {
        let process: RenderProcess
        let program: RenderProgram.Kind
        /// The owner of the photos that the child has read; nil if it has read none.
        var owner: Owner?
        var photos: Int
        /// Whether the child has read a font that is not for all tenants.
        var hasMetOwnFont = false
        var memory = RenderProcess.Memory()
    }

    let settings: RenderSettings
    /// The program that children run.
    var executable: FilePath
    /// The task that tries whether children can be started again; nil while they can.
    var starting: Task<Void, Never>?
    /// Whether a child has reported that the required confinement is in force.
    var isConfined = false
    /// The formats that children have failed to write or read.
    var formats = FormatGaps()
    /// The results of trials of the bits of a sample.
    var bitDepthTrials: [Recipe.Format: [Recipe.BitDepth: Task<Void, any Error>]] = [:]
    /// The texts that were drawn last, by their owner.
    var texts = TextCache()
    let logger: Logger
    let metrics: RenderMetrics
    /// Called with the reason why no child can be started, and with nil when one can be again.
    let trouble: @Sendable (String?) -> Void
    private(set) var idle: [Warm] = []
    private let level = Mutex(PressureLevel.calm)
    /// The most idle children: two for each slot, so that alternating owners find their own.
    private var idleMax: Int { 2 * settings.slots }
    nonisolated let renders = RunningRenders()
    nonisolated let atFault = OwnersAtFault()
    /// The slots for rendering photos. Callers of `lend` acquire a slot first.
    package nonisolated let slots: RenderSlots
    nonisolated let gate: MemoryGate

    /// Creates an empty pool.
    ///
    /// - Parameters:
    ///   - backlog: called with `true` when so many renders wait for memory that no more should begin, and with `false`
    ///     when they no longer do. It may be called with the same value again.
    ///   - trouble: called with the reason why no child can be started, and with nil when one can be again.
    public init(
        settings: RenderSettings, logger: Logger,
        metrics: RenderMetrics = RenderMetrics(),
        backlog: @escaping @Sendable (Bool) -> Void = { _ in },
        trouble: @escaping @Sendable (String?) -> Void = { _ in }
    ) {
        self.settings = settings
        executable = settings.executable
        self.logger = logger
        self.metrics = metrics
        self.trouble = trouble
        slots = RenderSlots(settings.slots)
        gate = MemoryGate(budget: settings.memory, metrics: metrics, backlog: backlog)
    }

    /// The granted memory and the waiting requests, for operators; nil if memory is unbounded.
    public nonisolated var memory: MemoryFigures? {
        gate.budget.source == .nobody ? nil : gate.figures
    }

    /// The private memory that a child may get for its photos, whatever it is asked: all renders' budget, and the stacks of its
    /// threads, which are mapped and hardly touched. nil if memory is unbounded.
    nonisolated var lifeBytes: Int? {
        guard gate.budget.source != .nobody else { return nil }
        return gate.budget.bytes + RenderSlots.shareMax * LentChild.threadBytes
    }

    package nonisolated var renderTimeout: Duration { settings.timeout }

    /// The memory that all renders together may use, in bytes.
    package nonisolated var budgetBytes: Int { gate.budget.bytes }

    /// Plans a render with less memory while memory is short. If that is too little for the photo, it plans with
    /// the whole budget: the render then waits for memory and is not refused.
    ///
    /// - Parameter body: receives the largest amount of memory, in bytes, that the plan may need.
    package nonisolated func planning<Result>(
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

    /// Changes the pressure level. While memory is short, the pool grants no further memory and keeps no idle
    /// children.
    ///
    /// - Returns: the number of children that are ended.
    func follow(_ level: PressureLevel) async -> Int {
        self.level.withLock { $0 = level }
        gate.pause(level > .calm)
        guard level >= .shrinking else { return 0 }
        let count = idle.count
        await endIdle()
        return count
    }

    /// Reads the header of a photo and plans its render.
    ///
    /// A recipe with automatic filters is planned from a small copy of the photo, which must be decoded. Memory for
    /// the decoding is requested first.
    public func inspect(
        _ request: PhotoRequest, _ files: RenderFiles, for borrower: Borrower
    ) async throws -> Inspection {
        var files = files
        (files.outputs, files.spool) = ([], nil)
        let handed = files
        return try await inSpan("inspect") { _ in
            try await inspected(request, handed, for: borrower)
        }
    }

    private func inspected(
        _ request: PhotoRequest, _ handed: RenderFiles, for borrower: Borrower
    ) async throws -> Inspection {
        var bytes = MemoryBudget.childBytes
        if request.recipe.isAutomatic {
            let copy = PhotoRequest(
                recipe: try Recipe(filters: []), limits: request.limits,
                outputs: [.init(longestSide: PhotoRequest.longestSideRange.lowerBound)],
                memoryMax: request.memoryMax)
            bytes = try await lend(to: borrower) { child in
                try await child.inspect(copy, handed).memoryBytes
            }
        }
        let inspection = try await lend(bytes, to: borrower) { child in
            try await child.inspect(request, handed)
        }
        if request.outputs.contains(where: { $0.rendition == nil }) {
            try formats.check(inspection.plan)
            try await checkBitDepth(inspection.plan)
        }
        for output in request.outputs where output.rendition?.isRequired == true {
            try await check(output)
        }
        return inspection
    }

    /// Returns the failures of a request's renditions that are not required and whose format this machine cannot write, by name. Their
    /// encoder might end the child with all the others.
    package func unwritable(_ request: PhotoRequest) async throws -> [String: Failure] {
        var failures: [String: Failure] = [:]
        for output in request.outputs where output.rendition?.isRequired == false {
            do {
                try await check(output)
            } catch let failure as Failure where failure.code == .formatUnavailable {
                failures[output.name ?? ""] = failure
            }
        }
        return failures
    }

    /// - Throws: `formatUnavailable` for a rendition whose format this machine cannot write; errors of the trial.
    private func check(_ output: PhotoRequest.Output) async throws {
        guard let rendition = output.rendition, let format = rendition.output.format else { return }
        let path = Rendition.path(output.name)
        do throws(Failure) { try formats.check(format) } catch { throw error.at(path) }
        if let depth = rendition.output.bitDepth {
            try await check(depth, of: format, at: path)
        }
    }

    /// Draws a contact sheet. Its memory has no estimate, so it is granted the whole budget.
    public func draw(_ request: ContactSheetRequest, _ files: RenderFiles) async throws {
        try await lend(gate.budget.bytes, to: Borrower(.operator)) { child in
            try await child.draw(request, files)
        }
    }

    /// Ends all idle children and waits until they have exited.
    public func close() async {
        starting?.cancel()
        await endIdle()
    }

    /// Ends all idle children and waits until they have exited. The pool can be used further.
    func endIdle() async { await end(Array(idle.indices)) }

    /// Lends a child for a sequence of requests.
    ///
    /// Memory is requested before there is a child, so no caller holds memory while it waits for more.
    ///
    /// - Parameters:
    ///   - bytes: the most memory that the requests are likely to need. The call waits until that much is free.
    ///   - borrower: the job that reads a photo with the child; nil: the child reads no photo.
    ///   - program: what the child does.
    /// - Throws: the error of `body`, or the failure that the child has reported. The child is then dead, unless
    ///   the photo was refused by the planner or before a decoder opened it. `rendererUnavailable` if no child can
    ///   be started. `RenderRequeued` if the child was killed because memory is short.
    package func lend<Result: Sendable>(
        _ bytes: Int = MemoryBudget.childBytes, to borrower: Borrower?,
        program: RenderProgram.Kind = .photos,
        _ body: @Sendable (LentChild) async throws -> Result
    ) async throws -> Result {
        let (grant, warm) = try await acquire(bytes, borrower?.owner, program)
        defer { gate.giveBack(grant) }
        let lent = LentChild(
            warm.process, among: renders, grant: grant, formats: formats,
            borrower: borrower, isNew: warm.photos == 0, hasMetOwnFont: warm.hasMetOwnFont,
            timeout: settings.timeout,
            logger: logger, metrics: metrics)
        do {
            try await insistOnConfinement(of: lent)
            let result = try await body(lent)
            // A child that was killed after its last answer has completed its work.
            _ = lent.giveBack()
            await keep(warm, after: lent.use, grant)
            return result
        } catch let answered as AnsweredFailure where answered.leavesChild {
            _ = lent.giveBack()
            await keep(warm, after: lent.use, grant)
            throw answered.failure
        } catch {
            let isRequeued = lent.giveBack()
            warm.process.kill(because: ChildDeath(ending: error))
            await warm.process.wait()
            if warm.process.tookTooMuch {
                atFault.note(borrower?.owner, wasKilled: warm.process.wasKilledForMemory)
            }
            if isRequeued { throw RenderRequeued() }
            throw (error as? AnsweredFailure)?.failure ?? error
        }
    }

    /// Acquires memory, and a child of the owner that fits into it.
    private func acquire(
        _ bytes: Int, _ owner: Owner?, _ program: RenderProgram.Kind
    ) async throws -> (MemoryGate.Grant, Warm) {
        let bytes = program == .photos ? max(bytes, MemoryBudget.childBytes) : bytes
        // A child that still holds the memory of a large photo is reused if there is room for that memory, too.
        if let index = choose(owner, program, atMost: .max),
            let grant = gate.grantNow(max(bytes, idle[index].memory.resident))
        {
            var warm = idle.remove(at: index)
            warm.owner = owner ?? warm.owner
            await makeRoom(gate.free)
            return (grant, warm)
        }
        let wanted: SpanAttributes = ["minilab.bytes": .int64(Int64(bytes))]
        let grant = try await inSpan("wait for memory", with: wanted) { _ in
            try await gate.grant(bytes, isLast: atFault.has(owner))
        }
        var warm: Warm
        if let index = choose(owner, program, atMost: bytes) {
            warm = idle.remove(at: index)
        } else {
            do {
                warm = Warm(
                    process: try await startedChild(program), program: program, photos: 0)
            } catch {
                gate.giveBack(grant)
                throw error
            }
        }
        warm.owner = owner ?? warm.owner
        await makeRoom(gate.free)
        return (grant, warm)
    }

    /// Returns the index of the most recently used idle child of a program that is alive, holds at most `bytes`, and
    /// is of this owner or of none.
    private func choose(
        _ owner: Owner?, _ program: RenderProgram.Kind, atMost bytes: Int
    ) -> Int? {
        idle.removeAll { !$0.process.isAlive }
        return idle.lastIndex {
            $0.program == program && ($0.owner == nil || $0.owner == owner)
                && $0.memory.resident <= bytes
        }
    }

    /// Ends idle children, the oldest first, until the remaining ones hold at most `bytes`.
    private func makeRoom(_ bytes: Int) async {
        var kept = idle.reduce(0) { $0 + $1.memory.own }
        var ending = 0
        while kept > bytes {
            kept -= idle[ending].memory.own
            ending += 1
        }
        await end(Array(0..<ending))
    }

    private func end(_ indices: [Int]) async {
        let processes = indices.map { idle[$0].process }
        for index in indices.reversed() { idle.remove(at: index) }
        for process in processes { process.finish() }
        for process in processes { await process.wait() }
    }

    private func keep(_ warm: Warm, after use: LentChild.Use, _ grant: MemoryGate.Grant) async {
        if let excess = use.excess {
            logger.warning(
                "a render child held what no render leaves behind, and was ended",
                metadata: ["child": "\(excess)"])
            warm.process.kill(because: .untrusted(excess))
            return await warm.process.wait()
        }
        // The watch over its threads may have killed it while its answer was on the way.
        guard warm.process.isAlive else { return await warm.process.wait() }
        var warm = warm
        warm.photos += use.photos
        warm.hasMetOwnFont = use.hasMetOwnFont
        warm.memory = warm.process.memory
        idle.append(warm)
        // With one photo per child, a child is not reused even if it has only read a header.
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

/// Limits the photos that render at the same time to the worker's slots. Other photos wait in the order of their
/// arrival.
///
/// A worker holds more jobs than slots while files of some are in transfer.
package final class RenderSlots: Sendable {
    private let count: Int
    private let slots: AsyncSemaphore

    init(_ count: Int) {
        self.count = count
        slots = AsyncSemaphore(limit: count)
    }

    /// The number of threads for each photo that renders now: as many as there are slots for a single photo, one
    /// when no slot is free.
    package var share: Int {
        min(max(1, count / max(1, slots.taken)), Self.shareMax)
    }
    /// The most cores of one photo. A chain has at most four parts, beside reading and writing, and each thread
    /// takes 4 to 9 MB.
    static let shareMax = 8

    /// Waits for a slot and holds it while the body runs. The body must not acquire another slot.
    ///
    /// - Throws: the error of the body; `CancellationError` if the task is cancelled while it waits.
    package func use<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await inSpan("wait for slot") { _ in try await slots.acquire() }
        defer { slots.release() }
        return try await body()
    }

    /// Releases the caller's slot while the body waits for something, and acquires a slot again afterwards.
    ///
    /// - Throws: the error of the body; `CancellationError` if the task is cancelled while it waits for a slot
    ///   again.
    package func lend<Result>(_ body: () async throws -> Result) async throws -> Result {
        slots.release()
        do {
            let result = try await body()
            try await slots.acquire()
            return result
        } catch {
            // The caller fails next and releases a slot, which it does not hold. This corrects the count.
            slots.seize()
            throw error
        }
    }

    /// The number of waiting callers, for tests.
    var waiting: Int { slots.waiting }
}
