/// The states of a job, and of what is not a job yet or no longer. All that is known of a state is here: the groups that scripts ask
/// for, the counts of ``QueueStatus`` and of metrics, the schema, the marks of pages.
///
/// Each case states the structure of Redis that has such jobs; the structure of a job is always that of its record's field `state`.
/// Hash `assets` names the job that holds each asset; other jobs of the asset are parked, and follow in the order of their arrival.
public enum JobState: String, Sendable, Codable, CaseIterable {
    /// The job was sent and is not admitted yet: an entry of an ingress stream, without a record.
    case incoming
    /// The job is an entry of its batch's stream, `lane:<batch>`, without a record.
    case lane
    /// The job can be claimed: zset `ready:<priority>:<tenant>`, score = sequence (order of admission).
    case ready
    /// The job waits for its start time or for its next attempt: zset `delayed`, score = due, ms. A job that waits for its `notBefore`
    /// is also in zset `later:<asset>`, score = arrival, µs; one that waits for another attempt in zset `retrying`, score = due.
    case delayed
    /// The job waits for another job of its asset: zsets `parked` and `parked:<asset>`, score = arrival, µs.
    case parked
    /// A worker holds the job: zset `lease`, score = end of lease, ms; at most field `lease` ms ahead.
    case active
    /// The job's version is recorded and is being published: zset `lease`, likewise; `result:<job>` holds the event to send.
    case committing
    /// The job's version could not be published in all permitted attempts, and an operator must act: zset `stuck`, score = since when, ms.
    case stuck
    /// The job succeeded or was cancelled: list `done`, oldest first.
    case done
    /// The job failed permanently: zset `dead`, score = end, ms.
    case dead
    /// The job was done so long ago that only its name is left.
    case dropped
    /// The queue knows no such job; or a later version of minilab has set a state that this version does not know.
    case unknown

    /// The groups of states that decide what happens to a job.
    struct Groups: OptionSet {
        let rawValue: Int
        /// The job goes on without a person.
        static let goesOn = Groups(rawValue: 1)
        /// The job ends at once when it is cancelled.
        static let waits = Groups(rawValue: 2)
        /// A worker holds the job under a lease.
        static let held = Groups(rawValue: 4)
        /// The job holds its asset; a delayed one only after a failure.
        static let holdsAsset = Groups(rawValue: 8)
        /// The job is in a zset that is called like the state.
        static let listed = Groups(rawValue: 16)
        /// A person must act: replay the job, or give it up.
        static let failed = Groups(rawValue: 32)
        static let ended = Groups(rawValue: 64)
        /// The job has a record, which has this state.
        static let recorded = Groups(rawValue: 128)
    }

    /// The properties of a state; a new state is a case and a line in ``traits``.
    private struct Traits {
        let icon: String
        let tone: Tone
        let groups: Groups
        /// The name of the count in status and metrics; nil if such jobs are not counted, or among others.
        var count: String?
        /// A few words about such jobs, where their count has no other explanation.
        var hint: String?
    }

    /// How a page shows a state: a CSS class.
    public enum Tone: String, Sendable { case calm, busy, good, attention, trouble }

    private var traits: Traits {
        switch self {
        case .incoming:
            Traits(icon: "○", tone: .calm, groups: [.goesOn, .waits], count: "incoming")
        case .lane: Traits(icon: "○", tone: .calm, groups: [.goesOn, .waits], count: "lanes")
        case .ready:
            Traits(
                icon: "○", tone: .calm, groups: [.goesOn, .waits, .holdsAsset, .recorded],
                count: "ready", hint: "can be claimed")
        case .delayed:
            Traits(
                icon: "◔", tone: .calm,
                groups: [.goesOn, .waits, .holdsAsset, .listed, .recorded],
                count: "delayed", hint: "wait for their time")
        case .parked:
            Traits(
                icon: "‖", tone: .calm, groups: [.goesOn, .waits, .listed, .recorded],
                count: "parked", hint: "wait for their asset")
        case .active:
            Traits(
                icon: "▶", tone: .busy, groups: [.goesOn, .held, .holdsAsset, .recorded],
                count: "active", hint: "in workers' hands")
        case .committing:
            Traits(icon: "▶", tone: .busy, groups: [.goesOn, .held, .holdsAsset, .recorded])
        case .stuck:
            Traits(
                icon: "▲", tone: .trouble,
                groups: [.waits, .holdsAsset, .listed, .failed, .recorded],
                count: "stuck", hint: "could not be published")
        case .done: Traits(icon: "✓", tone: .good, groups: [.ended, .recorded])
        case .dead:
            Traits(
                icon: "✕", tone: .trouble, groups: [.listed, .failed, .ended, .recorded],
                count: "dead", hint: "failed for good")
        case .dropped: Traits(icon: "∅", tone: .calm, groups: .ended)
        case .unknown: Traits(icon: "?", tone: .attention, groups: .goesOn)
        }
    }

    public var icon: String { traits.icon }
    public var tone: Tone { traits.tone }
    /// A few words for people about the jobs that have it.
    public var hint: String { traits.hint ?? "" }
    /// The name of the count in ``QueueStatus``, as JSON and in metrics.
    public var countName: String { traits.count ?? rawValue }
    /// The states that ``QueueStatus`` counts.
    public static let counted = allCases.filter { $0.traits.count != nil }

    func isIn(_ groups: Groups) -> Bool { traits.groups.isSuperset(of: groups) }
    static func all(in groups: Groups) -> [JobState] { allCases.filter { $0.isIn(groups) } }

    /// Whether the job has not ended.
    public var isOpen: Bool { !isIn(.ended) }
    /// Whether the job goes on without a person.
    public var goesOn: Bool { isIn(.goesOn) }
    /// Whether the job ends at once when it is cancelled, or its worker ends it.
    public var isCancellable: Bool { isIn(.waits) || self == .active }
    /// Whether a person must act; the job can be replayed.
    public var isFailed: Bool { isIn(.failed) }

    /// The groups as tables for scripts: `HELD[state]`.
    static let lua =
        [
            ("WAITS", Groups.waits), ("HELD", .held), ("HOLDS", .holdsAsset), ("LISTED", .listed),
            ("ENDED", .ended), ("RECORDED", .recorded),
        ].map { name, group in
            "local \(name) = {"
                + all(in: [group, .recorded]).map { "\($0) = true" }
                .joined(separator: ", ") + "}\n"
        }.joined()
}
