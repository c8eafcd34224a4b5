public import JobQueue
public import Logging
import Synchronization
public import SystemPackage

/// Watches memory and takes a worker through its levels.
///
/// It looks at the kernel's files a few times a second. Being woken by the kernel instead (PSI triggers and `POLLPRI`) needs
/// a thread and, for who is not root, windows of two seconds, and tells nothing of limits; counters need no luck with time.
public actor PressureWatch {
    private let files: MemoryFiles
    private let root: FilePath
    private let pool: RenderPool
    private let logger: Logger
    private let listener: WorkerEvent.Listener
    private var ladder: PressureLadder
    private var stepped: ContinuousClock.Instant?
    private var pausedTold = 0
    private let newest = Mutex(Finding(level: .calm, reading: ""))

    /// Where a worker is, and what was read when it came there.
    private struct Finding {
        let level: PressureLevel
        let reading: String
    }

    /// A watch over the renders of a pool.
    ///
    /// - Parameter root: the folder below which the kernel's files are: `/`, or one where a test plays the kernel.
    public init(
        _ settings: PressureSettings, root: FilePath, pool: RenderPool, logger: Logger,
        listener: @escaping WorkerEvent.Listener = { _ in }
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

    /// What the worker tells the queue of it; nil when memory is not short.
    public nonisolated var info: WorkerInfo.Pressure? {
        let finding = newest.withLock { $0 }
        guard finding.level > .calm else { return nil }
        return WorkerInfo.Pressure(
            level: "\(finding.level)", paused: pool.renders.counts.paused,
            reading: finding.reading)
    }

    /// Watches until it is cancelled; then all renders run.
    ///
    /// - Parameter follow: told each new level.
    func run(_ follow: @Sendable (PressureLevel) async -> Void) async {
        if files.reading().isEmpty {
            logger.warning(
                "the kernel tells nothing of memory: the worker will not notice when it is short",
                metadata: ["root": "\(root)", "expected": "proc/meminfo or proc/pressure/memory"])
        }
        while !Task.isCancelled {
            let turn = await turn(at: .now)
            if turn.level != turn.before { await follow(turn.level) }
            await pause(PressureSettings.interval)
        }
        while let render = pool.renders.take(.resume) { tell(.resume, render, "the worker ends") }
    }

    /// Looks once and does what follows.
    @discardableResult
    func turn(at now: ContinuousClock.Instant) async -> PressureLadder.Turn {
        let turn = ladder.turn(files.reading(), at: now)
        if turn.level != turn.before {
            newest.withLock { $0 = Finding(level: turn.level, reading: "\(turn.signs)") }
            tell(turn)
            let ended = await pool.follow(turn.level)
            if ended > 0 { listener(.pressure(.idleEnded(ended))) }
        }
        let counts = pool.renders.counts
        let step = RenderStep.next(
            turn, running: counts.running, paused: counts.paused, waited: stepped.map { now - $0 })
        if let step, let render = pool.renders.take(step) {
            stepped = now
            tell(step, render, "\(turn.signs)")
        }
        let paused = pool.renders.counts.paused
        if paused != pausedTold {
            pausedTold = paused
            listener(.pressure(.paused(paused)))
        }
        return turn
    }

    private func tell(_ turn: PressureLadder.Turn) {
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

    private func tell(_ step: RenderStep, _ render: RunningRenders.Render, _ why: String) {
        LoggedJob.$current.withValue(render.job) {
            logger.notice(
                "render \(step.rawValue), for memory", metadata: ["reading": "\(why)"])
        }
        listener(.pressure(.render(step)))
    }
}

extension MemoryFiles {
    /// What the kernel tells at this moment.
    func reading() -> PressureReading {
        var reading = PressureReading()
        if let group = group() {
            if let limit = group.limit, let use = use(of: group) {
                reading.group = PressureReading.Bound(limit: limit, used: use.heldBytes)
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
