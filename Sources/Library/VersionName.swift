/// The name of a version: its revision and the fence of the hold that made it, `3-1763700000000000`.
///
/// The fence makes it unique, so that two workers that render the same job never write to one place.
public struct VersionName: Sendable, Hashable, CustomStringConvertible {
    /// Its number: one more than the version it was made from. The original is 0.
    public let revision: Int
    /// The fence of the hold that made it.
    public let fence: String

    /// Makes a name.
    public init(revision: Int, fence: String) {
        self.revision = revision
        self.fence = fence
    }

    /// Reads a name; nil when it is none.
    public init?(_ string: String) {
        let parts = string.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, let revision = Int(parts[0]), revision > 0,
            parts[1].allSatisfy(\.isNumber)
        else { return nil }
        self.init(revision: revision, fence: String(parts[1]))
    }

    public var description: String { "\(revision)-\(fence)" }
}
