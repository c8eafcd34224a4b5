import ServiceTesting
import Testing

/// Bursts, a day, a night of a million jobs and machines that vanish, simulated by the formula that runs.
@Suite("Fleets in simulation") struct ScaleSimulationTests {
    private func run(_ scenario: ScaleScenario) -> ScaleSimulation.Outcome {
        let outcome = scenario.run()
        print("\(scenario.name): \(outcome)")
        return outcome
    }

    @Test func `a burst is done in about the time that it should take, and no render is cut off`() {
        let outcome = run(.burst)
        #expect(outcome.done == 40_000)
        // 600 s were the aim. The last jobs are done by fewer workers, since fewer are needed.
        #expect((outcome.drained ?? .max) - 3660 < 1000)
        // A worker is started once a burst, and not again and again.
        #expect(outcome.started <= 2 * outcome.peak)
    }

    @Test func `a slow drift is followed without starting and stopping again and again`() {
        let outcome = run(.drift)
        // 10 workers of 4 slots keep up with 40 s of work a second.
        #expect((8...20).contains(outcome.peak))
        #expect(outcome.started <= 2 * outcome.peak, "\(outcome)")
    }

    @Test func `a night of a million jobs is done near the best time that the workers allow`() {
        let outcome = run(.million)
        // 250,000 s on 400 slots take 625 s.
        let ideal = 250_000.0 / 400 + Double(ScaleScenario.million.simulation.startUp)
        #expect(outcome.done == 1_000_000 && outcome.peak == 100)
        #expect(Double(outcome.drained ?? .max) < 1.5 * ideal, "\(outcome)")
    }

    @Test func `workers that are killed at random lose no job, and others take their places`() {
        let outcome = run(.spot)
        #expect(outcome.done == 36_000 && outcome.killed > 0)
        #expect(outcome.drained != nil)
    }
}
