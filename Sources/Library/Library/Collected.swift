/// The versions that a collection removed, or would remove.
public struct Collected: Sendable, Equatable, Codable {
    /// The versions, oldest first.
    public var versions: [String] = []
    /// The folders of versions that never became current, left by jobs that lost a race or crashed.
    public var orphans: [String] = []
    /// The number of bytes that are freed, without those shared with other versions.
    public var bytes = 0
    /// The versions that were removed before and whose files the store still has, each with the reason: a missing
    /// right to delete, or a lock on the files.
    public var undeleted: [String: String] = [:]

    private enum CodingKeys: String, CodingKey {
        case versions, orphans, bytes
        case undeleted = "held"
    }

    /// Creates a record of removed versions; by default an empty one.
    package init(versions: [String] = [], orphans: [String] = [], bytes: Int = 0) {
        self.versions = versions
        self.orphans = orphans
        self.bytes = bytes
    }
}
