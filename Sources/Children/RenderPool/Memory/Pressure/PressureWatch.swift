import Edits
public import Logging
import Synchronization
public import SystemPackage
import Telemetry

/// Watches memory and sets the pressure level of a worker.
///
/// It reads the kernel's files a few times a second. Rejected: notification by the kernel (PSI triggers and
/// `POLLPRI`). It needs a thread and, without root, windows of two seconds, and it does not cover limits. Counters
/// give exact results at any interval.
public actor PressureWatch {
    private let files: MemoryFiles
    private let root: FilePath
    private let pool: RenderPool
    private let logger: Logger
    private let metrics: RenderMetrics
    private var ladder: PressureLadder
    private var stepped: ContinuousClock.Instant?
    private var pausedReported = 0
    /// The kills that the kernel had counted at the last reading, and those that the level has answered.
    private var killsRead: Int?
    private var killsAnswered = 0
    /// The kills of the pool's own children at the last reading.
    private var killsAtFault = 0
    private let newest = Mutex(Reading(level: .calm, text: ""))

    /// The present level, and the reading that led to it.
    private struct Reading {
        let level: PressureLevel
        let text: String
    }

    /// Creates a watch over the renders of a pool.
    ///
    /// - Parameter root: the root folder of the kernel's files: `/`, or the folder of a test with simulated files.
    public init(
        _ settings: PressureSettings, root: FilePath, pool: RenderPool, logger: Logger
    ) {
        files = MemoryFiles(root: root)
        self.root = root
        ladder = PressureLadder(PressurePolicy(stall: settings.stall), quiet: settings.quiet)
        self.pool = pool
        self.logger = logger
        metrics = pool.metrics
    }

    var level: PressureLevel { ladder.level }

    /// A shortage of memory, for operators.
    public struct Shortage: Sendable, Equatable {
        /// The level; not ``PressureLevel/calm``.
        public let level: PressureLevel
        /// The number of paused renders.
        public let paused: Int
        /// The reading that led to the level, for people.
        public let reading: String
    }

    /// The present shortage; nil if memory is not short.
    public nonisolated var shortage: Shortage? {
        let newest = newest.withLock { $0 }
        guard newest.level > .calm else { return nil }
        return Shortage(
            level: newest.level, paused: pool.renders.counts.paused, reading: newest.text)
    }

    /// Watches until the task is cancelled. Then all renders are resumed.
    ///
    /// - Parameter follow: called with each new level.
    package func run(_ follow: @Sendable (PressureLevel) async -> Void) async {
        if files.reading().isEmpty {
            logger.warning(
                "the kernel reports no memory figures: the worker cannot detect a shortage of memory",
                metadata: ["root": "\(root)", "expected": "proc/meminfo or proc/pressure/memory"])
        }
        while !Task.isCancelled {
            let turn = await turn(at: .now)
            if turn.level != turn.before { await follow(turn.level) }
            do {
                try await Task.sleep(for: PressureSettings.interval)
            } catch {
                break  // cancelled
            }
        }
        while let render = pool.renders.apply(.resume) {
            report(.resume, render, "the worker ends")
        }
    }

    /// Reads the files once and applies the resulting measures.
    @discardableResult
    func turn(at now: ContinuousClock.Instant) async -> PressureLadder.Turn {
        // What a child takes beyond its request is its owner's fault: it is ended before anybody else waits.
        guard pool.renders.endOverdrawn() == 0 else {
            ladder.forget()
            return PressureLadder.Turn(
                before: ladder.level, level: ladder.level, signs: .none, isStrained: false)
        }
        let turn = ladder.turn(readingWithoutFaults(), at: now)
        if turn.level != turn.before {
            newest.withLock { $0 = Reading(level: turn.level, text: "\(turn.signs)") }
            report(turn)
            let ended = await pool.follow(turn.level)
            if ended > 0 { metrics.pressureSteps.add(Double(ended), "idle_ended") }
        }
        let counts = pool.renders.counts
        let step = PressureAction.next(
            turn, running: counts.running, paused: counts.paused, waited: stepped.map { now - $0 })
        if let step, let render = pool.renders.apply(step, before: pool.atFault.owners(at: now)) {
            stepped = now
            report(step, render, "\(turn.signs)")
        }
        let paused = pool.renders.counts.paused
        if paused != pausedReported {
            pausedReported = paused
            metrics.paused.set(Double(paused))
        }
        return turn
    }

    /// Reads the files, and leaves out the kills that an owner answers for: a child of its own that the kernel ended first has given its
    /// memory back.
    ///
    /// A kill counts from the next reading on, when the pool knows whether one of its children was it.
    private func readingWithoutFaults() -> PressureReading {
        var reading = files.reading()
        let atFault = pool.atFault.kills
        killsAnswered = max(killsAnswered, (killsRead ?? reading.kills) - atFault)
        killsRead = reading.kills
        reading.kills = killsAnswered
        if atFault > killsAtFault { ladder.forget() }
        killsAtFault = atFault
        return reading
    }

    private func report(_ turn: PressureLadder.Turn) {
        let metadata: Logger.Metadata = [
            "level": "\(turn.level)", "before": "\(turn.before)", "reading": "\(turn.signs)",
        ]
        if turn.level > turn.before {
            logger.warning("memory is short", metadata: metadata)
        } else if turn.level == .calm {
            logger.notice("memory is no longer short", metadata: metadata)
        } else {
            logger.notice("memory is less short", metadata: metadata)
        }
        metrics.pressureLevel.set(Double(turn.level.rawValue))
        metrics.pressureSteps.add(1, "\(turn.level)")
    }

    private func report(_ step: PressureAction, _ render: RunningRenders.Render, _ why: String) {
        var metadata = render.metadata
        metadata["reading"] = "\(why)"
        logger.notice("render \(step.rawValue), for memory", metadata: metadata)
        metrics.pressureSteps.add(1, step.rawValue)
    }
}

extension MemoryFiles {
    /// Returns the kernel's figures at this moment.
    func reading() -> PressureReading {
        var reading = PressureReading()
        if let group = group() {
            if let limit = group.limit, let use = use(of: group) {
                reading.group = PressureReading.Bound(limit: limit, used: use.unreclaimableBytes)
            }
            reading.limitHits = events(of: group)?.limitHits ?? 0
        }
        reading.kills = kills() ?? 0
        reading.machine = machine().map {
            PressureReading.Bound(limit: $0.total, used: $0.total - $0.available)
        }
        reading.stall = pressure().map {
            PressureReading.Stall(
                average10: $0.some.average10 / 100, total: $0.some.total, isOfGroup: $0.isOfGroup)
        }
        return reading
    }
}

/// A measure that is applied to one of the running renders.
public enum PressureAction: String, Sendable, CaseIterable {
    /// The youngest running render is paused.
    case pause = "paused"
    /// The oldest paused render is resumed.
    case resume = "resumed"
    /// The youngest render is killed and its job returned.
    case requeue = "requeued"

    /// The shortest time between two steps, so that the effect of one is measured before the next.
    static let interval: Duration = .seconds(1)

    /// Returns the next step; nil: none.
    ///
    /// One render always runs. If that render itself exhausts the memory, its own limit ends it, or the kernel
    /// does, which kills children first. That death is reported as such (`outOfMemory`); returning the job again
    /// and again would hide it.
    ///
    /// - Parameters:
    ///   - running: the number of running renders.
    ///   - paused: the number of paused renders.
    ///   - waited: the time since the last step; nil if there was none.
    static func next(
        _ turn: PressureLadder.Turn, running: Int, paused: Int, waited: Duration?
    ) -> PressureAction? {
        if running == 0, paused > 0 { return .resume }
        if let waited, waited < interval { return nil }
        switch turn.level {
        case .calm, .holding, .shrinking: return paused > 0 ? .resume : nil
        case .pausing: return turn.isStrained && running > 1 ? .pause : nil
        case .requeueing: return turn.isStrained && running + paused > 1 ? .requeue : nil
        }
    }
}

public struct PressureSettings: Sendable, Equatable {
    /// Whether the worker watches memory.
    public var watches = true
    /// The share of time, from 0 to 1, in which some task waits for memory, from which on memory counts as short.
    public var stall = PressurePolicy().stall
    /// How long memory must not be short before the worker goes down one level.
    public var quiet: Duration = .seconds(3)

    /// The time between two readings. The kernel's counters are exact however rarely they are read, so this bounds
    /// only the delay of the reaction. Reading all files takes about 0.1 ms.
    static let interval: Duration = .seconds(1)

    public init() {}
}

/// The time limit of a child's answer. It is stopped while the child is paused.
final class RenderClock: Sendable {
    private struct State {
        var left: Duration
        var runsSince: ContinuousClock.Instant?
    }

    /// The longest single sleep. A cancelled sleep stays in Dispatch's heap until its time, with 290 bytes
    /// (heaptrack, Swift 6.3); with sleeps of 300 s that would be several megabytes.
    private static let longestSleep: Duration = .seconds(5)

    private let state: Mutex<State>

    /// The largest delay in noticing an expiry that was postponed while the clock was stopped.
    private static let grain: Duration = .milliseconds(50)

    init(_ limit: Duration, runs: Bool = true, at now: ContinuousClock.Instant = .now) {
        state = Mutex(State(left: limit, runsSince: runs ? now : nil))
    }

    func stop(at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            guard let since = state.runsSince else { return }
            state.left -= now - since
            state.runsSince = nil
        }
    }

    func start(at now: ContinuousClock.Instant = .now) {
        state.withLock { $0.runsSince = $0.runsSince ?? now }
    }

    /// Returns the time left; negative after the expiry.
    func left(at now: ContinuousClock.Instant = .now) -> Duration {
        state.withLock { state in
            state.runsSince.map { state.left - (now - $0) } ?? state.left
        }
    }

    /// Waits until the time has expired.
    ///
    /// - Throws: `CancellationError`.
    func wait() async throws {
        var left = left()
        while left > .zero {
            try await Task.sleep(for: min(max(left, Self.grain), Self.longestSleep))
            left = self.left()
        }
    }
}

/// The running renders, the oldest first. A render is listed from a job's first pixel until its child is returned.
final class RunningRenders: Sendable {
    struct Render: Sendable {
        /// Its number, which increases from each render to the next.
        let number: Int
        let process: RenderProcess
        /// The metadata that the logger adds to lines of its task, such as its job.
        let metadata: Logger.Metadata
        /// The owner of the photo; nil for none.
        let owner: Owner?
        fileprivate(set) var isPaused = false
        /// Whether it was killed in order to return its job.
        fileprivate(set) var isRequeued = false
    }

    private struct State {
        var next = 0
        var renders: [Render] = []
        /// The processes that are lent, also those that render nothing.
        var lent: [ObjectIdentifier: RenderProcess] = [:]
    }

    private let state = Mutex(State())

    var counts: (running: Int, paused: Int) {
        state.withLock { state in
            let paused = state.renders.count { $0.isPaused && !$0.isRequeued }
            return (state.renders.count { !$0.isRequeued } - paused, paused)
        }
    }

    /// Adds a render.
    ///
    /// - Returns: the number of the render.
    func begin(
        _ process: RenderProcess, _ metadata: Logger.Metadata, of owner: Owner?
    ) -> Int {
        state.withLock { state in
            state.next += 1
            state.renders.append(
                Render(
                    number: state.next, process: process, metadata: metadata, owner: owner))
            return state.next
        }
    }

    func lend(_ process: RenderProcess) {
        state.withLock { $0.lent[ObjectIdentifier(process)] = process }
    }

    func takeBack(_ process: RenderProcess) {
        state.withLock { $0.lent[ObjectIdentifier(process)] = nil }
    }

    /// Ends the lent processes that hold more memory than their requests may take.
    ///
    /// - Returns: their number.
    func endOverdrawn() -> Int {
        let lent = state.withLock { $0.lent.values.map(\.self) }
        return lent.count { $0.endIfOverdrawn() }
    }

    /// Removes a render that has ended for any reason. Its child may be used again.
    ///
    /// - Returns: whether it was killed in order to return its job.
    func end(_ number: Int) -> Bool {
        state.withLock { state in
            guard let index = state.renders.firstIndex(where: { $0.number == number }) else {
                return false
            }
            let render = state.renders.remove(at: index)
            if render.isPaused { render.process.resume() }
            return render.isRequeued
        }
    }

    /// Applies a step.
    ///
    /// - Parameter atFault: the owners whose renders are paused and given up before those of others.
    /// - Returns: the render to which it was applied; nil if there is none any more.
    func apply(_ step: PressureAction, before atFault: Set<Owner> = []) -> Render? {
        state.withLock { state in
            func last(_ isMeant: (Render) -> Bool) -> Int? {
                state.renders.lastIndex {
                    isMeant($0) && $0.owner.map(atFault.contains) ?? false
                } ?? state.renders.lastIndex(where: isMeant)
            }
            let index =
                switch step {
                case .pause: last { !$0.isPaused && !$0.isRequeued }
                case .resume: state.renders.firstIndex { $0.isPaused && !$0.isRequeued }
                case .requeue: last { !$0.isRequeued }
                }
            guard let index else { return nil }
            switch step {
            case .pause:
                state.renders[index].isPaused = true
                state.renders[index].process.pause()
            case .resume:
                state.renders[index].isPaused = false
                state.renders[index].process.resume()
            case .requeue:
                state.renders[index].isRequeued = true
                state.renders[index].process.kill(because: .cancelled)
            }
            return state.renders[index]
        }
    }
}

/// The error of a render that was killed because memory is short. It can be rendered later, or elsewhere.
package struct RenderRequeued: Error {
    package init() {}
}
