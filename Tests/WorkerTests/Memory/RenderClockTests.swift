import Testing

@testable import RenderPool

@Suite("The time that a render may take") struct RenderClockTests {
    @Test func `it stands still while the render does`() {
        let start = ContinuousClock.now
        let clock = RenderClock(.seconds(10), at: start)
        #expect(clock.left(at: start + .seconds(4)) == .seconds(6))
        clock.stop(at: start + .seconds(4))
        clock.stop(at: start + .seconds(5))
        #expect(clock.left(at: start + .seconds(1000)) == .seconds(6))
        clock.start(at: start + .seconds(1000))
        clock.start(at: start + .seconds(1001))
        #expect(clock.left(at: start + .seconds(1007)) == .seconds(-1))
    }

    @Test func `one that begins while the child stands still begins later`() {
        let start = ContinuousClock.now
        let clock = RenderClock(.seconds(10), runs: false, at: start)
        #expect(clock.left(at: start + .seconds(60)) == .seconds(10))
        clock.start(at: start + .seconds(60))
        #expect(clock.left(at: start + .seconds(61)) == .seconds(9))
    }

    @Test func `waiting for it ends when it is over`() async throws {
        let clock = RenderClock(.milliseconds(1))
        try await clock.wait()
        #expect(clock.left() <= .zero)
    }
}
