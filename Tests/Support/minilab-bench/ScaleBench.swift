import ArgumentParser
import ServiceTesting

/// `minilab-bench scale`: prints the simulated fleets as rows that `ops/bench/run scale` plots.
struct ScaleBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scale",
        abstract:
            "Simulates fleets by the formula of /v1/scale and prints each ten seconds as a row.")

    /// The seconds between rows. A plot of two hours is a few hundred points wide.
    private static let secondsPerRow = 10

    func run() async throws {
        print("scenario\ttitle\tsecond\tjobs\tworkers\tbusySlots")
        for scenario in ScaleScenario.all {
            let outcome = scenario.run()
            for moment in outcome.moments where moment.second.isMultiple(of: Self.secondsPerRow) {
                print(
                    scenario.name, scenario.title, moment.second, moment.jobs, moment.workers,
                    moment.busySlots, separator: "\t")
            }
            print("# \(scenario.name): \(outcome)")
        }
    }
}
