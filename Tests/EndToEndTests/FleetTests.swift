import Adjustments
import Foundation
import JobQueue
import MinilabTesting
import Testing

@Suite("A fleet of workers") struct FleetTests {
    @Test func `it grows with the work, cuts off no render, and shrinks when the work is done`()
        async throws
    {
        let rig = try await Rig()
        for number in 1...12 { try rig.put("\(number).jpg", photo: "tulips.jpg") }
        let fleet = try MinilabProcess([
            "fleet", "--redis", rig.server.url, "--min", "1", "--max", "3", "--within", "1s",
            "--keep", "1s", "--", "--library", rig.library, "--lease", Rig.lease,
        ])
        func workers(_ what: String, _ condition: @Sendable (Int) -> Bool) async throws {
            try await eventually(what, within: .seconds(60)) {
                condition(try await rig.queue.workers().count) ? () : nil
            }
        }
        try await workers("one worker is there without work") { $0 == 1 }
        // A render of its own each, and a long one, so that a look at the queue finds most of them.
        for number in 1...12 {
            try await rig.xadd(
                "\(number).jpg",
                edit: #"{"filters":[{"name":"CIGaussianBlur","inputRadius":\#(80 + number)}]}"#)
        }
        try await workers("the fleet has grown") { $0 == 3 }
        let ends = try await rig.waitForEnds(12, within: .seconds(240))
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
        let fleet = try MinilabProcess([
            "fleet", "--redis", rig.server.url, "--min", "2", "--max", "2", "--", "--library",
            rig.library, "--lease", Rig.lease,
        ])
        try await eventually("two workers are there", within: .seconds(60)) {
            try await rig.queue.workers().count == 2 ? () : nil
        }
        try await rig.xadd(
            "1.jpg", edit: #"{"filters":[{"name":"CIGaussianBlur","inputRadius":80}]}"#)
        try await eventually("one of them renders", within: .seconds(60)) {
            try await rig.queue.workers().contains { $0.busy > 0 } ? () : nil
        }
        fleet.kill(SIGKILL)
        #expect(try await fleet.waitForEnd() == .signalled(SIGKILL))
        guard case .completed(let job) = try await rig.waitForEnds(1, within: .seconds(60))[0].data
        else {
            Issue.record("the job was not completed")
            return
        }
        #expect(job.attempt == 1)
        try await eventually("nobody is left", within: .seconds(60)) {
            try await rig.queue.workers().isEmpty ? () : nil
        }
    }
}
