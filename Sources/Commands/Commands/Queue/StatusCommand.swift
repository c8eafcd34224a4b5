import ArgumentParser
import Edits
import JobQueue
import Operations

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Counts the jobs in each state, or shows one job.",
        discussion: """
            Example:
              minilab status
              minilab status 1763700000000-0
            """)

    @Argument(help: "A job.") var job: String?
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        if let job { return try await show(job) }
        let (status, rules) = try await queueOptions.withQueue { queue, _ in
            (try await queue.status(), try await queue.tenantRules())
        }
        if json { return try printJSON(status) }
        var table = TextTable(["jobs", ""], rightAligned: [1])
        for state in JobState.counted {
            table.add([state.countText, "\(status[state])"])
        }
        for (name, count) in status.counters.sorted(by: { $0.key < $1.key }) {
            // A batch ends again after each replay of its jobs.
            table.add([name == "batches" ? "total ends of batches" : "total \(name)", "\(count)"])
        }
        print(block: table.text)
        if let reason = status.paused { print("PAUSED: \(reason)") }
        for tenant in rules.filter({ $0.value.cap == 0 }).keys.sorted() {
            print("PAUSED: tenant \(tenant)")
        }
        if let due = status.dueForNobody {
            print("DUE: \(due), and no worker runs. Start one: minilab worker.")
        }
        if let hold = status.ingressHold { print("HELD: \(hold.sentence)") }
        for job in status.stuckJobs {
            print(
                "STUCK \(job.job): \(job.asset), \(job.code?.rawValue ?? "?"): \(job.message ?? "?")"
            )
        }
        Self.tell(more: status[.stuck] - status.stuckJobs.count, "stuck job")
        for worker in status.workers {
            print(
                "worker \(worker.name): "
                    + (status.inHand(of: worker).map { "\($0) in hand, \(worker.slots) slots" }
                        ?? "\(worker.busy) of \(worker.slots) slots busy at its last report")
                    + (worker.memory.map { ", memory \($0)" } ?? "")
                    + (worker.trouble.map { ", claims no jobs: \($0)" } ?? ""))
        }
        for worker in status.silentWorkers {
            print(
                "worker \(worker.name): no heartbeat"
                    + (worker.since.map { " since \(date($0))" } ?? ""))
        }
        for held in status.held {
            print(
                "\(held.state) \(held.job): \(held.asset), held by \(held.worker ?? "?")"
                    + (held.claimed.map { " since \(date($0))" } ?? ""))
        }
        Self.tell(more: status.inHand - status.held.count, "job", end: " in workers' hands")
    }

    /// Says how many of a kind are not listed.
    private static func tell(more: Int, _ noun: String, end: String = "") {
        if more > 0 { print("and \(counted(more, "more " + noun))\(end)") }
    }

    private func show(_ job: String) async throws {
        let status = try await queueOptions.withQueue { queue, _ in
            if let status = try await JobStatus(of: job, on: queue) { return status }
            let sentence = try await queue.facts(of: job).sentence
            throw CommandError("there is no record of job \(job.debugDescription): \(sentence).")
        }
        if json { return try printJSON(status) }
        let record = status.record
        print("\(record.job): \(record.state), \(record.asset)")
        print(
            "generation \(record.generation), \(record.attempts) failed, \(record.crashes) crashed")
        print(
            "enqueued \(date(record.enqueued))" + (record.ended.map { ", ended \(date($0))" } ?? "")
        )
        if let version = record.version { print("version \(version)") }
        if let code = record.code { print("\(code.rawValue): \(record.message ?? "")") }
        for attempt in status.history {
            print("  \(attempt.at) \(attempt.worker) \(attempt.code.rawValue): \(attempt.message)")
        }
    }
}
