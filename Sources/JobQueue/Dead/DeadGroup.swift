/// Dead jobs of one tenant with one edit that died of the same.
public struct DeadGroup: Sendable, Codable, Equatable {
    /// Its name, for ``DeadFilter/group``: `<code>:<tenant>:<edit>`.
    public let name: String
    /// Why they died, for programs.
    public let code: String
    /// Whose they are.
    public let tenant: String
    /// The beginning of a digest of the edit's text: the same for the same text. Nil for what never was a job.
    public let edit: String?
    /// How many of them are dead.
    public let jobs: Int
    /// When the first of them died since the group came up, ms since 1970.
    public let first: Int
    /// When the last one died, ms since 1970.
    public let last: Int
    /// The one that died last, as a sample; it may be dead no more.
    public let sample: String

    /// Most groups; what dies of more causes is counted together.
    public static let groupsMax = 1000
}

/// All groups of dead jobs.
public struct DeadGroups: Sendable, Codable, Equatable {
    /// The groups, the largest first.
    public let groups: [DeadGroup]
    /// Dead jobs of all tenants that are in no group of their own, because there are too many causes.
    public let others: Int
}

extension DeadGroup {
    /// Reads a field of hash dead:groups: `Scripts/Shared/dead_groups.lua`; nil when it is none.
    init?(_ name: String, _ text: String) {
        let cause = name.split(separator: ":", omittingEmptySubsequences: false)
        guard cause.count == 3, let count = DeadGroupCount(text) else { return nil }
        self.init(
            name: name, code: String(cause[0]), tenant: String(cause[1]),
            edit: cause[2] == "-" ? nil : String(cause[2]), jobs: count.jobs, first: count.first,
            last: count.last, sample: count.sample)
    }
}

/// The text of a group.
private struct DeadGroupCount {
    let jobs: Int, first: Int, last: Int
    let sample: String

    init?(_ text: String) {
        let words = text.split(separator: " ", maxSplits: 3)
        guard words.count == 4, let jobs = Int(words[0]), let first = Int(words[1]),
            let last = Int(words[2])
        else { return nil }
        (self.jobs, self.first, self.last, sample) = (jobs, first, last, String(words[3]))
    }
}
