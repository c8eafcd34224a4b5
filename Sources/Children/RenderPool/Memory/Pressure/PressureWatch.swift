public import Logging
import Synchronization
public import SystemPackage

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
    private let listener: RenderEvent.Listener
    private var ladder: PressureLadder
    private var stepped: ContinuousClock.Instant?
    private var pausedReported = 0
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
        _ settings: PressureSettings, root: FilePath, pool: RenderPool, logger: Logger,
        listener: @escaping RenderEvent.Listener = { _ in }
    ) {
        files = MemoryFiles(root: root)
        self.root = root
        ladder = PressureLadder(PressurePolicy(stall: settings.stall), quiet: settings.quiet)
        self.pool = pool
        self.logger = logger
        self.listener = listener
    }

    /// The present level.
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
        let turn = ladder.turn(files.reading(), at: now)
        if turn.level != turn.before {
            newest.withLock { $0 = Reading(level: turn.level, text: "\(turn.signs)") }
            report(turn)
            let ended = await pool.follow(turn.level)
            if ended > 0 { listener(.pressure(.idleEnded(ended))) }
        }
        let counts = pool.renders.counts
        let step = PressureAction.next(
            turn, running: counts.running, paused: counts.paused, waited: stepped.map { now - $0 })
        if let step, let render = pool.renders.apply(step) {
            stepped = now
            report(step, render, "\(turn.signs)")
        }
        let paused = pool.renders.counts.paused
        if paused != pausedReported {
            pausedReported = paused
            listener(.pressure(.paused(paused)))
        }
        return turn
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
        listener(.pressure(.level(turn.level, reading: "\(turn.signs)")))
    }

    private func report(_ step: PressureAction, _ render: RunningRenders.Render, _ why: String) {
        var metadata = render.metadata
        metadata["reading"] = "\(why)"
        logger.notice("render \(step.rawValue), for memory", metadata: metadata)
        listener(.pressure(.render(step)))
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
