import Synchronization
import MinilabTesting
import Testing

@testable import Redis

@Suite("A server that misbehaves", .timeLimit(.minutes(10))) struct BadServerTests {
    /// What a server with bad nerves does with an ECHO.
    private static func answer(
        to text: String, using generator: inout SeededGenerator
    ) -> FakeServer.Answer {
        let reply = FakeServer.bulk(text)
        let cut = reply.index(
            reply.startIndex, offsetBy: Int.random(in: 0..<reply.count, using: &generator))
        return switch Int.random(in: 0..<1000, using: &generator) {
        case 0..<5: .lastBytes("")
        case 5..<10: .lastBytes(String(reply[..<cut]))
        case 10..<15: .lastBytes(reply)
        case 15: .silence
        case 16..<300: .pieces([String(reply[..<cut]), String(reply[cut...])])
        default: .bytes(reply)
        }
    }

    @Test func `a reply is never given to another command`() async throws {
        let generator = SeededGenerator()
        generator.printSeed()
        let random = Mutex(generator)
        let server = try await FakeServer.start { command in
            random.withLock { Self.answer(to: command.words[1], using: &$0) }
        }
        let counts = try await withClient(
            server.url, configure: { $0.commandTimeout = .milliseconds(300) }
        ) { client async throws in
            try await withThrowingTaskGroup(of: (replies: Int, errors: Int).self) { group in
                for task in 0..<50 {
                    group.addTask {
                        var counts = (replies: 0, errors: 0)
                        for number in 0..<200 {
                            let text = "\(task)/\(number)"
                            do throws(RedisError) {
                                let reply = try await client.send(["ECHO", RedisArgument(text)])
                                #expect(reply == .bulk(Array(text.utf8)))
                                counts.replies += 1
                            } catch {
                                #expect(
                                    [.connectionLost, .timeout, .unreachable].contains(error.code),
                                    "\(error)")
                                counts.errors += 1
                            }
                        }
                        return counts
                    }
                }
                return try await group.reduce((0, 0)) { ($0.0 + $1.replies, $0.1 + $1.errors) }
            }
        }
        #expect(counts.0 + counts.1 == 10_000)
        #expect(counts.0 > 1000, "hardly any command was answered: \(counts)")
        #expect(counts.1 > 0, "no connection was cut: \(counts)")
    }

    @Test func `cancelled calls end and the others get their own replies`() async throws {
        var generator = SeededGenerator()
        generator.printSeed()
        let connections = Mutex<Set<Int>>([])
        let server = try await FakeServer.start { command in
            connections.withLock { _ = $0.insert(command.connection) }
            return .bytes(FakeServer.bulk(command.words[1]))
        }
        try await withClient(server.url) { client async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<2000 {
                    let isCancelled = Int.random(in: 0..<20, using: &generator) == 0
                    let text = "\(number)"
                    let call = Task {
                        do throws(RedisError) {
                            let reply = try await client.send(["ECHO", RedisArgument(text)])
                            #expect(reply == .bulk(Array(text.utf8)))
                        } catch {
                            #expect(error.code == .cancelled && isCancelled, "\(error)")
                        }
                    }
                    if isCancelled {
                        if Bool.random(using: &generator) { await Task.yield() }
                        call.cancel()
                    }
                    group.addTask { await call.value }
                }
                try await group.waitForAll()
            }
            #expect(try await client.send(["ECHO", "after"]).string == "after")
        }
        #expect(connections.withLock { $0 } == [1])
    }

    @Test func `a call in a cancelled task is not sent`() async throws {
        let server = try await FakeServer.start { .bytes(FakeServer.bulk($0.words[1])) }
        try await withClient(server.url) { client async throws in
            let call = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await failure { () throws(RedisError) in
                    try await client.send(["ECHO", "never"])
                }
            }
            let error = await call.value
            #expect(error?.code == .cancelled)
            #expect(error?.mayHaveExecuted == false)
            #expect(try await client.send(["ECHO", "a"]).string == "a")
        }
        let first = await server.arrivals.first { _ in true }
        #expect(first?.words == ["ECHO", "a"])
    }

    @Test func `a cancelled call that was sent may have been executed, and is answered to nobody`()
        async throws
    {
        // The reply to the first command comes with that to the second.
        let server = try await FakeServer.start { command in
            command.words[1] == "left" ? .bytes("") : .bytes(":1\r\n:2\r\n")
        }
        try await withClient(server.url) { client async throws in
            let call = Task {
                await failure { () throws(RedisError) in try await client.send(["INCR", "left"]) }
            }
            _ = await server.arrivals.first { _ in true }
            call.cancel()
            let error = await call.value
            #expect(error?.code == .cancelled)
            #expect(error?.mayHaveExecuted == true)
            #expect(try await client.send(["INCR", "n"]).int == 2)
        }
        let second = await server.arrivals.first { _ in true }
        #expect(second?.connection == 1)
    }

    @Test func `a blocking read that is cancelled leaves its connection`() async throws {
        let server = try await FakeServer.start { command in
            command.words[0] == "BLPOP" ? .silence : .bytes(":\(command.connection)\r\n")
        }
        try await withClient(server.url) { client async throws in
            let call = Task {
                await failure { () throws(RedisError) in
                    try await client.send(["BLPOP", "wake", "60"], timeout: .seconds(65))
                }
            }
            _ = await server.arrivals.first { _ in true }
            call.cancel()
            #expect(await call.value?.code == .cancelled)
            #expect(try await client.send(["INCR", "n"]).int == 2)
        }
    }

    @Test func `a silent server is a timeout and the next call has a new connection`() async throws
    {
        let server = try await FakeServer.start { command in
            command.connection == 1 && command.words[0] == "INCR"
                ? .silence : .bytes(":\(command.connection)\r\n")
        }
        try await withClient(server.url) { client async throws in
            #expect(try await client.send(["GET", "n"]).int == 1)
            let error = await failure { () throws(RedisError) in
                try await client.send(["INCR", "n"], timeout: .seconds(5))
            }
            #expect(error?.code == .timeout)
            #expect(error?.mayHaveExecuted == true)
            #expect(error?.message.contains("127.0.0.1:\(server.port)") == true)
            #expect(try await client.send(["INCR", "n"]).int == 2)
        }
    }

    @Test func `a server that stops reading leaves commands unsent`() async throws {
        let server = try await FakeServer.start { _ in .stopsReading }
        try await withClient(server.url) { client async throws in
            let first = Task {
                await failure { () throws(RedisError) in try await client.send(["STALL"]) }
            }
            _ = await server.arrivals.first { _ in true }
            // More than the kernel takes, so the channel is full behind it.
            let large = Task {
                let bytes = RedisArgument([UInt8](repeating: 0, count: 12 << 20))
                return await failure { () throws(RedisError) in
                    try await client.send(["SET", "k", bytes])
                }
            }
            try await eventually("both are written") {
                await client.writtenCount < 2 ? nil : ()
            }
            for _ in 0..<3 {
                let error = await failure { () throws(RedisError) in
                    try await client.send(["GET", "k"], timeout: .milliseconds(20))
                }
                #expect(error?.code == .timeout)
                #expect(error?.mayHaveExecuted == false)
                #expect(error?.message.contains("reads too slowly") == true)
            }
            await client.close()
            #expect(await first.value?.code == .closed)
            #expect(await large.value?.mayHaveExecuted == true)
        }
    }

    @Test func `a login without an answer ends at the connect timeout`() async throws {
        let server = try await FakeServer.start(login: .silence) { _ in .silence }
        try await withClient(
            server.url, configure: { $0.connectTimeout = .milliseconds(30) }
        ) { client async throws in
            let error = await failure { () throws(RedisError) in
                try await client.send(["GET", "k"], timeout: .seconds(5))
            }
            #expect(error?.code == .unreachable)
            #expect(error?.message.contains("0.03 seconds") == true, "\(error?.message ?? "")")
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\n\r\n", "$99999999999999999999\r\n", "+OK\r\n+OK\r\n+OK\r\n",
    ])
    func `bytes that make no sense end the connection`(bytes: String) async throws {
        let server = try await FakeServer.start { command in
            command.connection == 1 ? .bytes(bytes) : .bytes("+fine\r\n")
        }
        try await withClient(server.url) { client async throws in
            let error = await failure { () throws(RedisError) in
                try await client.send(["GET", "k"])
            }
            // The third example answers the command first, and then says too much.
            if let error {
                #expect(error.code == .protocolViolation)
                #expect(error.mayHaveExecuted)
            }
            #expect(try await client.send(["GET", "k"], timeout: .seconds(5)).string != nil)
        }
    }

    @Test func `a reply above the limit ends its command`() async throws {
        let server = try await FakeServer.start { command in
            let size = command.words[1] == "large" ? 100_000 : 10
            return .bytes(FakeServer.bulk(String(repeating: "x", count: size)))
        }
        try await withClient(
            server.url, configure: { $0.replyBytesMax = 4096 }
        ) { client async throws in
            let error = await failure { () throws(RedisError) in
                try await client.send(["GET", "large"])
            }
            #expect(error?.code == .protocolViolation)
            #expect(error?.message.contains("4096") == true)
            #expect(try await client.send(["GET", "small"]).string == "xxxxxxxxxx")
        }
    }

    @Test func `a server that is still loading is waited for`() async throws {
        let server = try await FakeServer.start(login: .lastBytes("-LOADING wait\r\n")) { _ in
            .silence
        }
        try await withClient(server.url) { client async throws in
            let error = await failure { () throws(RedisError) in
                try await client.send(["GET", "k"], timeout: .seconds(5))
            }
            #expect(error?.code == .unreachable)
            #expect(error?.message.contains("LOADING wait") == true)
        }
    }

    @Test func `more calls than the limit are refused at once`() async throws {
        let server = try await FakeServer.start { _ in .silence }
        try await withClient(
            server.url, configure: { $0.pendingCommandsMax = 1 }
        ) { client async throws in
            let first = Task {
                await failure { () throws(RedisError) in try await client.send(["GET", "a"]) }
            }
            _ = await server.arrivals.first { _ in true }
            let error = await failure { () throws(RedisError) in
                try await client.send(["GET", "b"])
            }
            #expect(error?.code == .tooManyPending)
            await client.close()
            #expect(await first.value?.code == .closed)
        }
    }

    @Test(arguments: [
        [], [""], ["SUBSCRIBE", "c"], ["multi"], ["SELECT", "1"], ["client", "reply", "off"],
    ])
    func `a command that a shared connection cannot carry is refused`(
        words: [String]
    ) async throws {
        try await withClient("redis://localhost") { client async throws in
            let error = await failure { () throws(RedisError) in
                try await client.send(words.map { RedisArgument($0) })
            }
            #expect(error?.code == .invalidCommand)
        }
    }

    @Test func `a command above the limit is refused`() async throws {
        try await withClient(
            "redis://localhost", configure: { $0.commandBytesMax = 100 }
        ) { client async throws in
            let large = RedisArgument([UInt8](repeating: 0, count: 100))
            let error = await failure { () throws(RedisError) in
                try await client.send(["SET", large])
            }
            #expect(error?.code == .invalidCommand)
            #expect(error?.message.contains("103 bytes") == true)
        }
    }
}
