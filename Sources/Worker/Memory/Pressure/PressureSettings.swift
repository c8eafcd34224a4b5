/// How a worker watches memory.
public struct PressureSettings: Sendable, Equatable {
    /// Whether it does.
    public var watches = true
    /// Share of time, from 0 to 1, in which some task waits for memory, that is too much.
    public var stall = PressurePolicy().stall
    /// How long memory must not be short before a worker does one thing more again.
    public var quiet: Duration = .seconds(3)

    /// Time between two looks. What the kernel counts is exact however rarely it is read; this is what the answer to it may
    /// come late. A look at all files takes about 0.1 ms.
    static let interval: Duration = .seconds(1)

    /// The defaults.
    public init() {}
}
