import Edits
import Foundation
import JobQueue
import MinilabTesting
import RenderProtocol
import Testing

@Suite("A fleet of workers") struct FleetTests {
    /// Render children stop themselves at their first render, so that work lasts for as long as a test needs it.
    private static let stops = [TestPoint.variable: TestPoint.midRender.rawValue]

    private func stoppedRenders(of fleet: MinilabProcess) -> [pid_t] {
        processes(below: fleet.pid).flatMap { processes(below: $0.pid) }
            .filter { $0.state == "T" }.map(\.pid)
    }

    @Test func `it grows with the work, cuts off no render, and shrinks when the work is done`()
        async throws
    {
        let rig = try await Rig()
        for number in 1...12 { try rig.put("\(number).jpg", photo: "tulips.jpg") }
        let fleet = try MinilabProcess(
            ["fleet"] + rig.server.flags(as: .worker) + [
                "--min", "1", "--max", "3", "--within", "1s", "--keep", "1s", "--", "--library",
                rig.library, "--lease", Rig.lease,
            ], environment: Self.stops)
        func workers(_ what: String, _ condition: @Sendable (Int) -> Bool) async throws {
            try await eventually(what) {
                condition(try await rig.queue.workers().count) ? () : nil
            }
        }
        try await workers("one worker is there without work") { $0 == 1 }
        // A render of its own each.
        for number in 1...12 {
            try await rig.xadd(
                "\(number).jpg",
                edit: #"{"filters":[{"name":"CIGaussianBlur","inputRadius":\#(number)}]}"#)
        }
        try await workers("the fleet has grown") { $0 == 3 }
        try await eventually("all are done") {
            for render in stoppedRenders(of: fleet) { kill(render, SIGCONT) }
            return try await rig.queue.status().counters["completed"] == 12 ? () : nil
        }
        let ends = try await rig.waitForEnds(12)
        for event in ends {
            guard case .completed(let job) = event.data else {
                Issue.record("\(event.type) \(event.id)")
                continue
            }
            #expect(job.attempt == 1)
        }
        try await workers("the fleet has shrunk") { $0 == 1 }
        fleet.kill(SIGTERM)
        #expect(try await fleet.waitForEnd() == .exited(0))
        try await workers("nobody is left") { $0 == 0 }
    }
    @Test func `its workers finish their jobs and end when it is killed`() async throws {
        let rig = try await Rig()
        try rig.put("1.jpg", photo: "tulips.jpg")
        let fleet = try MinilabProcess(
            ["fleet"] + rig.server.flags(as: .worker) + [
                "--min", "2", "--max", "2", "--", "--library", rig.library, "--lease", Rig.lease,
            ], environment: Self.stops)
        try await eventually("two workers are there") {
            try await rig.queue.workers().count == 2 ? () : nil
        }
        try await rig.xadd("1.jpg")
        let render = try await eventually("one of them renders") {
            stoppedRenders(of: fleet).first
        }
        fleet.kill(SIGKILL)
        #expect(try await fleet.waitForEnd() == .signalled(SIGKILL))
        kill(render, SIGCONT)
        guard case .completed(let job) = try await rig.waitForEnds(1)[0].data
        else {
            Issue.record("the job was not completed")
            return
        }
        #expect(job.attempt == 1)
        try await eventually("nobody is left") {
            try await rig.queue.workers().isEmpty ? () : nil
        }
    }
}
