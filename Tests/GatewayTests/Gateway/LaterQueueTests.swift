import Edits
import Foundation
import JobQueue
import MinilabTesting
import Redis
import SystemPackage
import Telemetry
import Testing

@testable import Gateway

/// A gateway that finds its queue raised by a later release ends as after a signal.
@Suite("A queue that a later release raises") struct LaterQueueTests {
    @Test func `ends a running gateway with one sentence, and nothing else of its end is logged`()
        async throws
    {
        let folder = try TemporaryFolder()
        let log = folder.file("log")
        let rig = try await GatewayRig(
            logger: try FileLogHandler.logger(
                writingTo: FilePath(log), level: "notice", metadataProvider: nil),
            askEvery: .milliseconds(10))
        // Its connection stays open.
        #expect(try await rig.send("GET", "/healthz").status == 200)
        func lines() throws -> [Substring] {
            try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        }
        let before = try lines().count
        _ = try await rig.redis.send([
            "HSET", RedisArgument("minilab:{\(rig.queue.name)}:virtual"), "format", "9", "least",
            "9",
        ])
        let error = await #expect(throws: QueueError.self) { try await rig.waitForEnd() }
        #expect(error?.code == .laterFormat)
        #expect(error?.message.contains("may have worked on the queue") == true)
        #expect(try lines().dropFirst(before) == [])
    }
}
