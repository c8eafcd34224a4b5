/// The name of a version: its revision and the fence of the hold that made it, `3-1763700000000000`.
///
/// The fence makes it unique, so that two workers that render the same job never write to one folder.
public struct VersionName: Sendable, Hashable, CustomStringConvertible {
    /// Its number: one more than that of the version it was made from. The original is 0.
    public let revision: Int
    /// The fence of the hold that made it.
    public let fence: String

    /// Creates a name.
    public init(revision: Int, fence: String) {
        self.revision = revision
        self.fence = fence
    }

    /// Parses a name; nil if it is invalid.
    public init?(_ string: String) {
        let parts = string.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 1)
        guard string.utf8.count <= Self.bytesMax, parts.count == 2,
            parts.allSatisfy({ $0.allSatisfy(Self.digits.contains) }),
            let revision = Int(String(decoding: parts[0], as: UTF8.self)),
            (1...Self.revisionMax).contains(revision)
        else { return nil }
        self.init(revision: revision, fence: String(decoding: parts[1], as: UTF8.self))
        // Leading zeros would be a second name of the same version.
        guard description == string else { return nil }
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    /// The largest revision that is accepted: every JSON parser preserves it, and adding 1 to it cannot overflow.
    package static let revisionMax = 1 << 53
    /// The length of the longest name: the largest revision and the largest fence.
    package static let bytesMax = 40

    public var description: String { "\(revision)-\(fence)" }
}
