/// The degree to which a render is restricted so that it needs less memory. The rungs form a ladder: each includes the
/// restrictions of all previous rungs. The picture is the same on each.
public enum MemoryRung: String, Sendable, Codable, CaseIterable {
    /// No restriction: the fastest way.
    case usual
    /// One thread computes pixels, because each thread has tiles of its own.
    case oneThread
    /// Tiles have half as many rows: those that are read, computed and written at a time.
    case lowTiles
    /// Data that are needed in another order than they are read go to a spool file, whatever their size.
    case spooled
}

extension MemoryRung {
    /// The description for people.
    public var text: String {
        switch self {
        case .usual: "as it is fastest"
        case .oneThread: "by one thread"
        case .lowTiles: "by one thread, half as many rows at a time"
        case .spooled:
            "by one thread, half as many rows at a time, with a spool file instead of memory"
        }
    }
}
