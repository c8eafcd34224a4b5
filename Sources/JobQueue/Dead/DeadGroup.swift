/// The dead jobs of one tenant that have the same edit and died of the same failure code.
public struct DeadGroup: Sendable, Codable, Equatable {
    /// The name of the group, for ``DeadFilter/group``: `<code>:<tenant>:<edit>`.
    public let name: String
    /// The failure code of the jobs, for programs.
    public let code: String
    /// The tenant of the jobs.
    public let tenant: String
    /// The start of a digest of the edit's text; equal texts have equal digests. Nil for entries that never became a job.
    public let edit: String?
    /// The number of dead jobs in the group.
    public let jobs: Int
    /// The time at which the first job died since the group appeared, ms since 1970.
    public let first: Int
    /// The time at which the last job died, ms since 1970.
    public let last: Int
    /// The job that died last, as a sample. It may have been replayed since.
    public let sample: String

    /// The maximum number of groups. Deaths of further causes are counted together.
    public static let groupsMax = 1000
}

/// All groups of dead jobs.
public struct DeadGroups: Sendable, Codable, Equatable {
    /// The groups, the largest first.
    public let groups: [DeadGroup]
    /// The number of dead jobs of all tenants outside any group, because there are too many causes.
    public let others: Int
}

extension DeadGroup {
    /// Reads a field of hash `dead:groups` (see `Scripts/Shared/dead_groups.lua`). Returns nil if the field is not a group.
    init?(_ name: String, _ text: String) {
        let cause = name.split(separator: ":", omittingEmptySubsequences: false)
        guard cause.count == 3, let count = DeadGroupCount(text) else { return nil }
        self.init(
            name: name, code: String(cause[0]), tenant: String(cause[1]),
            edit: cause[2] == "-" ? nil : String(cause[2]), jobs: count.jobs, first: count.first,
            last: count.last, sample: count.sample)
    }
}

/// The decoded value of a group's field.
private struct DeadGroupCount {
    let jobs: Int, first: Int, last: Int
    let sample: String

    init?(_ text: String) {
        let fields = text.split(separator: " ", maxSplits: 3)
        guard fields.count == 4, let jobs = Int(fields[0]), let first = Int(fields[1]),
            let last = Int(fields[2])
        else { return nil }
        (self.jobs, self.first, self.last, sample) = (jobs, first, last, String(fields[3]))
    }
}
