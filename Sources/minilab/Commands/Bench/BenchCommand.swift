import ArgumentParser

/// `minilab bench`, which `ops/bench` and `ops/chaos` call.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measures a part of minilab.", shouldDisplay: false,
        subcommands: [QueueBench.self, WorkerBench.self, HostileBench.self])
}
