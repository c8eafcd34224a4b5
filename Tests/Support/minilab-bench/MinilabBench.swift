import ArgumentParser
import Glibc

/// `minilab-bench`, which tests, `ops/bench`, `ops/chaos` and `ops/hostile` build and run. It is not installed.
@main
struct MinilabBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "minilab-bench", abstract: "Measures and harms parts of minilab.",
        subcommands: [
            QueueBench.self, WorkerBench.self, FleetBench.self, HostileBench.self, ScaleBench.self,
        ])

    static func main() async {
        // A closed peer must be an error of the write and not kill the process.
        signal(SIGPIPE, SIG_IGN)
        await main(nil)
    }
}
