import Edits
import Logging
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

extension Trait where Self == ConditionTrait {
    /// Valkey 9.1.2 and later read their file as no user, and are not asked.
    fileprivate static var onServersThatReplayAsDefault: Self {
        .enabled("needs a server that reads its file as user default") {
            let server = try await RedisServer.start()
            let lines = try await server.command("INFO", "server").split(
                whereSeparator: \.isNewline)
            server.stop()
            let version = lines.first { $0.hasPrefix("valkey_version:") }?.dropFirst(15)
            return ServerAnswers.replaysAsDefault(
                version.map { ["valkey_version": "\($0)"] } ?? [:])
        }
    }
}

/// Redis reads its append-only file as user `default`: what that one may not do is lost by a restart.
@Suite("Whether a restart of Redis keeps the jobs") struct ServerReplayTests {
    private static let rights =
        "resetkeys ~minilab:* resetchannels -@all +@read +@write +@connection +info +time +scan +script|load +evalsha"

    /// A server with an append-only file and a user `w` that may run all scripts, and the queue of that user.
    private func queue(
        _ rules: String = "+acl|dryrun", default rule: String
    ) async throws -> (RedisServer, JobQueue) {
        let server = try await RedisServer.start()
        try await server.command(
            ["ACL", "SETUSER", "w", "on", ">w"]
                + (Self.rights + " " + rules).split(separator: " ").map(String.init))
        try await server.command(
            ["ACL", "SETUSER", "default"] + rule.split(separator: " ").map(String.init))
        return (server, try queue(on: server, user: "w:w"))
    }

    private func queue(on server: RedisServer, user: String) throws -> JobQueue {
        let url = try RedisURL("redis://\(user)@127.0.0.1:\(server.port)")
        return JobQueue(
            name: .photos,
            redis: RedisClient(RedisConfiguration(url: url), logger: Logger(label: "test")))
    }

    @Test(
        .onServersThatReplayAsDefault,
        arguments: [
            ("reset off", "HSET"), ("reset off +@all", "HSET"),
            ("reset off ~* +multi +exec", "HSET"),
            ("reset off ~* +@all -xadd", "XADD on"),
            // Good for release 0.5; the gateway's records have keys of their own since then, also to a worker that asks.
            ("reset off ~minilab:* +@all", "HSET"),
        ]) func `a server that would lose them is refused with what mends it`(
            rule: String, command: String
        ) async throws
    {
        let (server, queue) = try await queue(default: rule)
        let refusal = try await queue.refusal()
        for part in [
            "lose jobs at its next restart", command, "ACL SETUSER default +@all '~*' '&*'",
            "BGREWRITEAOF", "restart Redis only after",
        ] { #expect(refusal.contains(part), "\(refusal)") }
        let doctor = try await queue.diagnose(as: .worker).open
        #expect(doctor.map(\.kind) == [.serverUnsafe] && doctor[0].sentence == refusal)

        // The commands of the sentence, as user admin.
        let admin = try self.queue(on: server, user: "admin:\(RedisUser.admin.password)")
        _ = try await admin.send("ACL", "SETUSER", "default", "+@all", "~*", "&*")
        #expect(try await queue.checkServer(as: .worker) == [])
        server.stop()
    }

    @Test func `rights of default alone decide, not whether it is on`() async throws {
        let (server, queue) = try await queue(default: "off +@all ~* &*")
        #expect(try await queue.checkServer(as: .worker) == [])
        server.stop()
    }

    @Test(.onServersThatReplayAsDefault)
    func `a user of an earlier release, which may not ask, is refused with both commands`()
        async throws
    {
        let (server, queue) = try await queue("", default: "off +@all ~* &*")
        let refusal = try await queue.refusal()
        #expect(
            refusal.contains("ACL SETUSER w '+acl|dryrun'")
                && refusal.contains("ACL SETUSER default"),
            "\(refusal)")
        server.stop()
    }

    private func expectUnknown(_ queue: JobQueue) async throws {
        let warnings = try await queue.checkServer(as: .worker)
        #expect(warnings.count == 1 && warnings[0].contains("cannot be asked"), "\(warnings)")
    }

    @Test(.onServersThatReplayAsDefault)
    func `a server that does not know the question is told about, and is not called safe`()
        async throws
    {
        let server = try await RedisServer.start(
            exception: .renamedCommand,
            arguments: [
                "--appendonly", "yes", "--proto-max-bulk-len", "2mb", "--rename-command", "ACL", "",
            ])
        try await expectUnknown(try await QueueFixture(on: server).queue)
        server.stop()
    }

    @Test(.onServersThatReplayAsDefault)
    func `a server without users whose default may not ask is told about`() async throws {
        let server = try await RedisServer.start()
        try await server.command(
            "ACL", "SETUSER", "default", "on", "nopass", "+@all", "-acl", "~*", "&*")
        let url = try RedisURL(server.url(as: nil))
        try await expectUnknown(
            JobQueue(
                name: .photos,
                redis: RedisClient(RedisConfiguration(url: url), logger: Logger(label: "test"))))
        server.stop()
    }

    @Test(
        arguments: [
            (["aof_enabled": "0"], false), ([:], true), (["aof_enabled": "1"], true),
            (["aof_enabled": "1", "valkey_version": "8.1.1"], true),
            (["aof_enabled": "1", "valkey_version": "9.1.1"], true),
            (["aof_enabled": "1", "valkey_version": "9.1.2"], false),
            (["aof_enabled": "1", "valkey_version": "10.0.0"], false),
            (["aof_enabled": "1", "redis_version": "99.0.0"], true),
        ] as [([String: String], Bool)])
    func
        `every server with an append-only file is asked, except a Valkey that is known to be mended`(
            facts: [String: String], isAsked: Bool
        )
    {
        #expect(ServerAnswers.replaysAsDefault(facts) == isAsked)
    }

    @Test(.onServersThatReplayAsDefault)
    func `another server that takes over is told about, and ends no program`() async throws {
        let (server, queue) = try await queue(default: "off +@all ~* &*")
        let lines = RecordedLines()
        let watch = ServerWatch(queue, as: .worker, lines.logger, askEvery: .milliseconds(10))
        try await watch.ask()
        let watching = Task { try await watch.run() }
        let admin = try self.queue(on: server, user: "admin:\(RedisUser.admin.password)")
        _ = try await admin.send("ACL", "SETUSER", "default", "reset")
        try await eventually("the watch tells") {
            lines.all.contains { $0.contains("lose jobs at its next restart") } ? true : nil
        }
        watching.cancel()
        try await watching.value
        #expect(lines.all.count == 1, "it is told once")

        // A program that has not started yet is refused.
        let late = ServerWatch(queue, as: .worker, lines.logger, askEvery: .milliseconds(10))
        await #expect(throws: QueueError.self) { try await late.run() }
        server.stop()
    }
}
