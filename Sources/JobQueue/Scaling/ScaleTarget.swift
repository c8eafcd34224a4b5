/// How fast a queue's work is to be done, and with how many workers at least and at most.
public struct ScaleTarget: Sendable, Hashable, Codable {
    /// The work that waits is to be done within this time, in seconds.
    public var within = 600
    public var minWorkers = 1
    public var maxWorkers = 100
    /// Slots of a worker while none is there to say how many it has.
    public var slots = 2

    public static let withinRange = 1...86_400
    public static let workersMax = 10_000
    public static let slotsMax = 1024

    public init() {}
}
