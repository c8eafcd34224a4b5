/// The pressure level that a reading requires.
///
/// | level | stalled (PSI `some`) | memory left below the limit, less than the smaller of |
/// |---|---|---|
/// | holding | 5 % | 12 % and 1 GB |
/// | shrinking | 10 % | 8 % and 512 MB |
/// | pausing | 20 %, or the kernel has killed a process | 5 % and 256 MB |
/// | requeueing | `pausing` required for 3 s | 2 % and 64 MB |
///
/// The shares of time are those at which Facebook's oomd and senpai begin to act on containers that must stay fast.
/// At the point where systemd-oomd kills, 60 % for 30 s, renders already take many times as long. The memory left
/// is about the need of one or two renders of a phone photo (50 MB each). In large groups and machines it is
/// bounded in bytes, so that gigabytes are not left unused.
struct PressurePolicy: Sendable, Equatable {
    /// The share of time, from 0 to 1, in which some task waits for memory, from which on `holding` is required.
    /// Twice the share requires `shrinking`, four times the share `pausing`.
    var stall = 0.05

    /// The factor by which the share over the last second must exceed the threshold to take effect immediately. The
    /// kernel's average over 10 s reaches a third of a lasting stall only after 4 s. At 3 the immediate threshold
    /// is 15 %, the example trigger of the kernel's own documentation (`Documentation/accounting/psi.rst`: "some
    /// 150000 1000000").
    static let atOnce = 3.0
    /// A reached level is kept while the stall exceeds this fraction of the level's share.
    static let keptStall = 0.5
    /// A reached level is kept while less than this multiple of the level's remainder is left.
    static let keptLeft = 1.5
    /// While the limit is being hit, the memory left is multiplied by this factor.
    static let hitLeft = 2.0 / 3

    /// Returns the required level.
    func wanted(_ signs: PressureSigns) -> PressureLevel {
        let stalled = highest { level in
            guard let share = share(level) else { return false }
            return signs.stalledNow >= share * Self.atOnce
                || (signs.stalledNow >= share && signs.stalled10 >= share)
        }
        return max(stalled, byRest(signs, 1), signs.kills > 0 ? .pausing : .calm)
    }

    /// Returns the level that is kept if it was reached before: at least as high as ``wanted(_:)``.
    func kept(_ signs: PressureSigns) -> PressureLevel {
        let stalled = highest { level in
            share(level).map { signs.stalledNow >= $0 * Self.keptStall } ?? false
        }
        return max(stalled, byRest(signs, Self.keptLeft), wanted(signs))
    }

    private func byRest(_ signs: PressureSigns, _ factor: Double) -> PressureLevel {
        guard let bound = signs.bound else { return .calm }
        let left = Double(bound.left) * (signs.hitLimit ? Self.hitLeft : 1)
        return highest { level in
            Self.rest(level, of: bound.limit).map { left < $0 * factor } ?? false
        }
    }

    private func highest(_ isCalledFor: (PressureLevel) -> Bool) -> PressureLevel {
        PressureLevel.allCases.last(where: isCalledFor) ?? .calm
    }

    private func share(_ level: PressureLevel) -> Double? {
        switch level {
        case .calm, .requeueing: nil
        case .holding: stall
        case .shrinking: stall * 2
        case .pausing: stall * 4
        }
    }

    private static func rest(_ level: PressureLevel, of limit: Int) -> Double? {
        let (part, bytes): (Double, Int)
        switch level {
        case .calm: return nil
        case .holding: (part, bytes) = (0.12, 1 << 30)
        case .shrinking: (part, bytes) = (0.08, 512 << 20)
        case .pausing: (part, bytes) = (0.05, 256 << 20)
        case .requeueing: (part, bytes) = (0.02, 64 << 20)
        }
        return min(Double(bytes), Double(limit) * part)
    }
}

/// The kernel's figures about memory at one moment, as far as the kernel reports them.
struct PressureReading: Sendable, Equatable {
    /// A bound on memory and the memory in use, in bytes.
    struct Bound: Sendable, Equatable {
        let limit: Int
        /// The memory that the kernel cannot simply reclaim, without the page cache that was not used recently.
        let used: Int

        var left: Int { max(0, limit - used) }
    }

    /// The time in which at least one task waited for memory (PSI `some`).
    struct Stall: Sendable, Equatable {
        /// The share of the last 10 s, from 0 to 1.
        let average10: Double
        /// The total since the creation of the group or the start of the machine.
        let total: Duration
        /// Whether only tasks of the worker's control group are counted, not those of the whole machine.
        let isOfGroup: Bool
    }

    /// The limit of the worker's control group; nil if it has none.
    var group: Bound?
    /// The memory of the whole machine.
    var machine: Bound?
    /// The stalls; nil if the kernel does not count them.
    var stall: Stall?
    /// How often the worker's control group has reached its limit.
    var limitHits = 0
    /// The number of processes of the worker's control group that the kernel killed for lack of memory.
    var kills = 0

    /// Whether the reading lacks every figure that a worker could use.
    var isEmpty: Bool { group == nil && machine == nil && stall == nil }

    /// The bound of which the smallest share is left.
    var tightest: Bound? {
        [group, machine].compactMap(\.self).min {
            // a / b < c / d, without division.
            Double($0.left) * Double($1.limit) < Double($1.left) * Double($0.limit)
        }
    }
}

/// The changes between two readings.
struct PressureSigns: Sendable, Equatable {
    /// The share of the last moments in which a task waited for memory, from 0 to 1.
    var stalledNow = 0.0
    /// The share of the last 10 s, as smoothed by the kernel.
    var stalled10 = 0.0
    /// The bound of which the smallest share is left; nil if none is known.
    var bound: PressureReading.Bound?
    /// Whether the group has reached its limit. Page cache alone causes that, so the fact says little by itself.
    var hitLimit = false
    /// The number of processes that the kernel killed.
    var kills = 0

    /// No shortage.
    static let none = PressureSigns()
}

extension PressureSigns {
    /// Stalls of the whole machine count only if memory is short for this worker. If more than this share of a
    /// bound is left, or more than these bytes, another container has reached its own limit.
    static let doubtShare = 0.25
    static let doubtBytes = 4 << 30

    /// Creates the changes from one reading to a later one.
    ///
    /// - Parameters:
    ///   - window: the shortest period over which shares are computed, so that two readings in quick succession do
    ///     not exaggerate.
    init(
        _ reading: PressureReading, since earlier: PressureReading?, over time: Duration,
        window: Duration
    ) {
        bound = reading.tightest
        hitLimit = earlier.map { reading.limitHits > $0.limitHits } ?? false
        kills = earlier.map { max(0, reading.kills - $0.kills) } ?? 0
        guard let stall = reading.stall, stall.isOfGroup || Self.isTight(bound) else { return }
        stalled10 = stall.average10
        if let before = earlier?.stall, before.isOfGroup == stall.isOfGroup {
            stalledNow = min(1, max(0, (stall.total - before.total) / max(time, window)))
        }
    }

    private static func isTight(_ bound: PressureReading.Bound?) -> Bool {
        guard let bound else { return true }
        return bound.left < min(doubtBytes, Int(Double(bound.limit) * doubtShare))
    }
}

extension PressureSigns: CustomStringConvertible {
    /// The reading as a phrase, for logs and for `minilab top`.
    var description: String {
        func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }
        var parts = [
            "tasks waited for memory \(percent(stalledNow)) of the last second, \(percent(stalled10)) of the last 10 s"
        ]
        if let bound {
            parts.append("\(bound.left >> 20) MB of \(bound.limit >> 20) MB are left")
        }
        if hitLimit { parts.append("the limit was hit") }
        if kills > 0 { parts.append("the kernel killed \(kills) for memory") }
        return parts.joined(separator: ", ")
    }
}

/// The pressure level of a worker over time. It rises immediately and falls slowly.
///
/// A reading that requires a higher level takes effect immediately. A step down needs a quiet period in which no
/// reading required the present level, and each further step needs another one. So no level is entered twice within
/// a quiet period.
struct PressureLadder: Sendable {
    private let policy: PressurePolicy
    private let quiet: Duration
    private(set) var level = PressureLevel.calm
    private var past: [(at: ContinuousClock.Instant, reading: PressureReading)] = []
    private var quietSince: ContinuousClock.Instant?
    private var strainedSince: ContinuousClock.Instant?

    /// The period over which shares of time are computed.
    static let window: Duration = .seconds(1)
    /// The longest time at `pausing` without an improvement: a paused render keeps its memory.
    static let pausingMax: Duration = .seconds(3)

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

    /// Forgets the earlier readings, so that the next one is compared with none: what happened in between had a cause that is gone.
    mutating func forget() { past = [] }

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

/// The measures of a worker while memory is short. Each level includes those of the levels below it.
public enum PressureLevel: Int, Sendable, Comparable, CaseIterable, CustomStringConvertible {
    /// Memory is not short.
    case calm
    /// No memory is granted and no job is claimed; other workers claim them.
    case holding
    /// New renders are planned with less memory, and idle children are ended.
    case shrinking
    /// The youngest renders are paused.
    case pausing
    /// The youngest renders are killed and their jobs returned, without counting an attempt.
    case requeueing

    /// One word, for metrics and logs.
    public var description: String {
        switch self {
        case .calm: "calm"
        case .holding: "holding"
        case .shrinking: "shrinking"
        case .pausing: "pausing"
        case .requeueing: "requeueing"
        }
    }

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// The level below; for `calm`, `calm` itself.
    var below: PressureLevel { PressureLevel(rawValue: rawValue - 1) ?? .calm }
}

extension PressureLevel {
    /// Returns the memory, in bytes, with which a new render is planned: half of it from `shrinking` on.
    ///
    /// Half, because each measure of the planner (fewer threads, smaller tiles, a spool) about halves a render's
    /// memory.
    func memoryMax(of bytes: Int) -> Int { self < .shrinking ? bytes : bytes / 2 }
}
