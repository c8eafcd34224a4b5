/// The versions that a collection removed, or would remove.
public struct Collected: Sendable, Equatable, Codable {
    /// The versions, oldest first.
    public var versions: [String] = []
    /// Folders of versions that never became current, left by jobs that lost a race or crashed.
    public var orphans: [String] = []
    /// Bytes that get free; what other versions share is not counted.
    public var bytes = 0
    /// The versions that went before and whose files the store still holds, each with its sentence: a right to remove is
    /// missing, or a lock keeps them.
    public var held: [String: String] = [:]

    /// Tells what was removed; nothing unless given.
    package init(versions: [String] = [], orphans: [String] = [], bytes: Int = 0) {
        self.versions = versions
        self.orphans = orphans
        self.bytes = bytes
    }
}
