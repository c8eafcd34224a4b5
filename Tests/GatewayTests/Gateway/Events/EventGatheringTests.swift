import AccessKeys
import JobQueue
import MinilabTesting
import Testing

@testable import Gateway

@Suite("events of one moment") struct EventGatheringTests {
    private static let events = 150

    @Test func `call whoever waits once, and not each for itself`() async throws {
        let rig = try await GatewayRig { $0.requestsPerSecond = 1_000_000 }
        let key = try await rig.key("acme", scopes: [.enqueue, .read])
        let hub = rig.parts.hub
        let begin = try #require(hub.newest)
        let start = ContinuousClock.now
        let following = Task {
            var (position, seen, calls) = (begin, 0, 0)
            while seen < Self.events {
                await hub.wait(after: position)
                guard case .entries(let entries) = hub.entries(after: position),
                    let last = entries.last
                else { continue }
                (position, seen, calls) = (last.position, seen + entries.count, calls + 1)
            }
            return calls
        }
        for number in 0..<Self.events {
            try await rig.post("j\(number)", "acme/\(number).jpg", key: key)
            _ = try await rig.send("POST", "/v1/jobs/j\(number)/cancel", key: key)
        }
        let calls = await following.value
        let most = Int((ContinuousClock.now - start) / EventHub.gatherTime) + 2
        #expect(calls <= most)
    }
}
