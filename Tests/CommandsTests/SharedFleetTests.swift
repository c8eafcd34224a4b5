import JobQueue
import MinilabTesting
import Synchronization
import Testing

@testable import Operations

@Suite("Workers that callers share the reading of") struct SharedFleetTests {
    /// A reading that a test counts and holds back, and a clock that it sets.
    private final class World: Sendable {
        private let state = Mutex((readings: 0, passed: Duration.zero))
        private let start = ContinuousClock.now
        let (gate, open) = AsyncStream.makeStream(of: Void.self)

        var readings: Int { state.withLock { $0.readings } }

        func pass(_ time: Duration) { state.withLock { $0.passed += time } }

        func fleet(isHeld: Bool = false) -> SharedFleet {
            SharedFleet(clock: { self.start + self.state.withLock { $0.passed } }) {
                self.state.withLock { $0.readings += 1 }
                if isHeld { for await _ in self.gate { break } }
                return [WorkerInfo(name: "w", slots: 4, version: "1", startedAt: "")]
            }
        }
    }

    @Test func `callers of a second share a reading, and the next second has another`()
        async throws
    {
        let world = World()
        let fleet = world.fleet()
        for _ in 0..<3 { #expect(try await fleet.slots() == 4) }
        #expect(world.readings == 1)
        world.pass(SharedFleet.ageMax - .milliseconds(1))
        #expect(try await fleet.workers().map(\.name) == ["w"])
        #expect(world.readings == 1)
        world.pass(.milliseconds(1))
        #expect(try await fleet.slots() == 4)
        #expect(world.readings == 2)
    }

    @Test func `a caller that leaves ends no reading of the others`() async throws {
        let world = World()
        let fleet = world.fleet(isHeld: true)
        let left = Task { try await fleet.slots() }
        try await eventually("the reading has begun") { world.readings > 0 ? true : nil }
        let other = Task { try await fleet.slots() }
        left.cancel()
        world.open.yield()
        world.open.finish()
        #expect(try await other.value == 4)
        #expect(world.readings == 1)
    }
}
