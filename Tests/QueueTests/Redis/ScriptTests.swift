import MinilabTesting
import Testing

@testable import Redis

@Suite("RedisScript", .timeLimit(.minutes(10))) struct ScriptTests {
    private let join = RedisScript(
        name: "join", source: "return {KEYS[1], ARGV[1], redis.call('INCR', KEYS[1])}")

    @Test func `a script gets its keys and arguments and is sent once`() async throws {
        let server = try await RedisServer.start()
        try await withClient(server.url) { client async throws in
            for count in 1...3 {
                let reply = try await client.run(join, keys: ["n"], arguments: ["a\0b"])
                #expect(
                    reply
                        == .array([
                            .bulk(Array("n".utf8)), .bulk(Array("a\0b".utf8)),
                            .integer(Int64(count)),
                        ]))
            }
            let stats = try await client.send(["INFO", "commandstats"]).string ?? ""
            #expect(stats.contains("cmdstat_script|load:calls=1,"))
            #expect(stats.contains("cmdstat_evalsha:calls=3,"))
        }
    }

    @Test func `a script that the server forgot is loaded again`() async throws {
        let server = try await RedisServer.start()
        try await withClient(server.url) { client async throws in
            _ = try await client.run(join, keys: ["n"], arguments: [""])
            _ = try await client.send(["SCRIPT", "FLUSH"])
            let counts = try await withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        let reply = try await client.run(join, keys: ["n"], arguments: [""])
                        return reply.array?.last?.int ?? -1
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts.sorted() == Array(2...51), "a script ran twice or not at all")
            try await server.restart()
            // The first call may still go to the connection that the restart ended.
            _ = await failure { () throws(RedisError) in try await client.send(["PING"]) }
            #expect(try await client.run(join, keys: ["m"], arguments: [""]).array?.last?.int == 1)
        }
    }

    @Test func `a script that does not compile names itself`() async throws {
        let server = try await SharedRedis.server()
        try await withClient(server.url) { client async throws in
            let wrong = RedisScript(name: "wrong", source: "return (")
            let error = await failure { () throws(RedisError) in
                try await client.run(wrong, keys: [], arguments: [])
            }
            #expect(error?.code == .server)
            #expect(error?.message.contains("script wrong") == true)
            #expect(error?.mayHaveExecuted == false)
        }
    }

    @Test func `an error inside a script may come after its first writes`() async throws {
        let server = try await SharedRedis.server()
        try await withClient(server.url) { client async throws in
            let half = RedisScript(
                name: "half",
                source: "redis.call('SET', KEYS[1], 'x') return redis.call('LPUSH', KEYS[1], 1)")
            let error = await failure { () throws(RedisError) in
                try await client.run(half, keys: ["half"], arguments: [])
            }
            #expect(error?.serverError?.prefix == "WRONGTYPE")
            #expect(error?.mayHaveExecuted == true)
            #expect(try await client.send(["GET", "half"]).string == "x")
        }
    }

    @Test func `a script that the server always forgets ends with NOSCRIPT`() async throws {
        let server = try await FakeServer.start { command in
            command.words[0] == "SCRIPT"
                ? .bytes(FakeServer.bulk(String(repeating: "a", count: 40)))
                : .bytes("-NOSCRIPT No matching script.\r\n")
        }
        try await withClient(server.url) { client async throws in
            let error = await failure { () throws(RedisError) in
                try await client.run(join, keys: ["n"], arguments: [])
            }
            #expect(error?.serverError?.prefix == "NOSCRIPT")
            #expect(error?.mayHaveExecuted == false)
        }
    }

    @Test func `a reply to SCRIPT LOAD that is no digest is a protocol violation`() async throws {
        let server = try await FakeServer.start { _ in .bytes(":7\r\n") }
        try await withClient(server.url) { client async throws in
            let error = await failure { () throws(RedisError) in
                try await client.run(join, keys: ["n"], arguments: [])
            }
            #expect(error?.code == .protocolViolation)
        }
    }
}
