/// The settings of the memory watch.
public struct PressureSettings: Sendable, Equatable {
    /// Whether the worker watches memory.
    public var watches = true
    /// The share of time, from 0 to 1, in which some task waits for memory, from which on memory counts as short.
    public var stall = PressurePolicy().stall
    /// How long memory must not be short before the worker goes down one level.
    public var quiet: Duration = .seconds(3)

    /// The time between two readings. The kernel's counters are exact however rarely they are read, so this bounds
    /// only the delay of the reaction. Reading all files takes about 0.1 ms.
    static let interval: Duration = .seconds(1)

    /// Creates the default settings.
    public init() {}
}
