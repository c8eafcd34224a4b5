/// The level of a worker over time: it rises at once and falls slowly.
///
/// A reading that calls for a higher level is followed at once. One step down takes a quiet time in which no reading called
/// for keeping the level, and the next step down takes another one; so no level is entered twice within a quiet time.
struct PressureLadder: Sendable {
    private let policy: PressurePolicy
    private let quiet: Duration
    /// The present level.
    private(set) var level = PressureLevel.calm
    private var past: [(at: ContinuousClock.Instant, reading: PressureReading)] = []
    private var quietSince: ContinuousClock.Instant?
    private var strainedSince: ContinuousClock.Instant?

    /// Time that shares are taken of.
    static let window: Duration = .seconds(1)
    /// Longest time at `pausing` that does not help: a render that stands still keeps its memory.
    static let pausingMax: Duration = .seconds(3)

    /// A ladder at `calm`.
    init(_ policy: PressurePolicy, quiet: Duration) {
        self.policy = policy
        self.quiet = quiet
    }

    /// What a reading comes to.
    struct Turn: Sendable, Equatable {
        let before: PressureLevel
        let level: PressureLevel
        /// What was read.
        let signs: PressureSigns
        /// Whether memory is so short at this moment that one render less is called for.
        let isStrained: Bool
    }

    /// Takes a reading in.
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

    /// Compares with the oldest reading of the last second, or with the one before when readings are rare.
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
