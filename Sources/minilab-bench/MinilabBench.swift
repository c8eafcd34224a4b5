import ArgumentParser
import Glibc

/// `minilab-bench`, which tests, `ops/bench`, `ops/chaos` and `ops/hostile` build and call. It is no product.
@main
struct MinilabBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "minilab-bench", abstract: "Measures and harms parts of minilab.",
        subcommands: [
            QueueBench.self, WorkerBench.self, FleetBench.self, HostileBench.self, ScaleBench.self,
        ])

    static func main() async {
        // A peer that goes away must be an error of the write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        await main(nil)
    }
}
