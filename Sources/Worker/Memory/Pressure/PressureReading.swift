/// What the kernel tells of memory at one moment, as far as it does.
struct PressureReading: Sendable, Equatable {
    /// A bound on memory and what of it is in use, in bytes.
    struct Bound: Sendable, Equatable {
        let limit: Int
        /// What the kernel cannot simply take back: page cache that nobody has used lately is left out.
        let used: Int

        /// What can still be had.
        var left: Int { max(0, limit - used) }
    }

    /// Time in which at least one task waited for memory (PSI `some`).
    struct Stall: Sendable, Equatable {
        /// Share of the last 10 s, from 0 to 1.
        let average10: Double
        /// Since the group or the machine exists.
        let total: Duration
        /// Whether tasks of our control group are counted alone, not those of the whole machine.
        let isOfGroup: Bool
    }

    /// The limit of our control group; nil when it has none.
    var group: Bound?
    /// The whole machine.
    var machine: Bound?
    /// nil when the kernel does not count it.
    var stall: Stall?
    /// How often our control group came to its limit.
    var limitHits = 0
    /// Processes of our control group that the kernel killed for want of memory.
    var kills = 0

    /// Whether the kernel tells anything at all that a worker can go by.
    var isEmpty: Bool { group == nil && machine == nil && stall == nil }

    /// The bound that leaves the smallest part of itself.
    var tightest: Bound? {
        [group, machine].compactMap(\.self).min {
            // a / b < c / d, without division.
            Double($0.left) * Double($1.limit) < Double($1.left) * Double($0.limit)
        }
    }
}

/// What two readings say about the time between them.
struct PressureSigns: Sendable, Equatable {
    /// Share of the last moments in which a task waited for memory, from 0 to 1.
    var stalledNow = 0.0
    /// The same over the last 10 s, as the kernel smooths it.
    var stalled10 = 0.0
    /// The bound that leaves least; nil when none is known.
    var bound: PressureReading.Bound?
    /// Whether the group came to its limit: page cache alone brings it there, so that says little by itself.
    var hitLimit = false
    /// Processes that the kernel killed.
    var kills = 0

    /// Nothing is short.
    static let none = PressureSigns()
}

extension PressureSigns {
    /// Stalls of the whole machine are ours only when memory is short where we would feel it: with more left than this
    /// part of a bound, or than these bytes, it is another container that is at its own limit.
    static let doubtShare = 0.25
    static let doubtBytes = 4 << 30

    /// What has happened from one reading to a later one.
    ///
    /// - Parameters:
    ///   - window: shortest time that shares are taken of, so that two readings in a row do not exaggerate.
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
    /// What was read, as a sentence without an end: for logs and for `minilab top`.
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
