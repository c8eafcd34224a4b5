import Logging
import MinilabTesting
import NIOCore
import Testing

@testable import Redis

@Suite("The life of a client", .timeLimit(.minutes(10))) struct ClientLifeTests {
    @Test func `close ends what is pending and refuses what comes after it`() async throws {
        let server = try await FakeServer.start { _ in .silence }
        for thread in [RedisClient.Thread.own, .shared] {
            try await withClient(server.url, thread: thread) { client async throws in
                let call = Task {
                    await failure { () throws(RedisError) in try await client.send(["GET", "k"]) }
                }
                _ = await server.arrivals.first { _ in true }
                await client.close()
                await client.close()
                let pending = await call.value
                #expect(pending?.code == .closed)
                #expect(pending?.mayHaveExecuted == true)
                let later = await failure { () throws(RedisError) in
                    try await client.send(["GET", "k"])
                }
                #expect(later?.code == .closed)
                #expect(later?.mayHaveExecuted == false)
            }
        }
    }

    @Test func `a client that connects can be closed`() async throws {
        let server = try await FakeServer.start(login: .silence) { _ in .silence }
        try await withClient(server.url) { client async throws in
            let call = Task {
                await failure { () throws(RedisError) in try await client.send(["GET", "k"]) }
            }
            try await eventually("it connects") { await client.isIdle ? nil : () }
            await client.close()
            #expect(await call.value?.code == .closed)
        }
    }

    @Test func `the thread of a client ends with its last reference`() async throws {
        let server = try await FakeServer.start { _ in .bytes("+OK\r\n") }
        weak var loop: (any EventLoop)?
        weak var gone: RedisClient?
        do {
            let configuration = RedisConfiguration(url: try RedisURL(server.url))
            let client = RedisClient(configuration, thread: .own, logger: Logger(label: "test"))
            loop = client.eventLoop
            gone = client
            #expect(try await client.send(["GET", "k"]).string == "OK")
            // Not closed, on purpose.
        }
        try await eventually("both are gone") { loop == nil && gone == nil ? () : nil }
    }

    /// An actor on the client's thread, as the queue's heartbeat is one.
    private actor Neighbour {
        let client: RedisClient
        nonisolated var unownedExecutor: UnownedSerialExecutor { client.unownedExecutor }

        init(_ client: RedisClient) { self.client = client }

        func sharesTheThread() async throws -> Bool {
            let before = client.eventLoop.inEventLoop
            _ = try await client.send(["GET", "k"])
            return before && client.eventLoop.inEventLoop
        }
    }

    @Test func `another actor can run on the client's thread`() async throws {
        let server = try await FakeServer.start { _ in .bytes("+OK\r\n") }
        try await withClient(server.url, thread: .own) { client async throws in
            #expect(try await Neighbour(client).sharesTheThread())
        }
    }
}
