/// What the queue knows of a worker: it says so with each heartbeat.
public struct WorkerInfo: Sendable, Codable, Equatable {
    /// Its name.
    public let name: String
    /// Jobs that it works on at the same time.
    public let slots: Int
    /// Jobs that it works on now.
    public internal(set) var busy: Int
    /// The version of minilab.
    public let version: String
    /// When it started; RFC 3339.
    public let startedAt: String
    /// Memory of its render children; nil from workers of older versions.
    public internal(set) var memory: WorkerMemory?
    /// How short of memory it is; nil when it is not, or does not say.
    public internal(set) var pressure: Pressure?

    /// What a worker does while memory is short.
    public struct Pressure: Sendable, Codable, Equatable {
        /// `holding`, `shrinking`, `pausing` or `requeueing`.
        public let level: String
        /// Renders that stand still.
        public let paused: Int
        /// What called for it, for people.
        public let reading: String

        /// What a worker says of its memory.
        public init(level: String, paused: Int, reading: String) {
            self.level = level
            self.paused = paused
            self.reading = reading
        }
    }

    /// What a worker says of itself.
    public init(
        name: String, slots: Int, busy: Int = 0, version: String, startedAt: String,
        memory: WorkerMemory? = nil
    ) {
        self.name = name
        self.slots = slots
        self.busy = busy
        self.version = version
        self.startedAt = startedAt
        self.memory = memory
    }

    func with(busy: Int, memory: WorkerMemory?, pressure: Pressure?) -> WorkerInfo {
        var info = self
        info.busy = busy
        info.memory = memory
        info.pressure = pressure
        return info
    }
}

/// How much memory the render children of a worker have, and how many jobs wait for some.
public struct WorkerMemory: Sendable, Codable, Equatable, CustomStringConvertible {
    /// What they may use together, in bytes.
    public let budgetBytes: Int
    /// What running renders were granted of it, in bytes.
    public let grantedBytes: Int
    /// Jobs that wait until enough is free.
    public let waiting: Int

    /// For people: `120 of 384 MB, 2 wait`.
    public var description: String {
        func megabytes(_ bytes: Int) -> Int { (bytes + 500_000) / 1_000_000 }
        return "\(megabytes(grantedBytes)) of \(megabytes(budgetBytes)) MB"
            + (waiting > 0 ? ", \(waiting) wait" : "")
    }

    /// Figures of one moment.
    public init(budgetBytes: Int, grantedBytes: Int, waiting: Int) {
        self.budgetBytes = budgetBytes
        self.grantedBytes = grantedBytes
        self.waiting = waiting
    }
}
