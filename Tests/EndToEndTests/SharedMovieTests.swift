import Edits
import Foundation
import MinilabTesting
import Redis
import RenderProtocol
import Testing

@testable import JobQueue

@Suite("A movie that several workers render") struct SharedMovieTests {
    /// Two parts of 1080p, of which a corner stays.
    private static let corner = """
        {"filters":[{"name":"CICrop","inputRectangle":[0,0,64,64]},{"name":"CIColorInvert"}]}
        """

    private func movie() throws -> Data {
        return try Data(
            contentsOf: Repository.fixture("Movies/edit_list_positive_shift.mp4"))
    }

    /// SHA-256 of what one worker alone makes of the movie.
    private func alone() async throws -> String {
        let rig = try await Rig()
        try rig.put("clip.mp4", movie())
        try await rig.xadd("clip.mp4", edit: Self.corner, id: "job")
        let worker = try rig.worker("w", slots: 1)
        let done = try await completed(rig)
        worker.kill(SIGTERM)
        _ = try await worker.waitForEnd()
        return done.render?.sha256 ?? ""
    }

    private func completed(_ rig: Rig) async throws -> JobEvent.Completed {
        let ends = try await rig.waitForEnds(1)
        guard case .completed(let done) = ends.first?.data else {
            throw Unexpected(events: "\(ends)")
        }
        return done
    }

    private struct Unexpected: Error { let events: String }

    @Test(arguments: [true, false])
    func `is the same when the one that has the job, or the one that helps, is killed`(
        killsHelper: Bool
    ) async throws {
        let rig = try await Rig()
        try rig.put("clip.mp4", movie())
        try await rig.xadd("clip.mp4", edit: Self.corner, id: "job")
        // Each has rendered its part, and its child has not answered.
        let holder = try rig.worker("holder", slots: 1, stopAt: .afterRender)
        let holding = try await rig.processThatStopped(of: holder)
        #expect(try await rig.queue.record(of: "job+1")?.state == .ready)
        let helper = try rig.worker("helper", slots: 1, stopAt: .afterRender)
        let helping = try await rig.processThatStopped(of: helper)
        #expect(try await rig.queue.record(of: "job+1")?.worker == "helper")

        let (victim, other) = killsHelper ? (helper, holder) : (holder, helper)
        victim.kill(SIGKILL)
        _ = try await victim.waitForEnd()
        for child in [holding, helping] { kill(child, SIGCONT) }

        let done = try await completed(rig)
        #expect(done.worker == (killsHelper ? "holder" : "helper"))
        #expect(try await done.render?.sha256 == alone())
        let types = try await rig.events().map(\.event.type)
        #expect(
            types.filter { $0 != "org.minilab.job.progressed" } == ["org.minilab.job.completed"])
        try await rig.checkInvariants(jobs: ["job"])
        let keys = try await rig.redis.send(["KEYS", "*+*"]).array ?? []
        let parts = try await rig.redis.send(["KEYS", "*parts:*"]).array ?? []
        #expect(keys.isEmpty && parts.isEmpty)
        let kept = FileManager.default.enumerator(atPath: rig.library + "/segments")?.allObjects
        #expect((kept ?? []).allSatisfy { !"\($0)".contains("/0-") && !"\($0)".contains("/1-") })
        other.kill(SIGTERM)
        #expect(try await other.waitForEnd() == .exited(0))
    }
}
