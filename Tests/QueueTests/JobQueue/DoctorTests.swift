import Edits
import Logging
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("Doctor") struct DoctorTests {
    /// A queue that somebody harmed by hand, and what the doctor has to say.
    struct Harm: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Where job `a` is before. Job `b` of the same asset is parked behind it unless `a` is dead or done.
        let state: String
        /// Commands as in redis-cli, with keys as they are called without the queue's prefix.
        let commands: [String]
        let finding: Finding.Kind
    }

    static let harms = [
        Harm("a version that cannot be published", "stuck", "", .publicationStuck),
        Harm("a job that is stuck and not among the stuck", "stuck", "ZREM stuck a", .notInPlace),
        Harm("a job that is stuck without its asset", "stuck", "HDEL assets photo", .assetNotHeld),
        Harm("a ready job in no flow", "ready", "ZREM ready:normal:default a", .notInPlace),
        Harm(
            "a ready job in a flow of another tenant", "ready", "ZADD ready:normal:acme 1 a",
            .inWrongPlace),
        Harm("a ready job among the delayed", "ready", "ZADD delayed 1 a", .inWrongPlace),
        Harm("a ready job under a lease", "ready", "ZADD lease 99999999999999 a", .inWrongPlace),
        Harm("an active job without a lease", "active", "ZREM lease a", .notInPlace),
        Harm(
            "an active job that is still ready", "active", "ZADD ready:normal:default 1 a",
            .inWrongPlace),
        Harm("an active job without a fence", "active", "HDEL job:a fence", .recordIncomplete),
        Harm(
            "an active job without a time of its claim", "active", "HDEL job:a claimed",
            .recordIncomplete),
        Harm("a committing job without a lease", "committing", "ZREM lease a", .notInPlace),
        Harm("a delayed job without a time", "delayed", "ZREM delayed a", .notInPlace),
        Harm(
            "a parked job in no queue", "active", "ZREM parked b|ZREM parked:photo b", .notInPlace),
        Harm(
            "a parked job missing from its asset's queue", "active", "ZREM parked:photo b",
            .notInPlace),
        Harm("a parked job missing from the parked", "active", "ZREM parked b", .notInPlace),
        Harm(
            "a job without a place in the order", "ready", "HDEL job:a sequence", .recordIncomplete),
        Harm(
            "a parked job behind nobody", "done",
            "HSET job:b state parked|ZADD parked 2 b|ZADD parked:photo 2 b|ZREM ready:normal:default b|DEL assets",
            .parkedBehindNobody),
        Harm("an asset that nobody has", "ready", "DEL assets", .assetNotHeld),
        Harm(
            "an asset that a job has that is gone", "ready", "HSET assets other ghost", .holderWrong
        ),
        Harm(
            "an asset that a job has that is gone, with jobs behind", "active",
            "DEL job:a|ZREM lease a", .parkedBehindNobody),
        Harm(
            "two ready jobs of one asset", "ready",
            "HSET job:b state ready|ZREM parked b|ZREM parked:photo b|ZADD ready:normal:default 2 b",
            .assetHeldTwice),
        Harm("a lease of a job that is gone", "ready", "ZADD lease 1 ghost", .memberWithoutRecord),
        Harm(
            "a ready job that is gone", "ready", "ZADD ready:normal:default 0 ghost",
            .memberWithoutRecord),
        Harm("a delayed job that is gone", "ready", "ZADD delayed 1 ghost", .memberWithoutRecord),
        Harm(
            "a parked job that is gone", "active", "ZADD parked:photo 0 ghost", .memberWithoutRecord
        ),
        Harm("a dead job that is gone", "ready", "ZADD dead 1 ghost", .memberWithoutRecord),
        Harm("a done job that is gone", "ready", "RPUSH done ghost", .memberWithoutRecord),
        Harm("a done job that is not in the list", "done", "DEL done", .notInPlace),
        Harm("a dead job that is not among the dead", "dead", "DEL dead", .notInPlace),
        Harm(
            "a report of a worker that is none", "ready", "HSET workers:info zz {", .reportOfNobody),
        Harm(
            "a flow of another type", "ready",
            "DEL ready:normal:default|SET ready:normal:default x",
            .structureDamaged),
        Harm("an edit of a job that is gone", "ready", "SET edit:ghost x", .partWithoutRecord),
        Harm("a result of a job that is gone", "ready", "SET result:ghost x", .partWithoutRecord),
        Harm(
            "a history of a job that is gone", "ready", "RPUSH attempts:ghost x", .partWithoutRecord
        ),
        Harm("a flow that is not served", "ready", "ZREM flows:normal default", .flowUnserved),
        Harm(
            "a flow that is served and capped", "ready", "HSET capped normal:default 0", .flowTwice),
        Harm(
            "a flow that waits for no cap", "ready",
            "HSET capped normal:default 0|ZREM flows:normal default", .flowHeldBack),
        Harm("a flow without jobs", "active", "ZADD flows:bulk 5 acme", .flowEmpty),
        Harm(
            "a flow that is finished and served", "ready", "ZADD finished:normal 9 default",
            .flowNotFinished),
        Harm("too many running jobs", "active", "HSET running default 7", .runningMiscounted),
        Harm("too few running jobs", "active", "DEL running", .runningMiscounted),
        Harm(
            "running jobs of a tenant that has none", "ready", "HSET running acme 2",
            .runningMiscounted),
    ]

    @Test(arguments: harms)
    func `what is wrong is named and mended, and the jobs run to their ends once`(
        harm: Harm
    ) async throws {
        let q = try await QueueFixture()
        try await q.prepare(harm.state)
        let isStuck = harm.state == "stuck"
        #expect(
            try await q.queue.diagnose().open.map(\.kind) == (isStuck ? [.publicationStuck] : []))
        try await q.harm(harm.commands)

        let before = try await q.queue.diagnose()
        #expect(before.open.map(\.kind).contains(harm.finding), "\(before.open)")
        #expect(before.mended.isEmpty)
        #expect(try await q.queue.diagnose().open == before.open, "looking changes nothing")

        let after = try await q.queue.diagnose(repair: true)
        #expect(after.open == [])
        #expect(after.mended.map(\.kind).contains(harm.finding))
        #expect(try await q.queue.diagnose(repair: true).mended == [])

        try await q.runToTheEnd()
        #expect(try await q.queue.status().isDrained)
        #expect(try await q.queue.diagnose().open == [])
        let completed = try await q.events().filter { $0.name == "completed" }.map(\.id)
        #expect(Set(completed).count == completed.count)
        #expect(completed.contains("\(q.queue.name)/b/1/completed"))
    }

    @Test(arguments: [
        ("committing", "DEL result:a", Finding.Kind.recordIncomplete),
        ("ready", "DEL edit:a", .recordIncomplete),
        ("ready", "HDEL job:a asset", .recordIncomplete),
        ("ready", "HSET job:a state asleep", .recordIncomplete),
        ("ready", "HDEL job:a state", .recordIncomplete),
        ("ready", "SET job:a x", .recordIncomplete),
        ("active", "SET job:a x", .recordIncomplete),
        ("active", "ZADD lease 1 a", .leasesOverdue),
    ])
    func `what cannot be mended safely is told with what to do`(
        state: String, command: String, kind: Finding.Kind
    ) async throws {
        let q = try await QueueFixture()
        try await q.prepare(state)
        try await q.harm([command])
        let diagnosis = try await q.queue.diagnose(repair: true)
        let finding = try #require(diagnosis.open.first { $0.kind == kind }, "\(diagnosis.open)")
        #expect(finding.advice != nil)
        #expect(!diagnosis.isHealthy)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a busy queue that is right gives no false alarm`() async throws {
        var settings = QueueSettings()
        settings.doneRecordsMax = 40
        settings.window = 10
        // Nobody renews the leases of these workers, and on a busy machine they live for minutes.
        settings.lease = .seconds(3600)
        let q = try await QueueFixture(settings: settings)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<3 {
                group.addTask { try await q.live(seed: UInt64(number), steps: 150) }
            }
            group.addTask {
                for _ in 0..<12 {
                    let diagnosis = try await q.queue.diagnose()
                    #expect(diagnosis.open == [])
                    #expect(diagnosis.places > 0)
                }
            }
            try await group.waitForAll()
        }
        try await q.queue.set([.cap(try JobID("acme"), nil)])
        try await q.runToTheEnd()
        #expect(try await q.queue.diagnose().open == [])
    }

    @Test func `what a walk sees twice is summed up once`() async throws {
        let q = try await QueueFixture()
        var walk = try await StoredWalk(queue: q.queue)
        for (id, bytes, tenant) in [
            ("a", "7", "acme"), ("a", "7", "acme"), ("b", "5", "acme"), ("a", "3", "zoo"),
            ("c", "1", "zoo"),
        ] { walk.add(entry: id, bytes, of: tenant) }
        #expect(walk.arguments == ["acme", "12", "zoo", "3"])
    }

    @Test func `a user that may look and not repair is let look`() async throws {
        let q = try await QueueFixture()
        try await q.prepare("ready")
        func queue(of user: RedisUser) throws -> JobQueue {
            let url = try RedisURL(q.server.url(as: user))
            return JobQueue(
                name: q.queue.name,
                redis: RedisClient(RedisConfiguration(url: url), logger: Logger(label: "test")))
        }
        let diagnosis = try await queue(of: .gateway).diagnose()
        #expect(diagnosis.isHealthy && diagnosis.places > 0)
        #expect(diagnosis.warnings.contains { $0.contains("user gateway may look") })
        for (user, repair) in [(RedisUser.gateway, true), (.worker, false)] {
            let error = await #expect(throws: QueueError.self) {
                try await queue(of: user).diagnose(repair: repair)
            }
            #expect(error?.code == .unsafeServer && error?.message.contains("LREM") == true)
        }
    }

    @Test func `findings have sentences with their subjects`() {
        // The server's finding is a whole sentence of its own.
        for kind in Finding.Kind.allCases where kind != .serverUnsafe {
            let finding = Finding(kind: kind, subject: "S-1", detail: "3/4", isMended: false)
            #expect(finding.sentence.contains("S-1") || finding.sentence.contains("3/4"))
            #expect(finding.sentence.hasSuffix("."))
        }
    }

    @Test func `settings of the server that cost jobs are warnings`() async throws {
        let server = try await RedisServer.start()
        let q = try await QueueFixture(on: server)
        try await server.command("CONFIG", "SET", "appendonly", "no")
        try await q.admit("a")
        let warnings = try await q.queue.diagnose().warnings
        #expect(warnings.contains { $0.contains("append-only") })
        #expect(warnings.contains { $0.contains("no worker has sent a heartbeat") })
    }
}

extension DoctorTests.Harm {
    init(_ name: String, _ state: String, _ commands: String, _ finding: Finding.Kind) {
        testDescription = name
        self.state = state
        self.commands = commands.split(separator: "|").map(String.init)
        self.finding = finding
    }
}
