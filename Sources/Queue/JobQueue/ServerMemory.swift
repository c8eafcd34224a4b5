import Synchronization

/// `maxmemory` of Redis, as this process has read it last. An operator may change it while the queue is used.
public final class ServerMemory: Sendable {
    /// The share of `maxmemory` that the jobs of all producers may take, in percent. The rest holds what is not counted of them
    /// (done jobs, results and events, which are bounded in number), and lets operators act on a full queue.
    public static let producersPercent = 50
    /// The share of one tenant without a limit of its own, in percent.
    public static let tenantPercent = 10
    /// The interval at which a gateway reads it.
    public static let readEvery: Duration = .seconds(60)

    private let bytes = Mutex<Int?>(nil)

    init() {}

    /// `maxmemory` in bytes; nil while it is unknown, or if there is none.
    public internal(set) var max: Int? {
        get { bytes.withLock { $0 } }
        set { bytes.withLock { $0 = newValue } }
    }

    /// The bytes that the jobs of all producers may take.
    public var producersMax: Int? { max.map { $0 / 100 * Self.producersPercent } }
    /// The bytes that one tenant may take.
    public var tenantMax: Int? { max.map { $0 / 100 * Self.tenantPercent } }
}

extension JobQueue {
    /// Reads `maxmemory` of Redis into ``memory``.
    public func readMemory() async throws(QueueError) {
        let bytes = try await memoryInfo("maxmemory").flatMap { Int($0) } ?? 0
        memory.max = bytes > 0 ? bytes : nil
    }

    /// The maximum number of bytes of all tenants' jobs; nil for no limit.
    var storedAllMax: Int? { settings.storedBytesMax ?? memory.producersMax }
}
