/// The target time for a queue's work, and the range of the number of workers.
public struct ScaleTarget: Sendable, Hashable, Codable {
    /// The time within which the waiting work should be done, in seconds.
    public var within = 600
    public var minWorkers = 1
    public var maxWorkers = 100
    /// The assumed slots of a worker while no worker runs that reports its slots.
    public var slots = 2

    public static let withinRange = 1...86_400
    public static let workersMax = 10_000
    public static let slotsMax = 1024

    public init() {}
}
