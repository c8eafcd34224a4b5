import Edits
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

/// The right to XADD is the right to choose ids. From Redis 7.2 on an id that was deleted once bounds those that may follow, so these
/// tests find more on newer servers.
@Suite("Ids that a producer chooses") struct HostileIDTests {
    static let highest = "18446744073709551615-18446744073709551615"
    static let ahead = [highest, "18446744073709551614-18446744073709551615", "9999999999999-0"]
    /// Only a new stream accepts these.
    static let past = ["0-1", "1-18446744073709551615", "1000000000000-7"]
    static let doors = ["in", "in:interactive"]

    private func add(
        _ q: QueueFixture, _ fields: [String], id: String = "*", to stream: String
    ) async throws {
        let words = ["XADD", q.queue.name.keys.prefix + stream, id] + fields
        _ = try await q.redis.send(words.map { RedisArgument($0) })
    }

    private func addJob(
        _ q: QueueFixture, _ asset: String, id: String = "*", to stream: String
    ) async throws {
        try await add(q, ["asset", asset, "edit", QueueFixture.recipe], id: id, to: stream)
    }

    private func harms(_ q: QueueFixture) async throws -> [JobEvent.StreamHarmed.Kind] {
        try await q.events().compactMap { event in
            guard case .streamHarmed(let harm) = event.data else { return nil }
            return harm.kind
        }
    }

    @Test(arguments: ahead + past, doors)
    func `an entry of any id becomes a job, and neither its stream nor the other one stops`(
        id: String, door: String
    ) async throws {
        let q = try await QueueFixture()
        let other = door == "in" ? "in:interactive" : "in"
        try await addJob(q, "thief", id: id, to: door)
        try await addJob(q, "bystander", to: other)
        #expect(try await q.queue.admit().admitted == 2)
        #expect(try await q.state(of: id + (door == "in" ? "" : "-i")) == "ready")
        for stream in [door, other, door] {
            try await addJob(q, "later", to: stream)
            #expect(try await q.queue.admit().admitted == 1)
        }
        #expect(try await harms(q) == (Self.ahead.contains(id) ? [.renewed] : []))
        try await q.expectHealthy()
        try await q.runToTheEnd()
        #expect(try await q.queue.status().counters["completed"] == 5)
        try await q.expectHealthy()
    }

    @Test(arguments: ahead, doors)
    func `an entry of any id that is no job is a dead letter, and its stream goes on`(
        id: String, door: String
    ) async throws {
        let q = try await QueueFixture()
        try await add(q, ["asset", "thief"], id: id, to: door)
        #expect(try await q.queue.admit().admitted == 1)
        let letter = try await q.queue.record(of: id + (door == "in" ? "" : "-i"))
        #expect(letter?.code == .missingField)
        try await addJob(q, "later", to: door)
        #expect(try await q.queue.admit().admitted == 1)
        #expect(try await q.queue.status()[.ready] == 1)
        try await q.expectHealthy()
    }

    @Test(arguments: ahead + past)
    func `a member of any id is fed, and so are the members after it`(id: String) async throws {
        let q = try await QueueFixture()
        let batch = try await q.open("b", members: 0, sealed: 3)
        try await add(q, ["asset", "thief"], id: id, to: "lane:b")
        while try await q.queue.admit().admitted > 0 {}
        for asset in ["b", "c"] {
            try await add(q, ["asset", asset], to: "lane:b")
            while try await q.queue.admit().admitted > 0 {}
        }
        #expect(try await q.queue.status()[.ready] == 3)
        #expect(try await harms(q) == (Self.ahead.contains(id) ? [.renewed] : []))
        try await q.runToTheEnd()
        #expect(try await q.queue.record(of: batch)?.done == 3)
        #expect(try await q.events().last?.name == "completed")
        try await q.expectHealthy()
    }

    /// A worker of an earlier release removed the last entry that it read by XDEL.
    @Test(arguments: ahead, doors + ["lane:b"])
    func `a stream that an earlier release left closed takes entries again`(
        id: String, stream: String
    ) async throws {
        let q = try await QueueFixture()
        try await q.open("b", members: 0)
        for door in Self.doors { try await addJob(q, "before", to: door) }
        try await add(q, ["asset", "before"], to: "lane:b")
        while try await q.queue.admit().admitted > 0 {}
        #expect(try await q.queue.status()[.ready] == 1)  // the others are parked behind it
        try await q.harm(["XSETID \(stream) \(id) MAXDELETEDID \(id)", "ZADD lanes XX -1 b"])
        _ = try await q.queue.admit()
        #expect(try await harms(q) == [.renewed])
        try await add(
            q, ["asset", "after"] + (stream == "lane:b" ? [] : ["edit", QueueFixture.recipe]),
            to: stream)
        #expect(try await q.queue.admit().admitted == 1)
        #expect(try await harms(q) == [.renewed])
        try await q.expectHealthy()
    }

    @Test func `an entry that closes a stream does not wait for those before it`() async throws {
        var settings = QueueSettings()
        settings.aheadMax = 1
        let q = try await QueueFixture(settings: settings)
        for asset in ["a", "b", "c"] { try await addJob(q, asset, to: "in") }
        #expect(try await q.queue.admit().admitted == 1)

        try await addJob(q, "thief", id: "18446744073709551615-18446744073709551614", to: "in")
        try await addJob(q, "victim", to: "in")
        await #expect(throws: RedisError.self) { try await addJob(q, "honest", to: "in") }
        let admission = try await q.queue.admit()
        #expect(admission.admitted == 2 && admission.isHeld)
        #expect(try await q.state(of: Self.highest) == "ready")
        #expect(try await harms(q) == [.renewed])

        try await addJob(q, "honest", to: "in")
        #expect(try await q.queue.admit().admitted == 0)
        #expect(try await q.queue.status()[.incoming] == 3)
        try await q.expectHealthy()
        try await q.runToTheEnd()
        #expect(try await q.queue.status().counters["completed"] == 6)
        #expect(try await q.queue.status().counters["trimmed"] == nil)
        try await q.expectHealthy()
    }

    @Test(arguments: doors)
    func `edits of one photo keep their order when an entry closes their stream`(
        door: String
    ) async throws {
        var settings = QueueSettings()
        settings.aheadMax = 0
        let q = try await QueueFixture(settings: settings)
        // From here on the server gives ids of the future, too.
        try await addJob(q, "thief", id: "9999999999999-0", to: door)
        for id in ["e1", "e2", "e3"] {
            try await add(
                q, ["asset", "photo", "edit", QueueFixture.recipe, "id", id],
                to: door)
        }
        try await addJob(q, "closer", id: Self.highest, to: door)
        _ = try await q.queue.admit()
        let queue = JobQueue(name: q.queue.name, redis: q.redis)
        while try await queue.admit().admitted > 0 {}
        for id in ["e1", "e2", "e3"] {
            let claim = try #require(
                try await queue.claim(by: "w", count: 9).jobs.first { $0.asset == "photo" })
            #expect(claim.job == id)
            try await q.finish(claim)
        }
        try await q.expectHealthy()
    }

    private func request(
        _ id: String, _ tenant: String, _ priority: Priority? = nil
    ) throws -> JobRequest {
        var scheduling = Scheduling()
        scheduling.tenant = try JobID(tenant)
        scheduling.priority = priority
        return JobRequest(
            id: try JobID(id), asset: try AssetPath("\(id).jpg"),
            edit: try Edit(json: QueueFixture.recipe), scheduling: scheduling)
    }

    private func stored(_ q: QueueFixture, by tenant: String) async throws -> Int {
        try await q.queue.stored(by: JobID(tenant))
    }

    /// Jobs that several tenants submit at about the same time share a call.
    @Test func `a stream that a producer has closed fails the jobs of no other stream`()
        async throws
    {
        let q = try await QueueFixture()
        try await add(q, ["asset", "x"], to: "in")
        _ = try await q.queue.admit()
        let letter = try #require(try await q.queue.dead(offset: 0, count: 1).first?.job)
        let before = try await stored(q, by: "default")
        try await addJob(q, "thief", id: Self.highest, to: "in:interactive")
        let requests = [
            try request("one", "t"), try request("two", "u", .interactive),
            try request(letter, "u", .interactive), try request("three", "t"),
        ]
        let answers = try await q.queue.submit(requests, backlogMax: nil)
        #expect(
            answers.map { answer -> String in
                switch answer {
                case .success(.accepted): "accepted"
                case .success(let other): "\(other)"
                case .failure(let error): "\(error.code)"
                }
            } == ["accepted", "ingressClosed", "ingressClosed", "accepted"])
        // Nothing of the refused ones has happened, and the dead letter that has an id of theirs stays.
        #expect(try await q.queue.record(of: letter)?.state == .dead)
        #expect(try await stored(q, by: "u") == 0)
        #expect(try await stored(q, by: "default") == before)
        #expect(try await q.queue.backlog(of: JobID("u")) == 0)

        #expect(try await q.queue.admit().admitted == 3)
        let again = try await q.queue.submit(requests, backlogMax: nil)
        #expect(
            again.filter { if case .success(.accepted) = $0 { true } else { false } }.count == 2)
        try await q.runToTheEnd()
        #expect(try await q.queue.status().counters["completed"] == 5)
        #expect(try await stored(q, by: "t") == 0)
        #expect(try await stored(q, by: "u") == 0)
        try await q.expectHealthy()
    }

    @Test func `a job is accepted by an empty stream that an id has closed`() async throws {
        let q = try await QueueFixture()
        try await q.admit("a")
        try await q.harm(["XSETID in \(Self.highest) MAXDELETEDID \(Self.highest)"])
        guard case .accepted = try await q.queue.submit(request("b", "t"), backlogMax: nil) else {
            Issue.record("it is not accepted")
            return
        }
        #expect(try await harms(q) == [.renewed])
        #expect(try await q.queue.status().counters["renewed"] == 1)
        #expect(try await q.queue.admit().admitted == 1)
        try await q.expectHealthy()
    }

    @Test func `a job whose tenant has a damaged key fails alone`() async throws {
        let q = try await QueueFixture()
        try await q.harm(["SET backlog:bad 1"])
        let answers = try await q.queue.submit(
            [try request("a", "t"), try request("b", "bad"), try request("c", "t")],
            backlogMax: nil)
        guard case .failure(let error) = answers[1], case .success = answers[2] else {
            Issue.record("\(answers)")
            return
        }
        #expect(error.code == .damagedRecord && error.message.contains("WRONGTYPE"))
        #expect(try await q.queue.admit().admitted == 2)
        try await q.harm(["DEL backlog:bad"])
        try await q.expectHealthy()
    }

    @Test(arguments: ["1-18446744073709551615", "1-9000000000", "1-5", "2-1", "*"])
    func `members with numbers are refused after an entry that is not the next number`(
        id: String
    ) async throws {
        let q = try await QueueFixture()
        let batch = try await q.open("b", members: 0)
        _ = try await q.queue.admit()
        try await add(q, ["asset", "x"], id: id, to: "lane:b")
        let members = try (0..<3).map { JobQueue.Member(asset: try AssetPath("\($0)")) }
        for _ in 0..<2 {
            #expect(
                try await q.queue.add(members, to: batch, from: 0) == .unnumbered(after: 1))
        }
        #expect(try await harms(q) == [.renewed])
        while try await q.queue.admit().admitted > 0 {}
        #expect(try await q.queue.add(members, to: batch, from: 0) == .unnumbered(after: 1))
        try await q.queue.seal(batch, jobs: 1)
        try await q.runToTheEnd()
        #expect(try await q.queue.record(of: batch)?.isComplete == true)
        try await q.expectHealthy()
    }
}
