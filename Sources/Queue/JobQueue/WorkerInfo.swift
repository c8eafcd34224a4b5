/// The description of a worker, which it sends with each heartbeat.
public struct WorkerInfo: Sendable, Codable, Equatable {
    /// Its name.
    public let name: String
    /// The number of jobs that it can run at the same time.
    public let slots: Int
    /// The number of jobs that it ran at its last heartbeat. The leases tell how many it has now.
    public internal(set) var busy: Int
    /// The version of minilab.
    public let version: String
    /// The time of its start; RFC 3339.
    public let startedAt: String
    /// The memory of its render children; nil from workers of older versions.
    public internal(set) var memory: WorkerMemory?
    /// The id of its library; nil if it has none, or from workers of older versions.
    public internal(set) var library: String?
    /// Why its library cannot be used, so that it claims no jobs; nil if it can.
    public internal(set) var trouble: String?
    /// Its shortage of memory; nil if there is none, or if the worker does not report it.
    public internal(set) var pressure: Pressure?

    /// The action of a worker while memory is short.
    public struct Pressure: Sendable, Codable, Equatable {
        /// `holding`, `shrinking`, `pausing` or `requeueing`.
        public let level: String
        /// The number of suspended renders.
        public let paused: Int
        /// The measurement that caused it, for people.
        public let reading: String

        /// Creates a report of a shortage.
        public init(level: String, paused: Int, reading: String) {
            self.level = level
            self.paused = paused
            self.reading = reading
        }
    }

    /// Creates a description.
    public init(
        name: String, slots: Int, busy: Int = 0, version: String, startedAt: String,
        memory: WorkerMemory? = nil, library: String? = nil
    ) {
        self.name = name
        self.slots = slots
        self.busy = busy
        self.version = version
        self.startedAt = startedAt
        self.memory = memory
        self.library = library
    }

    func with(
        busy: Int, memory: WorkerMemory?, pressure: Pressure?, trouble: String?
    ) -> WorkerInfo {
        var info = self
        info.busy = busy
        info.trouble = trouble
        info.memory = memory
        info.pressure = pressure
        return info
    }
}

/// The memory of a worker's render children, and the number of jobs that wait for memory.
public struct WorkerMemory: Sendable, Codable, Equatable, CustomStringConvertible {
    /// The memory that they may use together, in bytes.
    public let budgetBytes: Int
    /// The memory that is granted to running renders, in bytes.
    public let grantedBytes: Int
    /// The number of jobs that wait for memory.
    public let waiting: Int

    /// The description for people: `120 of 384 MB, 2 wait`.
    public var description: String {
        func megabytes(_ bytes: Int) -> Int { (bytes + 500_000) / 1_000_000 }
        return "\(megabytes(grantedBytes)) of \(megabytes(budgetBytes)) MB"
            + (waiting > 0 ? ", \(waiting) wait" : "")
    }

    /// Creates the figures of one moment.
    public init(budgetBytes: Int, grantedBytes: Int, waiting: Int) {
        self.budgetBytes = budgetBytes
        self.grantedBytes = grantedBytes
        self.waiting = waiting
    }
}
