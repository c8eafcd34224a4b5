/// What the queue knows of a worker: it says so with each heartbeat.
public struct WorkerInfo: Sendable, Codable, Equatable {
    /// Its name.
    public let name: String
    /// Jobs that it works on at the same time.
    public let slots: Int
    /// Jobs that it works on now.
    public let busy: Int
    /// The version of minilab.
    public let version: String
    /// When it started; RFC 3339.
    public let startedAt: String

    /// What a worker says of itself.
    public init(name: String, slots: Int, busy: Int = 0, version: String, startedAt: String) {
        self.name = name
        self.slots = slots
        self.busy = busy
        self.version = version
        self.startedAt = startedAt
    }

    func with(busy: Int) -> WorkerInfo {
        WorkerInfo(
            name: name, slots: slots, busy: busy, version: version, startedAt: startedAt)
    }
}
