import Edits
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("Submit") struct SubmitTests {
    static func request(
        _ id: String?, asset: String = "a.jpg", edit: String = QueueFixture.recipe,
        tenant: String? = nil, _ change: (inout Scheduling) -> Void = { _ in }
    ) throws -> JobRequest {
        var scheduling = Scheduling()
        scheduling.tenant = try tenant.map { try JobID($0) }
        change(&scheduling)
        return JobRequest(
            id: try id.map { try JobID($0) }, asset: try AssetPath(asset),
            edit: try Edit(json: edit), scheduling: scheduling)
    }

    private func accepted(_ answer: JobQueue.Submission) -> String? {
        if case .accepted(let entry) = answer { return entry }
        Issue.record("\(answer)")
        return nil
    }

    static let other = #"{"filters":[{"name":"CIColorInvert"}]}"#

    @Test func `a job that was submitted is found by its id at once, and runs when it is taken in`()
        async throws
    {
        let q = try await QueueFixture()
        let answer = try await q.queue.submit(
            Self.request("x", tenant: "acme"), backlogMax: nil)
        _ = accepted(answer)
        let record = try #require(try await q.queue.record(of: "x"))
        #expect(record.state == .incoming && record.asset == "a.jpg" && record.tenant == "acme")
        let facts = try await q.queue.facts(of: "x")
        #expect(facts.state == .incoming && facts.text("asset") == "a.jpg")
        #expect(try await q.queue.backlog(of: JobID("acme")) == 1)
        _ = try await q.queue.admit()
        #expect(try await q.state(of: "x") == "ready")
        let claim = try await q.claim()
        #expect(claim.job == "x" && claim.tenant == "acme")
        try await q.finish(claim)
        #expect(try await q.queue.backlog(of: JobID("acme")) == 0)
        #expect(try await q.keys("reserved") == 0)
        #expect(try await q.keys("backlog:acme") == 0)
    }

    @Test func `a job without an id is found by its entry's name`() async throws {
        let q = try await QueueFixture()
        for priority in [Priority.normal, .interactive] {
            let entry = try #require(
                accepted(
                    try await q.queue.submit(
                        Self.request(nil) { $0.priority = priority }, backlogMax: nil)))
            #expect(try await q.state(of: entry) == "incoming")
            #expect(try await q.queue.record(of: entry)?.priority == priority.rawValue)
            _ = try await q.queue.admit()
            #expect(try await q.state(of: entry) == (priority == .normal ? "ready" : "parked"))
        }
    }

    @Test func `an id that is sent again is answered, before and after it is taken in`()
        async throws
    {
        let q = try await QueueFixture()
        let same = try Self.request("x")
        _ = accepted(try await q.queue.submit(same, backlogMax: 1))
        for state in [JobState.incoming, .ready] {
            #expect(try await q.queue.submit(same, backlogMax: 1) == .same(state))
            for other in [
                try Self.request("x", asset: "b.jpg"), try Self.request("x", edit: Self.other),
            ] { #expect(try await q.queue.submit(other, backlogMax: 1) == .conflict) }
            _ = try await q.queue.admit()
        }
        try await q.finish(q.claim())
        #expect(try await q.queue.submit(same, backlogMax: 1) == .same(.done))
        #expect(try await q.events().map(\.name) == ["completed"])
    }

    @Test func `a job that ended otherwise is not run again, and its producer is told at once`()
        async throws
    {
        let q = try await QueueFixture()
        for id in ["cancelled", "dead", "dropped"] {
            _ = accepted(
                try await q.queue.submit(Self.request(id, asset: id), backlogMax: nil))
        }
        #expect(try await q.queue.cancel(["cancelled"], reason: "no") == [.cancelled])
        _ = try await q.queue.admit()
        for claim in try await q.claim(2) {
            _ = try await q.queue.fail(claim, by: "w", Failure(.missingAsset, "no"), random: 0)
        }
        #expect(try await q.queue.removeDead([("dropped", 1)]) == 1)
        for ending in [JobQueue.Ending.cancelled, .dead, .dropped] {
            #expect(
                try await q.queue.submit(
                    Self.request(ending.rawValue, asset: ending.rawValue), backlogMax: 0)
                    == .notAgain(ending))
        }
        #expect(try await q.queue.backlog(of: JobID("default")) == 0)
    }

    @Test func `a tenant has no more jobs than its quota, and again some when they ended`()
        async throws
    {
        let q = try await QueueFixture()
        let acme = try JobID("acme")
        func submit(_ id: String, _ tenant: String = "acme") async throws -> JobQueue.Submission {
            try await q.queue.submit(
                Self.request(id, asset: id, tenant: tenant), backlogMax: 2)
        }
        _ = accepted(try await submit("1"))
        _ = accepted(try await submit("2"))
        #expect(try await submit("3") == .overQuota(waiting: 2, max: 2))
        _ = accepted(try await submit("4", "other"))
        _ = try await q.queue.admit()
        #expect(try await submit("3") == .overQuota(waiting: 2, max: 2))
        #expect(try await submit("1") == .same(.ready))
        let claims = try await q.claim(3)
        let failing = try #require(claims.first { $0.job == "1" })
        _ = try await q.queue.fail(failing, by: "w", Failure(.missingAsset, "no"), random: 0)
        #expect(try await q.queue.backlog(of: acme) == 1)
        _ = accepted(try await submit("3"))
        // A job that is replayed counts again, though nobody asked the quota.
        #expect(try await q.queue.replay(["1"]) == [.replayed])
        #expect(try await q.queue.backlog(of: acme) == 3)
        #expect(try await q.queue.cancel(["1", "2", "3"], reason: "no").first == .cancelled)
        _ = try await q.queue.admit()
        for claim in claims where claim.job == "2" {
            _ = try await q.queue.concludeCancelled(claim)
        }
        #expect(try await q.queue.backlog(of: acme) == 0)
        #expect(try await q.queue.diagnose().open.isEmpty)
    }

    @Test func `a job is cancelled before it is taken in, and its entry comes to nothing`()
        async throws
    {
        let q = try await QueueFixture()
        _ = accepted(try await q.queue.submit(Self.request("x"), backlogMax: nil))
        _ = accepted(try await q.queue.submit(Self.request("y", asset: "b"), backlogMax: nil))
        #expect(try await q.queue.cancel(["x", "x"], reason: "a mistake") == [.cancelled, .ended])
        #expect(try await q.queue.facts(of: "x").text("reason") == "a mistake")
        let record = try #require(try await q.queue.record(of: "x"))
        #expect(record.state == .done && record.outcome == "cancelled")
        #expect(try await q.queue.admit().admitted == 2)
        #expect(try await q.queue.status()[.ready] == 1)
        #expect(try await q.state(of: "x") == "done")
        #expect(try await q.events().map(\.name) == ["cancelled"])
        #expect(try await q.keys("reserved") == 0)
        let diagnosis = try await q.queue.diagnose()
        #expect(diagnosis.open.isEmpty, "\(diagnosis.open)")
    }

    @Test func `a tenant's jobs are cancelled with those that are not taken in yet`() async throws {
        let q = try await QueueFixture()
        for (id, tenant) in [("1", "acme"), ("2", "acme"), ("3", "other")] {
            _ = accepted(
                try await q.queue.submit(
                    Self.request(id, asset: id, tenant: tenant), backlogMax: nil))
        }
        let cancelled = try await q.queue.cancelJobs(of: JobID("acme"), reason: "no")
        #expect(cancelled == .init(cancelled: 2, notified: 0, publishing: 0))
        _ = try await q.queue.admit()
        #expect(try await q.queue.claim(by: "w", count: 3).jobs.map(\.job) == ["3"])
    }

    @Test func `jobs of one call keep their order, and each is answered`() async throws {
        let q = try await QueueFixture()
        let requests = try (0..<200).map { try Self.request("j\($0 % 150)", asset: "a\($0 % 150)") }
        let answers = try await q.queue.submit(requests, backlogMax: 120).map { try $0.get() }
        for (index, answer) in answers.enumerated() {
            switch index % 150 {
            case 120...: #expect(answer == .overQuota(waiting: 120, max: 120))
            default: #expect(index < 150 ? accepted(answer) != nil : answer == .same(.incoming))
            }
        }
        _ = try await q.queue.admit()
        let ids = try await q.queue.claim(by: "w", count: 120).jobs.map(\.job)
        #expect(ids == (0..<120).map { "j\($0)" })
    }

    @Test func `what others send under a reserved id is their conflict`() async throws {
        let q = try await QueueFixture()
        let request = try Self.request("x")
        _ = accepted(try await q.queue.submit(request, backlogMax: nil))
        _ = try await q.redis.send([
            "XADD", RedisArgument(q.queue.name.keys.urgentIngress), "*", "id", "x", "asset",
            "b.jpg", "edit", RedisArgument(QueueFixture.recipe),
        ])
        try await q.xadd(["id": "x", "asset": "a.jpg", "edit": request.edit.json.canonical])
        _ = try await q.queue.admit()
        #expect(try await q.queue.record(of: "x")?.asset == "a.jpg")
        #expect(try await q.events().map(\.name) == ["conflict"])
        #expect(try await q.queue.status().counters["duplicates"] == 1)
        #expect(try await q.queue.backlog(of: JobID("default")) == 1)
    }

    @Test func `a dead letter gives its id to the job that is submitted in its stead`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.xadd(["id": "x", "asset": "a.jpg"])
        _ = try await q.queue.admit()
        #expect(try await q.state(of: "x") == "dead")
        _ = accepted(try await q.queue.submit(Self.request("x"), backlogMax: nil))
        #expect(try await q.state(of: "x") == "incoming")
        _ = try await q.queue.admit()
        #expect(try await q.queue.record(of: "x")?.generation == 2)
    }

    @Test func `the reservation of an entry that was dropped unread holds nothing and is swept`()
        async throws
    {
        var settings = QueueSettings()
        settings.tendPace = .zero
        let q = try await QueueFixture(settings: settings)
        _ = accepted(try await q.queue.submit(Self.request("x"), backlogMax: nil))
        _ = accepted(try await q.queue.submit(Self.request("y"), backlogMax: nil))
        _ = try await q.redis.send([
            "XTRIM", RedisArgument(q.queue.name.keys.ingress), "MAXLEN", "0",
        ])
        #expect(try await q.queue.record(of: "x") == nil)
        #expect(try await q.queue.facts(of: "x").state == .unknown)
        _ = accepted(try await q.queue.submit(Self.request("y"), backlogMax: nil))
        _ = try await q.queue.tend()
        #expect(try await q.keys("reserved") == 1)
        #expect(try await q.queue.backlog(of: JobID("default")) == 1)
        _ = try await q.queue.admit()
        #expect(try await q.queue.backlog(of: JobID("default")) == 1)
    }

    @Test func `too many reservations are an error of their own`() async throws {
        var settings = QueueSettings()
        settings.reservedMax = 2
        let q = try await QueueFixture(settings: settings)
        _ = try await q.queue.submit([Self.request("1"), Self.request("2")], backlogMax: nil)
        let error = await #expect(throws: QueueError.self) { () async throws in
            _ = try await q.queue.submit(Self.request("3"), backlogMax: nil)
        }
        #expect(error?.code == .ingressFull)
    }

    @Test func `a full Redis is an error that its caller knows`() async throws {
        let server = try await RedisServer.start()
        let q = try await QueueFixture(on: server)
        _ = try await q.redis.send(["CONFIG", "SET", "maxmemory", "1"])
        let error = await #expect(throws: QueueError.self) { () async throws in
            _ = try await q.queue.submit(Self.request("x"), backlogMax: nil)
        }
        #expect(error?.isRedisFull == true)
        server.stop()
    }

    @Test func `the doctor mends what stands in a backlog or a reservation and should not`()
        async throws
    {
        let q = try await QueueFixture()
        _ = accepted(try await q.queue.submit(Self.request("x"), backlogMax: nil))
        _ = accepted(try await q.queue.submit(Self.request("y", asset: "b"), backlogMax: nil))
        _ = try await q.queue.admit()
        let prefix = q.queue.name.keys.prefix
        for command in [
            ["HSET", prefix + "backlog:default", "gone", "1"],
            ["HSET", prefix + "backlog:default", "batch:gone", "1"],
            ["HSET", prefix + "reserved", "lost", "1-1 acme"],
            ["HSET", prefix + "backlog:acme", "lost", "1"],
            ["HDEL", prefix + "backlog:default", "x"],
        ] { _ = try await q.redis.send(command.map { RedisArgument($0) }) }
        #expect(try await q.queue.diagnose().open.count == 5)
        let mended = try await q.queue.diagnose(repair: true)
        #expect(mended.open.isEmpty, "\(mended.open)")
        #expect(try await q.queue.backlog(of: JobID("default")) == 2)
        #expect(try await q.keys("backlog:acme") == 0)
        #expect(try await q.keys("reserved") == 0)
    }

    @Test func `a batch is opened and sealed at once, and each mistake is answered`() async throws {
        let q = try await QueueFixture()
        let b = try BatchID("b")
        func batch(_ name: String, _ edit: String = QueueFixture.recipe) throws -> BatchRequest {
            BatchRequest(id: try BatchID(name), edit: try Edit(json: edit))
        }
        #expect(try await q.queue.submitSeal(of: b, jobs: 2) == .unknownBatch)
        #expect(try await q.queue.submit(batch("b"), folder: nil, backlogMax: 1) == .created)
        #expect(try await q.queue.record(of: b)?.priority == "bulk")
        #expect(try await q.queue.submit(batch("b"), folder: nil, backlogMax: 1) == .same)
        #expect(
            try await q.queue.submit(batch("b", Self.other), folder: nil, backlogMax: 1)
                == .otherEdit)
        #expect(
            try await q.queue.submit(batch("c"), folder: nil, backlogMax: 1)
                == .overQuota(waiting: 1, max: 1))
        let members = try ["1", "2"].map { JobQueue.Member(asset: try AssetPath($0)) }
        #expect(try await q.queue.add(members, to: b, from: 0) == .added(2))
        #expect(try await q.queue.submitSeal(of: b, jobs: 1) == .given(2))
        #expect(try await q.queue.submitSeal(of: b, jobs: 2, cost: 5) == .sealed)
        #expect(try await q.queue.submitSeal(of: b, jobs: 2) == .same)
        #expect(try await q.queue.submitSeal(of: b, jobs: 3) == .sealedBefore(at: 2))
        _ = try await q.queue.admit()
        for claim in try await q.claim(2) { try await q.finish(claim) }
        #expect(try await q.events().map(\.name) == ["completed", "completed", "completed"])
        #expect(try await q.queue.backlog(of: JobID("default")) == 0)
        #expect(try await q.queue.diagnose().open.isEmpty)
    }

    @Test func `a batch under the name of one that ended and was dropped is refused`() async throws
    {
        var settings = QueueSettings()
        settings.keepDone = .zero
        let q = try await QueueFixture(settings: settings)
        let request = BatchRequest(
            id: try BatchID("b"), edit: try Edit(json: QueueFixture.recipe))
        #expect(try await q.queue.submit(request, folder: nil, backlogMax: nil) == .created)
        #expect(
            try await q.queue.add(
                [JobQueue.Member(asset: try AssetPath("a"))], to: request.id, from: 0) == .added(1))
        #expect(try await q.queue.submitSeal(of: request.id, jobs: 1) == .sealed)
        _ = try await q.queue.admit()
        try await q.finish(q.claim())
        try await q.passMillisecond()
        _ = try await q.queue.reap(by: "w")
        guard case .nameUsed = try await q.queue.submit(request, folder: nil, backlogMax: nil)
        else {
            Issue.record("the name is free")
            return
        }
        #expect(try await q.queue.submitSeal(of: request.id, jobs: 1) == .same)
    }

    @Test func `jobs that come at the same time are each answered as if they were alone`()
        async throws
    {
        let q = try await QueueFixture()
        _ = accepted(try await q.queue.submit(Self.request("there"), backlogMax: nil))
        let answers = try await withThrowingTaskGroup(
            of: (Int, JobQueue.Submission).self
        ) { group in
            for number in 0..<150 {
                group.addTask {
                    switch number % 3 {
                    case 0:
                        (
                            number,
                            try await q.queue.submit(Self.request("n\(number)"), backlogMax: nil)
                        )
                    case 1:
                        (
                            number,
                            try await q.queue.submit(
                                Self.request("there", asset: "other"), backlogMax: 1)
                        )
                    // Its tenant's quota is its own, whatever the others' are.
                    default:
                        (
                            number,
                            try await q.queue.submit(Self.request("q\(number)"), backlogMax: 1)
                        )
                    }
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        for (number, answer) in answers {
            switch number % 3 {
            case 0: _ = accepted(answer)
            case 1: #expect(answer == .conflict)
            default:
                guard case .overQuota(_, let most) = answer else {
                    Issue.record("\(answer)")
                    continue
                }
                #expect(most == 1)
            }
        }
        #expect(try await q.queue.status()[.incoming] == 51)
    }
}

extension QueueFixture {
    /// How many fields a hash of the queue has.
    func keys(_ name: String) async throws -> Int64? {
        try await redis.send(["HLEN", "\(queue.name.keys.prefix)\(name)"]).int
    }
}
