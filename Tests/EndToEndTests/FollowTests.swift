import Edits
import Foundation
import JobQueue
import MinilabTesting
import Testing

@Suite("Following every asset") struct FollowTests {
    @Test func `a reader knows each asset's version from the events alone, and misses none`()
        async throws
    {
        let rig = try await Rig()
        let assets = (1...3).map { "\($0).png" }
        for asset in assets { try rig.put(asset, SyntheticPhoto.png(width: 24, height: 16)) }
        let workers = try (1...3).map { try rig.worker("w\($0)") }
        var edits = 0
        for round in 1...6 {
            for asset in assets {
                // Each differs from the last one, and every third takes one back.
                let edit =
                    round % 3 == 0
                    ? #"{"mode":"undo"}"#
                    : #"{"filters":[{"name":"CISepiaTone","intensity":0.\#(round)}]}"#
                try await rig.xadd(asset, edit: edit)
                edits += 1
            }
        }
        var reader = EventReader(queue: .photos, redis: rig.redis)
        var sequences: [String: [Int]] = [:]
        var versions: [String: String] = [:]
        var ended = 0
        let deadline = ContinuousClock.now + .seconds(300)
        while ended < edits, ContinuousClock.now < deadline {
            for entry in try await reader.next(waiting: .seconds(1)) {
                switch entry.event.data {
                case .completed(let job):
                    let sequence = try #require(entry.event.sequence.flatMap { Int($0) })
                    sequences[job.asset, default: []].append(sequence)
                    versions[job.asset] = job.version.id
                    ended += 1
                case .failed, .stuck, .unchanged, .superseded, .drafted, .rendered, .cancelled:
                    Issue.record("\(entry.json)")
                    ended += 1
                case .previewed, .progressed, .retried, .conflict, .batchCompleted, .batchConflict,
                    .batchSealed, .streamHarmed:
                    break
                }
            }
        }
        for asset in assets {
            #expect(sequences[asset] == Array(1...6), "a gap, or out of order")
            #expect(try rig.current(asset) == versions[asset].map { "versions/\($0)" })
        }
        for worker in workers { worker.kill(SIGTERM) }
        for worker in workers { #expect(try await worker.waitForEnd() == .exited(0)) }
    }
}
