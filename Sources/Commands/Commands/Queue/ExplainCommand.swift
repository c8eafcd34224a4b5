import ArgumentParser
import JobQueue
import Operations

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explains in one sentence where a job is and why.",
        discussion: """
            Name a job by the producer's id, by the id that XADD answered, or by its batch and number. Ends \
            with 1 when a job is unknown.

            Example:
              minilab explain order-77-photo-3
              minilab explain spring:4711 --json
            """)

    @Argument(help: "Jobs.") var jobs: [String]
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print one JSON object per line: the facts and the sentence.") var json = false

    func run() async throws {
        let facts = try await queueOptions.withQueue { queue, _ in
            var facts: [JobFacts] = []
            for job in jobs { facts.append(try await queue.facts(of: job)) }
            return facts
        }
        for job in facts {
            if json {
                try printJSON(ExplainedJob(job), pretty: false)
            } else {
                print(jobs.count == 1 ? job.sentence : "\(job.job): \(job.sentence)")
            }
        }
        if facts.contains(where: { !$0.isKnown }) { throw ExitCode(1) }
    }
}
