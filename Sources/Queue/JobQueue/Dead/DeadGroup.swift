import Edits

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
    /// The number of dead jobs outside any group, because there are too many causes; nil if the jobs were counted one by one,
    /// which leaves out none.
    public let others: Int?

    package init(groups: [DeadGroup], others: Int?) {
        self.groups = groups.sorted { ($1.jobs, $0.name) < ($0.jobs, $1.name) }
        self.others = others
    }
}

extension DeadGroup {
    /// Creates the group of one dead job, for counting some jobs and not all of the queue. A job that no group of the queue counts,
    /// because it died under an earlier release or there were too many causes, is counted without its edit.
    package init(of record: JobRecord) {
        let died = record.ended ?? record.enqueued
        let text = "1 \(died) \(died) \(record.job)"
        if let name = record.group, let group = DeadGroup(name, text) {
            self = group
            return
        }
        let code = record.code?.rawValue ?? "unknown"
        self.init(
            name: "\(code):\(record.tenant):-", code: code, tenant: record.tenant, edit: nil,
            jobs: 1,
            first: died, last: died, sample: record.job)
    }

    /// Returns the group with the jobs of another part of it.
    package func adding(_ other: DeadGroup) -> DeadGroup {
        DeadGroup(
            name: name, code: code, tenant: tenant, edit: edit, jobs: jobs + other.jobs,
            first: min(first, other.first), last: max(last, other.last),
            sample: other.last >= last ? other.sample : sample)
    }

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
