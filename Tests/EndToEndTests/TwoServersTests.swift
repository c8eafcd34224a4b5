import Edits
import Foundation
import Logging
import MinilabTesting
import Redis
import RenderProtocol
import Testing

@testable import JobQueue

/// One Redis takes over from another, with queues of one name, on one library.
@Suite("Two Redis servers on one library") struct TwoServersTests {
    private static let append = #"{"mode":"append","filters":[{"name":"CIColorInvert"}]}"#

    /// The second server, seen through the library of the first.
    private func second(of rig: Rig) async throws -> (RedisServer, RedisClient) {
        let server = try await RedisServer.start()
        let redis = RedisClient(
            RedisConfiguration(url: try RedisURL(server.url)), logger: Logger(label: "test"))
        return (server, redis)
    }

    private func worker(_ name: String, on server: RedisServer, _ rig: Rig) throws
        -> MinilabProcess
    {
        try MinilabProcess(
            [
                "worker", "--library", rig.library, "--lease", Rig.lease,
                "--slots", "1", "--worker-name", name,
            ] + server.flags(as: .worker))
    }

    @Test func `a worker sweeps what is nobody's, and not what the other server's is making`()
        async throws
    {
        let rig = try await Rig()
        try rig.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        let blue = try rig.worker("blue", slots: 1, stopAt: .midRender)
        try await rig.xadd("a.png", id: "job")
        let child = try await rig.processThatStopped(of: blue)
        let made = try #require(try rig.staged().first)
        // What a dead worker left, last in the order of the sweep: when it is gone, all has been looked at.
        let left = rig.library + "/staging/photos/zzz@1"
        try FileManager.default.createDirectory(
            atPath: left, withIntermediateDirectories: false)

        let (server, _) = try await second(of: rig)
        let green = try worker("green", on: server, rig)
        try await eventually("the sweep is through") {
            FileManager.default.fileExists(atPath: left) ? nil : ()
        }
        #expect(try rig.staged() == [made])

        kill(child, SIGCONT)
        let ends = try await rig.waitForEnds(1)
        guard case .completed(let done) = ends[0].data else {
            Issue.record("\(ends)")
            return
        }
        #expect(done.attempt == 1)
        try await rig.checkInvariants(jobs: ["job"])
        for worker in [blue, green] {
            worker.kill(SIGTERM)
            #expect(try await worker.waitForEnd() == .exited(0))
        }
    }

    @Test func `what a killed worker was making is swept, whoever's server it had`() async throws {
        let rig = try await Rig()
        try rig.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        let blue = try rig.worker("blue", slots: 1, stopAt: .beforeCommit)
        try await rig.xadd("a.png", id: "job")
        _ = try await rig.processThatStopped(of: blue)
        #expect(try rig.staged().count == 1)
        blue.kill(SIGKILL)
        _ = try await blue.waitForEnd()
        let (server, _) = try await second(of: rig)
        let green = try worker("green", on: server, rig)
        try await eventually("it is swept") { try rig.staged().isEmpty ? () : nil }
        green.kill(SIGTERM)
        #expect(try await green.waitForEnd() == .exited(0))
    }

    @Test func `a job that both were sent is done once, and both tell of the same version`()
        async throws
    {
        let rig = try await Rig()
        try rig.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        try await rig.xadd("a.png", edit: Self.append, id: "job")
        let blue = try rig.worker("blue")
        let first = try await rig.waitForEnds(1)
        let (server, redis) = try await second(of: rig)
        _ = try await redis.send([
            "XADD", "minilab:{photos}:in", "*", "asset", "a.png", "edit",
            RedisArgument(Self.append), "id", "job",
        ])
        let green = try worker("green", on: server, rig)
        let again = try await eventually("the second server tells its end") {
            var reader = EventReader(queue: .photos, redis: redis)
            return try await reader.next().map(\.event).first
        }
        guard case .completed(let one) = first[0].data, case .completed(let two) = again.data
        else {
            Issue.record("\(first), \(again)")
            return
        }
        #expect(one.version == two.version && one.render == two.render)
        #expect(two.worker == "green")
        #expect(try rig.versions("a.png") == [one.version.id])
        for worker in [blue, green] {
            worker.kill(SIGTERM)
            #expect(try await worker.waitForEnd() == .exited(0))
        }
    }
}
