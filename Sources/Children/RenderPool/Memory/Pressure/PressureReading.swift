/// The kernel's figures about memory at one moment, as far as the kernel reports them.
struct PressureReading: Sendable, Equatable {
    /// A bound on memory and the memory in use, in bytes.
    struct Bound: Sendable, Equatable {
        let limit: Int
        /// The memory that the kernel cannot simply reclaim, without the page cache that was not used recently.
        let used: Int

        /// The memory left.
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
