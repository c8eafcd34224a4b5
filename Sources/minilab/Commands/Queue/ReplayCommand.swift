import ArgumentParser
import JobQueue

/// `minilab replay`.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Starts dead jobs again, as a new generation; their history stays.",
        discussion: """
            Example:
              minilab replay 1763700000000-0
              minilab replay --all
            """)

    @Argument(help: "Jobs.") var jobs: [String] = []
    @Flag(help: "All dead jobs.") var all = false
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard all != !jobs.isEmpty else {
            throw ValidationError("name the jobs, or give --all.")
        }
    }

    func run() async throws {
        let answers = try await queueOptions.withQueue { queue, _ in
            var answers: [String: String] = [:]
            // Those that cannot be replayed stay dead and are passed over from then on.
            var passed = 0
            while true {
                let ids =
                    all
                    ? try await queue.dead(offset: passed, count: JobQueue.replayMax).map(\.job)
                    : Array(jobs.dropFirst(passed).prefix(JobQueue.replayMax))
                if ids.isEmpty { return answers }
                let replayed = try await queue.replay(ids)
                for (id, answer) in zip(ids, replayed) { answers[id] = "\(answer)" }
                passed += all ? replayed.count { $0 != .replayed } : ids.count
            }
        }
        if json {
            try printJSON(answers)
        } else {
            for (id, answer) in answers.sorted(by: { $0.key < $1.key }) {
                print("\(id): \(answer)")
            }
        }
        if answers.values.contains(where: { $0 != "\(JobQueue.Replay.replayed)" }) {
            throw ExitCode(1)
        }
    }
}
