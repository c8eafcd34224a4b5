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
