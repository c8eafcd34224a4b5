/// The memory of a pool's render children at one moment.
public struct MemoryFigures: Sendable, Equatable {
    /// The memory that they may use together, in bytes.
    public let budgetBytes: Int
    /// The memory that is granted to running renders, in bytes.
    public let grantedBytes: Int
    /// The number of renders that wait for memory.
    public let waiting: Int

    /// Creates the figures of one moment.
    public init(budgetBytes: Int, grantedBytes: Int, waiting: Int) {
        self.budgetBytes = budgetBytes
        self.grantedBytes = grantedBytes
        self.waiting = waiting
    }
}
