package import Adjustments
package import JobQueue

/// A replay of many dead jobs that somebody asked a gateway for: what is meant, how fast, and how far it is.
///
/// It lies in Redis and is carried out by one gateway at a time; when that dies, another goes on. What has been replayed
/// is dead no more, so nothing is replayed twice.
package struct ReplayOrder: Sendable, Codable, Equatable {
    /// Whether it goes on.
    package enum State: String, Sendable, Codable {
        case running, stopped, done, failed
    }

    package let id: String
    package let batch: String?
    package let tenant: String?
    package let codes: [String]
    /// ms since 1970.
    package let since: Int?
    /// ms since 1970: what died later is not meant.
    package let until: Int
    /// SHA-256 of the edit of the jobs that are meant.
    package let edit: String?
    /// The edit that they do instead, as canonical JSON.
    package let withEdit: String?
    /// Jobs a second; nil: as fast as it goes.
    package let rate: Int?
    /// The key that asked, by id.
    package let by: String
    /// ms since 1970.
    package let startedAt: Int
    /// How many jobs were meant when it was asked for.
    package let expected: Int
    package internal(set) var state: State = .running
    /// Jobs that are ready again. A gateway that died may have left some uncounted.
    package internal(set) var replayed = 0
    /// Jobs that could not be started again.
    package internal(set) var refused = 0
    /// Codes of which those had died that are ready again.
    package internal(set) var died: [String: Int] = [:]
    /// The reason of a failure.
    package internal(set) var message: String?
    /// When it ended, ms since 1970.
    package internal(set) var endedAt: Int?
    /// The gateway that carries it out, and until when nobody else does.
    var runner: String?
    var runnerUntil = 0

    /// Orders that are kept, ended ones included.
    package static let countMax = 200

    package init(
        id: String, _ filter: DeadFilter, until: Int, withEdit: Edit? = nil, rate: Int?, by: String,
        startedAt: Int, expected: Int
    ) {
        self.id = id
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

    /// Which jobs are meant.
    ///
    /// - Throws: `invalidValue`, for a record that was changed by hand.
    func filter() throws(Failure) -> DeadFilter {
        var filter = DeadFilter()
        if let batch { filter.batch = try BatchID(batch) }
        if let tenant { filter.tenant = try JobID(tenant) }
        filter.codes = Set(codes.compactMap(FailureCode.init))
        filter.since = since
        filter.until = until
        filter.edit = edit
        return filter
    }

    /// The order, held by a gateway until a time in ms since 1970.
    package func held(by runner: String, until: Int) -> ReplayOrder {
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
