/// How far a render is held down so that it needs less memory than it usually would: a ladder, from the usual way
/// on. Each rung has all of those before it; the result is the same picture on each.
public enum MemoryRung: String, Sendable, Codable, CaseIterable {
    /// As it is fastest.
    case usual
    /// One thread computes pixels: each one has tiles of its own.
    case oneThread
    /// Tiles of half as many rows: what is read, computed and written at a time.
    case lowTiles
    /// What is needed in another order than it is read goes to a spool file, however small it is.
    case spooled
}

extension MemoryRung {
    /// What it means, for people.
    public var words: String {
        switch self {
        case .usual: "as it is fastest"
        case .oneThread: "by one thread"
        case .lowTiles: "by one thread, half as many rows at a time"
        case .spooled:
            "by one thread, half as many rows at a time, with a spool file instead of memory"
        }
    }
}
