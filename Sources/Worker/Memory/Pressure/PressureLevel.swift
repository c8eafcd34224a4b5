/// What a worker does while memory is short: each level does what those below it do, and more.
public enum PressureLevel: Int, Sendable, Comparable, CaseIterable, CustomStringConvertible {
    /// Memory is not short.
    case calm
    /// No render is admitted and no job is claimed: other workers get them.
    case holding
    /// New renders get less memory, and children that do nothing are ended.
    case shrinking
    /// The youngest renders stand still.
    case pausing
    /// The youngest renders are killed and their jobs handed back, without an attempt burnt.
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

    /// The level below; `calm` is below itself.
    var below: PressureLevel { PressureLevel(rawValue: rawValue - 1) ?? .calm }
}

extension PressureLevel {
    /// How many jobs may be claimed.
    ///
    /// A worker that has none still takes one at a time up to `shrinking`: a queue whose workers are all short of memory
    /// goes on slowly, and does not stand. From `pausing` on, one more job would only be one more to give up.
    ///
    /// - Parameters:
    ///   - held: jobs that the worker has.
    ///   - slots: jobs that it may have.
    func claims(held: Int, slots: Int) -> Int {
        switch self {
        case .calm: max(0, slots - held)
        case .holding, .shrinking: held == 0 ? min(1, slots) : 0
        case .pausing, .requeueing: 0
        }
    }

    /// Memory in bytes that a new render is planned for: half of it from `shrinking` on.
    ///
    /// Half, because each rung of the planner (fewer threads, smaller tiles, a spool) about halves what a render holds.
    func memoryMax(of bytes: Int) -> Int { self < .shrinking ? bytes : bytes / 2 }
}
