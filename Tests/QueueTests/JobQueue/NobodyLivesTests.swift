import Edits
import Redis
import Testing

@testable import JobQueue

/// What a queue without any living worker says of itself, for each state that a job can have: nobody is left who would notice that a time
/// has come.
@Suite("A queue without workers") struct NobodyLivesTests {
    /// Where the job is, and what is to be seen of it.
    struct Case: Sendable, CustomStringConvertible {
        let state: JobState
        /// What of the state is due by the time, where that makes a difference.
        var isDue = true
        /// Whether a worker is asked for, while the queue goes on and while it is paused.
        let isAsked: (going: Bool, paused: Bool)
        /// Whether the doctor says that no worker lives.
        let isWarned: Bool

        var description: String { "\(state)\(isDue ? "" : ", not due")" }
    }

    static let cases: [Case] = [
        Case(state: .incoming, isAsked: (true, false), isWarned: true),
        Case(state: .lane, isAsked: (true, false), isWarned: true),
        Case(state: .ready, isAsked: (true, false), isWarned: true),
        Case(state: .delayed, isAsked: (true, false), isWarned: true),
        Case(state: .delayed, isDue: false, isAsked: (false, false), isWarned: false),
        // It waits for the job before it, which is in one of these states.
        Case(state: .parked, isAsked: (true, false), isWarned: true),
        // A worker died. A pause keeps nobody from what it held.
        Case(state: .active, isAsked: (true, true), isWarned: true),
        Case(state: .active, isDue: false, isAsked: (true, false), isWarned: true),
        Case(state: .committing, isAsked: (true, true), isWarned: true),
        // A person must act, or nothing is left to do.
        Case(state: .stuck, isAsked: (false, false), isWarned: false),
        Case(state: .done, isAsked: (false, false), isWarned: false),
        Case(state: .dead, isAsked: (false, false), isWarned: false),
        Case(state: .dropped, isAsked: (false, false), isWarned: false),
        Case(state: .unknown, isAsked: (false, false), isWarned: false),
    ]

    @Test func `the table has every state`() {
        #expect(Set(Self.cases.map(\.state)) == Set(JobState.allCases))
    }

    @Test(arguments: cases, [false, true])
    func `asks for a worker, and says so, for what is due`(
        expected: Case, isPaused: Bool
    ) async throws {
        let q = try await QueueFixture()
        try await bring(expected, q)
        try await bury(q)
        if isPaused { try await q.queue.set([.paused("a test")]) }

        let status = try await q.queue.status()
        #expect(status.workers.isEmpty)
        var target = ScaleTarget()
        (target.minWorkers, target.within) = (0, 60)
        let advice = try await q.queue.scaleAdvice(target, from: status)
        let isAsked = isPaused ? expected.isAsked.paused : expected.isAsked.going
        #expect(advice.workers == (isAsked ? 1 : 0), "\(advice.reason)")
        #expect(advice.running == 0)
        let warnings = try await q.queue.diagnose().warnings
        let isWarned = warnings.contains { $0.contains("no worker has sent a heartbeat lately") }
        #expect(isWarned == expected.isWarned, "\(warnings)")
        if expected.isDue, [.delayed, .active, .committing].contains(expected.state) {
            #expect(!status.overdue.isNothing)
            #expect(status.dueForNobody != nil)
        }
        if expected.isWarned, expected.state != .parked, expected.state != .lane {
            let reason = try await q.queue.facts(of: "a").reason
            #expect(Self.saysNobody(reason, isPaused) || !expected.isDue, "\(reason)")
        }
    }

    @Test(arguments: [false, true])
    func `jobs whose deadlines have passed say so before a worker ends them`(isPaused: Bool)
        async throws
    {
        let q = try await QueueFixture()
        for id in ["a", "b", "in-time"] {
            // The second one waits for the first one, which has its photo.
            try await q.xadd([
                "id": .init(id), "asset": id == "in-time" ? "y" : "x",
                "edit": QueueFixture.recipe,
                "deadline": id == "in-time" ? "2100-01-01T00:00:00Z" : "2020-01-01T00:00:00Z",
            ])
        }
        _ = try await q.queue.admit()
        try await bury(q)
        if isPaused { try await q.queue.set([.paused("a test")]) }

        let expected: JobReason.Stop = isPaused ? .queuePaused(reason: "a test") : .noWorker
        for id in ["a", "b"] {
            guard
                case .deadlinePassed(1_577_836_800_000, let ago, let stop) =
                    try await q.queue.facts(of: id).reason
            else {
                Issue.record("\(id) does not tell its deadline")
                return
            }
            #expect(ago > 0)
            #expect(stop == expected)
        }
        #expect(try await q.queue.facts(of: "in-time").reason.code != "deadlinePassed")
        let words =
            "2 waiting jobs did not begin before their deadlines, the first of which passed at 2020-01-01T00:00:00Z."
        let warnings = try await q.queue.diagnose().warnings
        #expect(warnings.contains { $0.hasPrefix(words) }, "\(warnings)")

        if isPaused { try await q.queue.set([.paused(nil)]) }
        #expect(try await q.claim().job == "in-time")
        let later = try await q.queue.diagnose().warnings
        #expect(!later.contains { $0.contains("before their deadlines") }, "\(later)")
        #expect(try await q.state(of: "b") == "dead")
    }

    @Test func `an open batch without jobs asks for no worker`() async throws {
        let q = try await QueueFixture()
        try await q.xadd(["batch": "b", "edit": .init(QueueFixture.recipe)])
        _ = try await q.queue.admit()
        let warnings = try await q.queue.diagnose().warnings
        #expect(!warnings.contains { $0.contains("no worker has sent a heartbeat") }, "\(warnings)")
        try await q.addToBatchStream(of: "b", ["asset": "a"])
        let later = try await q.queue.diagnose().warnings
        #expect(later.contains { $0.contains("no worker has sent a heartbeat") }, "\(later)")
    }

    /// Whether a reason tells that the job stands until a worker comes, or the pause ends.
    private static func saysNobody(_ reason: JobReason, _ isPaused: Bool) -> Bool {
        switch reason {
        case .stopped(.noWorker, _): !isPaused
        case .stopped(.queuePaused, _): isPaused
        // An announced job with a name of its own is not looked for in the streams.
        case .unknown(let entries, let hasWorkers, _, _): entries > 0 && !hasWorkers
        case .incoming(_, let hasWorkers, _), .leaseLost(_, _, let hasWorkers),
            .publishingAgain(_, _, let hasWorkers):
            !hasWorkers
        default: false
        }
    }

    /// Brings the job `a` into a state.
    private func bring(_ wanted: Case, _ q: QueueFixture) async throws {
        let keys = q.queue.name.keys
        switch wanted.state {
        case .unknown: break
        case .incoming:
            try await q.xadd(["id": "a", "asset": "a", "edit": .init(QueueFixture.recipe)])
        case .lane:
            try await q.xadd(["batch": "b", "edit": .init(QueueFixture.recipe), "seal": "2"])
            _ = try await q.queue.admit()
            try await q.addToBatchStream(of: "b", ["asset": "a"])
            try await q.addToBatchStream(of: "b", ["asset": "b"])
        case .ready: try await q.admit("a")
        case .delayed:
            try await q.admit("a")
            let claim = try await q.claim()
            _ = try await q.queue.fail(claim, by: "a", Failure(.noSpace, "full"), random: 1)
            let due = try await q.queue.now() + (wanted.isDue ? -1 : 3_600_000)
            for zset in [keys.prefix + "delayed", keys.prefix + "retrying"] {
                _ = try await q.redis.send(["ZADD", .init(zset), "XX", .init(due), "a"])
            }
        case .parked:
            try await q.xadd(["id": "first", "asset": "p", "edit": .init(QueueFixture.recipe)])
            try await q.xadd(["id": "a", "asset": "p", "edit": .init(QueueFixture.recipe)])
            _ = try await q.queue.admit()
        case .active, .committing, .stuck:
            try await q.admit("a")
            let claim = try await q.claim()
            if wanted.state != .active {
                _ = try await q.queue.commit(claim, q.event(claim), isDraft: false)
            }
            if wanted.state == .stuck {
                var settings = q.queue.settings
                settings.carriesMax = 0
                let strict = JobQueue(name: q.queue.name, redis: q.redis, settings: settings)
                _ = try await strict.handOn(
                    job: "a", fence: claim.fence, by: "a", Failure(.ioFailure, "no"), carries: 0,
                    random: 0)
            } else if wanted.isDue {
                let ended = try await q.queue.now() - 1
                _ = try await q.redis.send(["ZADD", .init(keys.lease), "XX", .init(ended), "a"])
            }
        case .done:
            try await q.admit("a")
            try await q.finish(try await q.claim())
        case .dead, .dropped:
            try await q.admit("a")
            try await q.bury(try await q.claim())
            if wanted.state == .dropped { try await q.queue.removeDead([("a", 1)]) }
        }
    }

    /// Lets a worker have died long ago. Nobody is left who would forget it, or measure the time.
    private func bury(_ q: QueueFixture) async throws {
        try await q.hear("late")
        let long = try await q.queue.now() - 1_000_000
        try await q.harm(["HSET virtual ticked \(long) lived \(long) shift 0"])
        _ = try await q.redis.send(
            ["ZADD", .init(q.queue.name.keys.workers), "XX", .init(long), "late"])
    }

    @Test func `a worker lives by the time of its last heartbeat and by its own lease`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.hear("here")
        try await bury(q)
        let fleet = try await q.queue.fleet()
        #expect(fleet.living.map(\.name) == ["here"])
        #expect(fleet.silent.map(\.name) == ["late"])

        func silent(_ lease: Int?, after age: Int) -> Bool {
            var info = QueueFixture.worker
            info.leaseMilliseconds = lease
            return Fleet(
                [info], heard: ["a": 10_000_000 - age], at: 10_000_000, lease: .seconds(30)
            )
            .living.isEmpty
        }
        #expect(!silent(nil, after: 60_000) && silent(nil, after: 60_001))
        #expect(!silent(600_000, after: 1_200_000) && silent(600_000, after: 1_200_001))
        #expect(silent(2000, after: 4001))
        // The clock was set back since: the next heartbeat is soon, if there is one.
        #expect(!silent(nil, after: -60_000) && silent(nil, after: -60_001))
    }

    @Test func `members that wait for their time hide nothing that is announced or due`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.xadd([
            "batch": "b", "edit": .init(QueueFixture.recipe), "seal": "3", "tenant": "t",
        ])
        _ = try await q.queue.admit()
        for asset in ["a", "b", "c"] {
            try await q.addToBatchStream(of: "b", ["asset": .init(asset)])
        }
        _ = try await q.queue.admit()
        for _ in 0..<3 {
            let claim = try await q.claim()
            _ = try await q.queue.fail(claim, by: "a", Failure(.noSpace, "full"), random: 1)
            // Not due within the time.
            let due = try await q.queue.now() + 3_600_000
            for zset in ["delayed", "retrying"] {
                _ = try await q.redis.send([
                    "ZADD", .init(q.queue.name.keys.prefix + zset), "XX", .init(due),
                    .init(claim.job),
                ])
            }
        }
        try await q.queue.set([.cap(try JobID("t"), 0)])
        try await q.xadd(["id": "one", "asset": "one", "edit": .init(QueueFixture.recipe)])
        var target = ScaleTarget()
        target.minWorkers = 0
        #expect(try await q.queue.scaleAdvice(target).workers == 1)
    }
}
