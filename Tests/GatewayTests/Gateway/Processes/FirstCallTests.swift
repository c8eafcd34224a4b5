import JobQueue
import MinilabTesting
import SystemPackage
import Telemetry
import Testing

@testable import Gateway

/// Clients that call a gateway as soon as it listens.
@Suite("the first calls of a gateway") struct FirstCallTests {
    @Test func `a gateway knows its keys, its events and its limits before it listens`()
        async throws
    {
        let server = try await RedisServer.start(arguments: ["--maxmemory", "512mb"])
        let first = try await GatewayRig(on: server)
        var rigs = [first]
        // Whether a reader is faster than the socket is chance, so that there are several.
        for _ in 0..<8 { rigs.append(try await GatewayRig(beside: first)) }
        for rig in rigs {
            #expect(rig.listenedReady)
            #expect(rig.parts.queue.memory.max != nil)
        }
    }

    @Test func `a gateway that starts while Redis is away has its limits soon after it answers`()
        async throws
    {
        let server = try await RedisServer.start(arguments: ["--maxmemory", "512mb"])
        server.stop()
        let folder = try TemporaryFolder()
        let log = folder.file("log")
        let logger = try FileLogHandler.logger(
            writingTo: FilePath(log), level: "warning", metadataProvider: nil)
        let starting = Task { try await GatewayRig(on: server, logger: logger) }
        try await eventually("the gateway has asked for the memory of Redis in vain") {
            folder.text(of: "log").contains("the memory of Redis is not known") ? true : nil
        }
        try await server.launch()
        let rig = try await starting.value
        // The next regular reading is a minute later.
        try await eventually("the memory of Redis is known", within: .seconds(30)) {
            rig.parts.queue.memory.max
        }
    }
}
