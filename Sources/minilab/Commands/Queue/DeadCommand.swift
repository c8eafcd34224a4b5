import Adjustments
import ArgumentParser
import JobQueue

/// `minilab dead`.
struct DeadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "Lists the jobs that failed for good, with their reasons.",
        discussion: """
            Example:
              minilab dead --count 20
            """)

    @Option(help: "How many to pass over.") var offset = 0
    @Option(help: "How many to list at most.") var count = 100
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard offset >= 0, (1...10_000).contains(count) else {
            throw ValidationError("--offset is 0 or more, --count is 1 to 10000.")
        }
    }

    func run() async throws {
        let records = try await queueOptions.withQueue { queue, _ in
            try await queue.dead(offset: offset, count: count)
        }
        if json { return try printJSON(records) }
        var table = TextTable(["job", "died", "asset", "code", "reason"])
        for record in records {
            table.add([
                record.job, record.ended.map(date) ?? "", record.asset,
                record.code?.rawValue ?? "", record.message ?? "",
            ])
        }
        print(records.isEmpty ? "no dead jobs" : table.text)
    }
}
