/// The pressure level of a worker over time. It rises immediately and falls slowly.
///
/// A reading that requires a higher level takes effect immediately. A step down needs a quiet period in which no
/// reading required the present level, and each further step needs another one. So no level is entered twice within
/// a quiet period.
struct PressureLadder: Sendable {
    private let policy: PressurePolicy
    private let quiet: Duration
    /// The present level.
    private(set) var level = PressureLevel.calm
    private var past: [(at: ContinuousClock.Instant, reading: PressureReading)] = []
    private var quietSince: ContinuousClock.Instant?
    private var strainedSince: ContinuousClock.Instant?

    /// The period over which shares of time are computed.
    static let window: Duration = .seconds(1)
    /// The longest time at `pausing` without an improvement: a paused render keeps its memory.
    static let pausingMax: Duration = .seconds(3)

    /// Creates a ladder at `calm`.
    init(_ policy: PressurePolicy, quiet: Duration) {
        self.policy = policy
        self.quiet = quiet
    }

    /// The result of a reading.
    struct Turn: Sendable, Equatable {
        let before: PressureLevel
        let level: PressureLevel
        /// The evaluated reading.
        let signs: PressureSigns
        /// Whether memory is so short at this moment that one more render should be stopped.
        let isStrained: Bool
    }

    /// Processes a reading.
    mutating func turn(_ reading: PressureReading, at now: ContinuousClock.Instant) -> Turn {
        let signs = signs(of: reading, at: now)
        let before = level
        var wanted = policy.wanted(signs)
        var kept = policy.kept(signs)
        let isStrained = wanted >= .pausing
        strainedSince = isStrained ? strainedSince ?? now : nil
        if let strainedSince, now - strainedSince >= Self.pausingMax {
            wanted = .requeueing
            kept = .requeueing
        }
        if wanted > level {
            level = wanted
            quietSince = nil
        } else if kept >= level {
            quietSince = nil
        } else {
            let since = quietSince ?? now
            quietSince = since
            if now - since >= quiet {
                level = level.below
                quietSince = now
            }
        }
        return Turn(before: before, level: level, signs: signs, isStrained: isStrained)
    }

    /// Compares a reading with the oldest one of the last second, or with the previous one if readings are rare.
    private mutating func signs(
        of reading: PressureReading, at now: ContinuousClock.Instant
    ) -> PressureSigns {
        while past.count > 1, now - past[0].at > Self.window { past.removeFirst() }
        defer { past.append((now, reading)) }
        guard let first = past.first else {
            return PressureSigns(reading, since: nil, over: .zero, window: Self.window)
        }
        return PressureSigns(
            reading, since: first.reading, over: now - first.at, window: Self.window)
    }
}
