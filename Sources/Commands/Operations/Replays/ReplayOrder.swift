package import Edits
package import JobQueue

/// A replay of many dead jobs that a client requested from a gateway: its filter, rate and progress.
///
/// It is stored in Redis and executed by one gateway at a time; if that gateway dies, another one continues. A replayed job is no
/// longer dead, so no job is replayed twice.
package struct ReplayOrder: Sendable, Codable, Equatable {
    /// The state of the replay.
    package enum State: String, Sendable, Codable {
        case running, stopped, done, failed
    }

    package let id: String
    /// The jobs that the requesting client may see; nil in a record of an earlier release, which is carried out no more.
    package let reach: Reach?
    package let batch: String?
    package let tenant: String?
    package let codes: [String]
    /// The earliest time of death, ms since 1970.
    package let since: Int?
    /// The latest time of death, ms since 1970; jobs that died later do not match.
    package let until: Int
    /// The SHA-256 of the edit of the matching jobs.
    package let edit: String?
    /// The new edit of the jobs, as canonical JSON.
    package let withEdit: String?
    /// The maximum number of jobs per second; nil for no limit.
    package let rate: Int?
    /// The id of the requesting client's key.
    package let by: String
    /// The time of the request, ms since 1970.
    package let startedAt: Int
    /// The number of matching jobs at the time of the request.
    package let expected: Int
    package internal(set) var state: State = .running
    /// The number of jobs that are ready again. A gateway that died may have left some uncounted.
    package internal(set) var replayed = 0
    /// The number of jobs that could not be replayed.
    package internal(set) var refused = 0
    /// The numbers of replayed jobs, by the failure code of their death.
    package internal(set) var died: [String: Int] = [:]
    /// The reason of a failure.
    package internal(set) var message: String?
    /// The time of its end, ms since 1970.
    package internal(set) var endedAt: Int?
    /// The gateway that executes the replay, and the time until which no other gateway does.
    var runner: String?
    var runnerUntil = 0

    /// The maximum number of stored replays, including ended ones.
    package static let countMax = 200
    /// The maximum number of stored replays of a tenant, including ended ones, so that ten tenants keep what they need to see.
    package static let ofTenantMax = 20

    package init(
        id: String, _ filter: DeadFilter, until: Int, withEdit: Edit? = nil, rate: Int?, by: String,
        startedAt: Int, expected: Int
    ) {
        self.id = id
        reach = filter.reach
        batch = filter.batch?.string
        tenant = filter.tenant?.string
        codes = filter.codes.map(\.rawValue).sorted()
        since = filter.since
        self.until = until
        edit = filter.edit
        self.withEdit = withEdit?.json.canonical
        self.rate = rate
        self.by = by
        self.startedAt = startedAt
        self.expected = expected
    }

    /// Returns whether a caller may see and stop it: all jobs that it may replay are the caller's.
    package func isWithin(_ other: Reach) -> Bool {
        reach.map { other.covers($0) } ?? other.isEverything
    }

    /// Returns the filter of the jobs.
    ///
    /// - Throws: `invalidValue`, for a record that was edited by hand, or that does not say whose jobs it means.
    func filter() throws(Failure) -> DeadFilter {
        guard let reach else {
            throw Failure(
                .invalidValue,
                "replay \(id) does not say whose jobs it means, because an earlier release took it. Request it again."
            )
        }
        var filter = DeadFilter(reach)
        if let batch { filter.batch = try BatchID(batch) }
        if let tenant { filter.tenant = try JobID(tenant) }
        filter.codes = Set(codes.compactMap(FailureCode.init))
        filter.since = since
        filter.until = until
        filter.edit = edit
        return filter
    }

    /// Returns the order as leased by a gateway until a time in ms since 1970.
    package func leased(by runner: String, until: Int) -> ReplayOrder {
        var order = self
        order.runner = runner
        order.runnerUntil = until
        return order
    }

    mutating func count(_ lines: [ReplayLine]) {
        for line in lines {
            if line.answer == .replayed {
                replayed += 1
                died[line.code?.rawValue ?? "unknown", default: 0] += 1
            } else {
                refused += 1
            }
        }
    }
}
