import JobQueue
import MinilabTesting
import Testing

@testable import Operations

/// Bursts, a day, a night of a million jobs and machines that vanish, simulated by the formula that runs.
@Suite("Fleets in simulation") struct ScaleSimulationTests {
    private func generator() -> SeededGenerator {
        let generator = SeededGenerator(usual: 20)
        generator.printSeed()
        return generator
    }

    private func target(_ most: Int) -> ScaleTarget {
        var target = ScaleTarget()
        target.maxWorkers = most
        return target
    }

    @Test func `a burst is done in about the time that it should take, and no render is cut off`() {
        var generator = generator()
        // 20,000 s of work, and as much again an hour later.
        let simulation = ScaleSimulation(
            target: target(100), arrivals: { $0 == 60 || $0 == 3660 ? 20_000 : 0 },
            cost: { .random(in: 0.5..<1.5, using: &$0) })
        let outcome = simulation.run(7200, &generator)
        print("burst: \(outcome)")
        #expect(outcome.done == 40_000 && outcome.cutOff == 0)
        // 600 s were the aim. The last jobs are done by fewer workers, since fewer are needed.
        #expect((outcome.drained ?? .max) - 3660 < 1000)
        // A worker is started once a burst, and not again and again.
        #expect(outcome.started <= 2 * outcome.peak)
    }

    @Test func `a slow drift is followed without starting and stopping again and again`() {
        var generator = generator()
        // From 1 to 40 jobs of 1 s a second in two hours, and back.
        let simulation = ScaleSimulation(
            target: target(100), arrivals: { 1 + 39 * (7200 - abs(7200 - $0)) / 7200 },
            cost: { .random(in: 0.5..<1.5, using: &$0) })
        let outcome = simulation.run(14_400, &generator)
        print("drift: \(outcome)")
        // 10 workers of 4 slots keep up with 40 s of work a second.
        #expect((8...20).contains(outcome.peak) && outcome.cutOff == 0)
        #expect(outcome.started <= 2 * outcome.peak, "\(outcome)")
    }

    @Test func `a night of a million jobs is done near the best time that the workers allow`() {
        var generator = generator()
        let simulation = ScaleSimulation(
            target: target(100), arrivals: { $0 == 0 ? 1_000_000 : 0 },
            cost: { .random(in: 0.1..<0.4, using: &$0) })
        let outcome = simulation.run(3600, &generator)
        print("million: \(outcome)")
        // 250,000 s on 400 slots take 625 s.
        let ideal = 250_000.0 / 400 + Double(simulation.startUp)
        #expect(outcome.done == 1_000_000 && outcome.cutOff == 0 && outcome.peak == 100)
        #expect(Double(outcome.drained ?? .max) < 1.5 * ideal, "\(outcome)")
    }

    @Test func `workers that are killed at random lose no job, and others take their places`() {
        var generator = generator()
        let simulation = ScaleSimulation(
            target: target(50), killChance: 1.0 / 600,
            arrivals: { $0 < 1800 ? 20 : 0 }, cost: { .random(in: 0.5..<1.5, using: &$0) })
        let outcome = simulation.run(5400, &generator)
        print("spot: \(outcome)")
        #expect(outcome.done == 36_000 && outcome.cutOff == 0 && outcome.killed > 0)
        #expect(outcome.drained != nil)
    }
}
