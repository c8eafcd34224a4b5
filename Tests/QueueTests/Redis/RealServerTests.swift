import MinilabTesting
import Testing

@testable import Redis

@Suite("A real Redis", .timeLimit(.minutes(10))) struct RealServerTests {
    @Test func `values of any bytes and size come back as they were`() async throws {
        // Of what this Redis may be given, not of what a producer's may.
        let server = try await RedisServer.start(arguments: ["--proto-max-bulk-len", "512mb"])
        try await withClient(server.url) { client async throws in
            var generator = SeededGenerator()
            generator.printSeed()
            for size in [0, 1, 65_535, 65_536, 1_000_003, 8 << 20] {
                let value = (0..<size).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
                let key = RedisArgument("values")
                #expect(try await client.send(["SET", key, RedisArgument(value)]).string == "OK")
                let reply = try await client.send(["GET", key])
                #expect(reply.bytes?.count == size)
                #expect(reply.bytes == value)
            }
            #expect(try await client.send(["GET", "none"]).isNull)
        }
    }

    @Test func `calls made together are answered each with its own reply`() async throws {
        let server = try await SharedRedis.server()
        try await withClient(server.url, thread: .own) { client async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<5000 {
                    group.addTask {
                        let reply = try await client.send(["ECHO", RedisArgument(number)])
                        #expect(reply.int == Int64(number))
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `a Unix socket, a database and a name work together`() async throws {
        let server = try await SharedRedis.server()
        try await withClient(server.socketURL + "?db=3", configure: { $0.name = "worker-7" }) {
            client async throws in
            _ = try await client.send(["SET", "three", "in three"])
            let info = try await client.send(["CLIENT", "INFO"]).string ?? ""
            #expect(info.contains("name=worker-7"))
            #expect(info.contains("db=3"))
        }
        try await withClient(server.socketURL) { client async throws in
            #expect(try await client.send(["GET", "three"]).isNull)
        }
    }

    @Test func `a database that does not exist is a refused login`() async throws {
        let server = try await SharedRedis.server()
        try await withClient(server.socketURL + "?db=99") { client async throws in
            let error = await failure { () throws(RedisError) in try await client.send(["PING"]) }
            #expect(error?.code == .loginRefused)
            #expect(error?.message.contains("database 99") == true)
        }
    }

    @Test func `users log in with their passwords and keep to their rights`() async throws {
        let server = try await RedisServer.start()
        try await withClient(server.url) { admin async throws in
            _ = try await admin.send([
                "ACL", "SETUSER", "worker", "on", ">pass/word", "~minilab:*", "+@string",
                "+client|setname",
            ])
        }
        let place = "127.0.0.1:\(server.port)"
        try await withClient(
            "redis://worker:pass%2Fword@\(place)", configure: { $0.name = "w" }
        ) { client async throws in
            #expect(try await client.send(["SET", "minilab:a", "1"]).string == "OK")
            for command in [["SET", "other", "1"], ["FLUSHALL"]] as [[RedisArgument]] {
                let error = await failure { () throws(RedisError) in
                    try await client.send(command)
                }
                #expect(error?.code == .server)
                #expect(error?.serverError?.prefix == "NOPERM")
            }
        }
        try await withClient("redis://worker:wrong@\(place)") { client async throws in
            let error = await failure { () throws(RedisError) in
                try await client.send(["GET", "a"])
            }
            #expect(error?.code == .loginRefused)
            #expect(error?.serverError?.prefix == "WRONGPASS")
            #expect(error?.message.contains("user \"worker\"") == true)
            #expect(error?.message.contains("wrong@") == false)
        }
    }

    @Test func `a password that is set right later is found without a restart`() async throws {
        let server = try await RedisServer.start()
        try await withClient("redis://late:secret@127.0.0.1:\(server.port)") {
            client async throws in
            let error = await failure { () throws(RedisError) in
                try await client.send(["GET", "a"])
            }
            #expect(error?.code == .loginRefused)
            try await withClient(server.url) { admin async throws in
                _ = try await admin.send([
                    "ACL", "SETUSER", "late", "on", ">secret", "allkeys", "+@all",
                ])
            }
            try await eventually("the login is accepted") {
                let error = await failure { () throws(RedisError) in
                    try await client.send(["GET", "a"])
                }
                return error == nil ? () : nil
            }
        }
    }

    @Test func `a server with a password refuses a client without one`() async throws {
        let server = try await RedisServer.start(
            exception: .onePassword, arguments: ["--requirepass", "secret"])
        try await withClient(server.url) { client async throws in
            let error = await failure { () throws(RedisError) in
                try await client.send(["GET", "a"])
            }
            #expect(error?.code == .loginRefused)
            #expect(error?.serverError?.prefix == "NOAUTH")
        }
        // The first command of a login differs, and the advice does not.
        for (path, name) in [("", ""), ("", "minilab"), ("/3", "")] {
            try await withClient(
                "redis://127.0.0.1:\(server.port)\(path)", configure: { $0.name = name }
            ) { client async throws in
                let error = await failure { () throws(RedisError) in
                    try await client.send(["GET", "a"])
                }
                let message = error?.message ?? ""
                #expect(message.contains("set redis.user and redis.password.file"), "\(message)")
                #expect(!message.contains("client name") && !message.contains("check database"))
            }
        }
        try await withClient("redis://:secret@127.0.0.1:\(server.port)") { client async throws in
            #expect(try await client.send(["GET", "a"]).isNull)
        }
    }

    @Test func `error replies are thrown with their prefix`() async throws {
        let server = try await RedisServer.start(
            arguments: ["--maxmemory", "3mb", "--proto-max-bulk-len", "512mb"])
        try await withClient(server.url) { client async throws in
            _ = try await client.send(["RPUSH", "list", "x"])
            let cases: [(command: [RedisArgument], prefix: String, mayHaveExecuted: Bool)] = [
                (["GET", "list"], "WRONGTYPE", true), (["NOSUCH"], "ERR", true),
                (["EVALSHA", "ffffffffffffffffffffffffffffffffffffffff", 0], "NOSCRIPT", false),
                (["SET", "k", RedisArgument([UInt8](repeating: 0, count: 4 << 20))], "OOM", true),
            ]
            for (command, prefix, mayHaveExecuted) in cases {
                let error = await failure { () throws(RedisError) in
                    try await client.send(command)
                }
                #expect(error?.code == .server)
                #expect(error?.serverError?.prefix == prefix)
                #expect(error?.mayHaveExecuted == mayHaveExecuted)
            }
            _ = try await client.send(["REPLICAOF", "127.0.0.1", "1"])
            let error = await failure { () throws(RedisError) in
                try await client.send(["SET", "k", "v"])
            }
            #expect(error?.serverError?.prefix == "READONLY")
        }
    }

    @Test func `a blocking read works with a timeout longer than its block`() async throws {
        let server = try await SharedRedis.server()
        try await withClient(
            server.url, configure: { $0.commandTimeout = .milliseconds(50) }
        ) { client async throws in
            let reply = try await client.send(
                ["XREAD", "BLOCK", 100, "STREAMS", "none", "$"], timeout: .seconds(5))
            #expect(reply.isNull)
        }
    }

    private func waitUntilSomeoneBlocks(_ admin: RedisClient) async throws {
        try await eventually("a client waits in BLPOP") {
            let clients = try await admin.send(["CLIENT", "LIST"]).string
            return clients?.contains("cmd=blpop") == true ? () : nil
        }
    }

    @Test func `after CLIENT KILL the next call has a new connection`() async throws {
        let server = try await RedisServer.start()
        try await withClient(server.url) { client async throws in
            try await withClient(server.socketURL) { admin async throws in
                for _ in 0..<10 {
                    #expect(try await client.send(["ECHO", "a"]).string == "a")
                    let blocked = Task {
                        await failure { () throws(RedisError) in
                            try await client.send(["BLPOP", "none", 0])
                        }
                    }
                    try await waitUntilSomeoneBlocks(admin)
                    #expect(try await admin.send(["CLIENT", "KILL", "SKIPME", "yes"]).int == 1)
                    let error = await blocked.value
                    #expect(error?.code == .connectionLost)
                    #expect(error?.mayHaveExecuted == true)
                }
            }
        }
    }

    @Test func `calls made while the server restarts wait for it`() async throws {
        let server = try await RedisServer.start(syncsEachWrite: true)
        try await withClient(
            server.url, configure: { $0.commandTimeout = .seconds(20) }
        ) { client async throws in
            _ = try await client.send(["SET", "k", "kept"])
            let blocked = Task {
                await failure { () throws(RedisError) in
                    try await client.send(["BLPOP", "none", 0])
                }
            }
            try await withClient(server.socketURL) { admin async throws in
                try await waitUntilSomeoneBlocks(admin)
            }
            server.kill(9)
            // Ends when the client has noticed, so that what comes next is not yet written.
            #expect(await blocked.value?.code == .connectionLost)
            try await server.waitForEnd()
            let call = Task { try await client.send(["GET", "k"]) }
            try await server.launch()
            #expect(try await call.value.string == "kept")
        }
    }

    @Test func `a frozen server is a timeout and works again after it thaws`() async throws {
        let server = try await RedisServer.start()
        try await withClient(server.url) { client async throws in
            _ = try await client.send(["SET", "k", "v"])
            server.kill(19)  // SIGSTOP: the kernel still takes connections and bytes.
            let error = await failure { () throws(RedisError) in
                try await client.send(["INCR", "n"], timeout: .seconds(5))
            }
            #expect(error?.code == .timeout)
            #expect(error?.mayHaveExecuted == true)
            server.kill(18)
            #expect(try await client.send(["GET", "k"]).string == "v")
        }
    }

    @Test func `an address where nobody listens is named with the reason`() async throws {
        let server = try await RedisServer.start()
        let port = server.port
        server.stop()
        try await withClient("redis://127.0.0.1:\(port)") { client async throws in
            let error = await failure { () throws(RedisError) in
                try await client.send(["GET", "k"], timeout: .seconds(5))
            }
            #expect(error?.code == .unreachable)
            #expect(error?.mayHaveExecuted == false)
            #expect(error?.message.contains("127.0.0.1:\(port)") == true)
            #expect(error?.message.contains("refused") == true, "\(error?.message ?? "")")
        }
    }
}
