import Edits
import Logging
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

/// A program asks at its start for all that its scripts call: what is refused halfway would leave half a transition.
@Suite("What a server must run") struct ServerRightsTests {
    /// The queue of a user with all rights but some.
    private func queue(
        without rules: String..., on server: RedisServer
    ) async throws -> JobQueue {
        try await server.command(
            ["ACL", "SETUSER", "w", "on", ">w", "resetkeys", "~minilab:*", "+@all"] + rules)
        let url = try RedisURL("redis://w:w@127.0.0.1:\(server.port)")
        return JobQueue(
            name: .photos,
            redis: RedisClient(RedisConfiguration(url: url), logger: Logger(label: "test")))
    }

    @Test func `a user that lacks commands of its scripts is refused with their names`()
        async throws
    {
        let server = try await RedisServer.start()
        let queue = try await queue(without: "-memory|usage", "-info", "-lpos", on: server)
        let refusal = try await queue.refusal()
        #expect(
            refusal.contains(
                "User w may not run INFO, MEMORY USAGE on the keys minilab:{photos}:*"),
            "\(refusal)")
        #expect(refusal.contains("ops/deploy/secrets") && refusal.contains("ACL LOAD"))
        // A worker needs no LPOS; the doctor does.
        #expect(!refusal.contains("LPOS"))
        #expect(try await queue.refusal(as: .operator).contains("INFO, LPOS"))
        let walk = await #expect(throws: QueueError.self) { try await queue.diagnose() }
        #expect(walk?.code == .unsafeServer)

        // The command of the sentence.
        try await server.command("ACL", "SETUSER", "w", "+info", "+memory|usage")
        _ = try await queue.checkServer(as: .worker)
        server.stop()
    }

    @Test func `keys that are another queue's are refused`() async throws {
        let server = try await RedisServer.start()
        let queue = try await queue(without: "resetkeys", "~minilab:{other}:*", on: server)
        let error = await #expect(throws: QueueError.self) {
            try await queue.checkServer(as: .worker)
        }
        #expect(error?.message.contains("minilab:{photos}:") == true, "\(error?.message ?? "")")
        server.stop()
    }

    @Test func `a user that may run no script is refused, not waited for`() async throws {
        let server = try await RedisServer.start()
        let queue = try await queue(without: "-script", on: server)
        #expect(try await queue.refusal().contains("EVALSHA, SCRIPT LOAD"))
        server.stop()
    }

    @Test func `a command that the server does not have is refused with its name`() async throws {
        let other = try await RedisServer.start(
            exception: .renamedCommand,
            arguments: ["--proto-max-bulk-len", "2mb", "--rename-command", "HINCRBY", ""])
        let q = try await QueueFixture(on: other)
        let refused = try await q.queue.refusal()
        #expect(refused.contains("no command HINCRBY") && refused.contains("rename-command"))
        other.stop()
    }

    @Test func `a server whose values are too short for a large batch is refused`() async throws {
        let server = try await RedisServer.start(arguments: ["--proto-max-bulk-len", "1mb"])
        let q = try await QueueFixture(on: server)
        let refusal = try await q.queue.refusal()
        #expect(refusal.contains("CONFIG SET proto-max-bulk-len 2mb"), "\(refusal)")
        try await server.command("CONFIG", "SET", "proto-max-bulk-len", "2mb")
        _ = try await q.queue.checkServer(as: .worker)
        #expect(try await q.redis.send(["DBSIZE"]).int == 0, "a question leaves no key")
        server.stop()
    }

    @Test func `Redis 6 is refused by name of what is needed, and so is a server without Lua`() {
        for message in [
            "ERR Error compiling script (new function): user_script:1: unexpected symbol near '#'",
            "ERR unknown command 'SCRIPT'",
            "ERR script tried accessing undeclared key",
        ] {
            let verdict = ServerVerdict(
                ServerAnswers(
                    user: "default", queue: .photos, rights: .noScripts(message)))
            #expect(verdict.refusals.count == 1 && !verdict.runsScripts)
            #expect(verdict.refusals[0].contains("Redis 7.0 or newer"))
            #expect(verdict.refusals[0].contains(message))
        }
    }

    @Test func `of Redis 6 each command says which Redis it needs, not how it compiles Lua`()
        async throws
    {
        // As Redis 6.2 answers.
        let server = try await FakeServer.start { command in
            command.words.first == "SCRIPT"
                ? .bytes(
                    "-ERR Error compiling script (new function): user_script:1: unexpected symbol near '#' \r\n"
                ) : .bytes("-ERR unknown command `\(command.words[0])`\r\n")
        }
        let queue = JobQueue(
            name: .photos,
            redis: RedisClient(
                RedisConfiguration(url: try RedisURL(server.url)), logger: Logger(label: "test")))
        for program in QueueProgram.allCases {
            #expect(try await queue.refusal(as: program).contains("use Redis 7.0 or newer"))
        }
    }

    @Test func `rights that cannot be asked are told about`() {
        let verdict = ServerVerdict(
            ServerAnswers(
                user: "w", queue: .photos, rights: .unknown,
                facts: ["maxmemory_policy": "noeviction", "aof_enabled": "1"]))
        #expect(verdict.refusals == [])
        #expect(verdict.warnings.count == 1 && verdict.warnings[0].contains("user w"))
    }
}
