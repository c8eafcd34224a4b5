import MinilabTesting

/// A load on a fleet. Tests check the simulations of these loads, and `ops/bench/run scale` draws them.
package struct ScaleScenario {
    package let name: String
    /// The title of the plot.
    package let title: String
    package let seconds: Int
    package let simulation: ScaleSimulation

    /// 20,000 s of work at once, and as much again an hour later.
    package static var burst: ScaleScenario {
        ScaleScenario(
            name: "burst",
            title: "20,000 jobs of 1 s at once, twice; at most 100 workers of 4 slots",
            seconds: 7200,
            simulation: ScaleSimulation(
                maxWorkers: 100, arrivals: { $0 == 60 || $0 == 3660 ? 20_000 : 0 },
                cost: { .random(in: 0.5..<1.5, using: &$0) }))
    }

    /// From 1 to 40 jobs of 1 s a second in two hours, and back.
    package static var drift: ScaleScenario {
        ScaleScenario(
            name: "drift", title: "From 1 to 40 jobs of 1 s a second in two hours, and back",
            seconds: 14_400,
            simulation: ScaleSimulation(
                maxWorkers: 100, arrivals: { 1 + 39 * (7200 - abs(7200 - $0)) / 7200 },
                cost: { .random(in: 0.5..<1.5, using: &$0) }))
    }

    /// 250,000 s of work at once.
    package static var million: ScaleScenario {
        ScaleScenario(
            name: "million",
            title: "1,000,000 jobs of 0.25 s at once; at most 100 workers of 4 slots",
            seconds: 3600,
            simulation: ScaleSimulation(
                maxWorkers: 100, arrivals: { $0 == 0 ? 1_000_000 : 0 },
                cost: { .random(in: 0.1..<0.4, using: &$0) }))
    }

    /// Machines that vanish: each worker is killed once in ten minutes on average.
    package static var spot: ScaleScenario {
        ScaleScenario(
            name: "spot",
            title: "20 jobs of 1 s a second; a worker lives 10 minutes on average",
            seconds: 5400,
            simulation: ScaleSimulation(
                maxWorkers: 50, killChance: 1.0 / 600, arrivals: { $0 < 1800 ? 20 : 0 },
                cost: { .random(in: 0.5..<1.5, using: &$0) }))
    }

    package static var all: [ScaleScenario] { [burst, drift, million, spot] }

    /// The run of the usual seed, so that tests and plots speak of the same.
    package func run() -> ScaleSimulation.Outcome {
        var generator = SeededGenerator(usual: 20)
        return simulation.run(seconds, &generator)
    }
}
