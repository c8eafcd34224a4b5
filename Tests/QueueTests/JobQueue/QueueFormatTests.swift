import Edits
import Logging
import MinilabTesting
import Redis
import Synchronization
import Testing

@testable import JobQueue

/// A queue states its format, and the lowest one that a program must know: what has no number of its own is covered by it.
@Suite("The format of a queue") struct QueueFormatTests {
    private static let next = QueueFormat(known: 3, least: 3)
    private let logger = Logger(label: "test")

    private func watch(
        _ q: QueueFixture, as program: QueueProgram = .worker, _ own: QueueFormat = .own
    ) -> ServerWatch {
        ServerWatch(q.queue, as: program, logger, askEvery: .milliseconds(10), own)
    }

    private func format(of q: QueueFixture) async throws -> [String?] {
        [try await q.field("format", of: "virtual"), try await q.field("least", of: "virtual")]
    }

    private func hear(_ name: String, _ format: Int?, at q: QueueFixture) async throws {
        var info = WorkerInfo(
            name: name, slots: 1, version: "1", startedAt: "2026-01-01T00:00:00Z")
        info.queueFormat = format
        _ = try await q.queue.beat([], by: info)
    }

    @Test(arguments: [QueueProgram.worker, .gateway])
    func `a worker or a gateway states it at its start, and commands change nothing`(
        _ program: QueueProgram
    ) async throws {
        let q = try await QueueFixture()
        try await watch(q, as: .operator).ask()
        #expect(try await format(of: q) == [nil, nil])
        try await watch(q, as: program).ask()
        #expect(try await format(of: q) == ["2", "2"])
    }

    @Test func `every program refuses one of a later release with a sentence, and changes nothing`()
        async throws
    {
        let q = try await QueueFixture()
        try await q.admit("a")
        try await q.harm(["HSET virtual format 4 least 3"])
        for program in QueueProgram.allCases {
            let error = await #expect(throws: QueueError.self) {
                try await watch(q, as: program).ask()
            }
            #expect(error?.code == .laterFormat)
            for word in [
                "\(q.queue.name) has format 4", "know format 3", "knows 2. It has changed nothing.",
                "Upgrade",
            ] {
                #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
            }
        }
        for call in [
            { try await q.queue.checkFormat() }, { _ = try await q.queue.diagnose(repair: true) },
        ] {
            let error = await #expect(throws: QueueError.self) { try await call() }
            #expect(error?.code == .laterFormat)
        }
        #expect(try await format(of: q) == ["4", "3"])
        #expect(try await q.state(of: "a") == "ready")
    }

    @Test func `one that this release may read is used, and not lowered`() async throws {
        let q = try await QueueFixture()
        try await q.harm(["HSET virtual format 3 least 1"])
        try await watch(q).ask()
        #expect(try await q.queue.diagnose().isHealthy)
        #expect(try await format(of: q) == ["3", "1"])
    }

    @Test func `it is raised when no worker of an earlier one is left, which then does not start`()
        async throws
    {
        let q = try await QueueFixture()
        try await watch(q).ask()
        try await hear("older", nil, at: q)
        try await hear("old", 2, at: q)
        try await hear("new", 3, at: q)
        let newer = watch(q, as: .worker, Self.next)
        for older in ["older", "old"] {
            try await newer.ask()
            #expect(try await format(of: q) == ["2", "2"])
            #expect(try await q.queue.raiseFormat(Self.next) != "new")
            try await watch(q).ask()
            try await q.queue.leave(older)
        }
        try await newer.ask()
        #expect(try await format(of: q) == ["3", "3"])
        let late = await #expect(throws: QueueError.self) { try await watch(q).ask() }
        #expect(late?.code == .laterFormat)
    }

    @Test func `a program that runs when it is raised ends by itself`() async throws {
        let q = try await QueueFixture()
        let running = watch(q, as: .gateway)
        try await running.ask()
        let task = Task { try await running.run() }
        #expect(try await q.queue.raiseFormat(Self.next) == nil)
        let error = await #expect(throws: QueueError.self) { try await task.value }
        #expect(error?.code == .laterFormat)
        // What it did since it asked last was under the new format.
        let message = error?.message ?? ""
        #expect(message.contains("may have worked on the queue for up to "), "\(message)")
        #expect(!message.contains("changed nothing"), "\(message)")
    }

    @Test func `a format that Redis refuses to raise is told, and the worker works`() async throws {
        let server = try await RedisServer.start(arguments: ["--repl-diskless-sync-delay", "0"])
        let replica = try await RedisServer.start(
            arguments: ["--replicaof", "127.0.0.1 \(server.port)"])
        let q = try await QueueFixture(on: server)
        // One replica is in step and two are wanted, which INFO does not tell.
        try await server.command("CONFIG", "SET", "min-replicas-to-write", "2")
        try await eventually("the replica is in step") {
            try await server.command("INFO", "replication").contains("min_slaves_good_slaves:1")
                ? true : nil
        }
        let lines = RecordedLines()
        let refused = ServerWatch(q.queue, as: .worker, lines.logger, askEvery: .milliseconds(10))
        try await refused.ask()
        #expect(
            lines.all.contains { $0.contains("because Redis refused to raise it: NOREPLICAS") },
            "\(lines.all)")
        #expect(try await format(of: q) == [nil, nil])
        try await server.command("CONFIG", "SET", "min-replicas-to-write", "0")
        try await refused.ask()
        #expect(try await format(of: q) == ["2", "2"])
        replica.stop()
        server.stop()
    }

    @Test func `damage is neither a later format nor in the way of the next one`() async throws {
        let q = try await QueueFixture()
        try await q.harm(["HSET virtual format x least y"])
        try await watch(q).ask()
        #expect(try await format(of: q) == ["2", "2"])
        try await q.harm(["HSET workers:info w x", "ZADD workers 1 w"])
        #expect(try await q.queue.raiseFormat(Self.next) == "w")
    }

    @Test func `a line of a file of dead jobs names its format`() async throws {
        let q = try await QueueFixture()
        try await q.prepare("dead")
        let ids = try await q.redis.send([
            "ZRANGE", RedisArgument(q.queue.name.keys.dead), "0", "-1",
        ])
        let jobs = try await q.queue.spilled(ids.array?.compactMap(\.string) ?? [])
        #expect(!jobs.isEmpty && jobs.allSatisfy { $0.format == 1 })
    }
}
