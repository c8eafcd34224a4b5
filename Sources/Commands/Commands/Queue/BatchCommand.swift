import ArgumentParser
import Edits
import JobQueue
import Operations

struct BatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch",
        abstract: "Lists batches, or shows the progress of one.",
        discussion: """
            Example:
              minilab batch
              minilab batch spring --json
            """)

    @Argument(help: "A batch (default: list the newest ones).") var batch: String?
    @Flag(help: "List only those that have not ended.") var open = false
    @Option(help: "Maximum number to list.") var count = 20
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        try (1...JobQueue.batchesListedMax).check(count, "--count")
    }

    func run() async throws {
        let one = try batch.map { try BatchID($0) }
        let (reports, more) = try await queueOptions.withQueue { queue, _ in
            let slots = try await queue.workers().reduce(0) { $0 + $1.slots }
            if let one {
                guard let record = try await queue.record(of: one) else { throw unknown(one) }
                return ([BatchReport(record, slots: slots)], 0)
            }
            let list = try await queue.batches(open ? .open : .all, count: count)
            return (list.records.map { BatchReport($0, slots: slots) }, list.more)
        }
        if json {
            if one != nil { return try printJSON(reports[0]) }
            return try printJSON(reports)
        }
        if one != nil { return print(block: Self.text(reports[0])) }
        print(block: reports.isEmpty ? "no batches" : Self.table(reports) + Self.more(more))
    }

    /// Returns a line for batches that are not shown, as it follows a table; an empty text if there are none.
    static func more(_ count: Int) -> String {
        count > 0 ? "\nand \(counted(count, "older batch", "older batches"))" : ""
    }

    static func table(_ reports: [BatchReport]) -> String {
        var table = TextTable(
            ["batch", "tenant", "jobs", "done", "dead", "cancelled", "left", "jobs/s", "state"],
            rightAligned: [2, 3, 4, 5, 6, 7])
        for report in reports {
            let batch = report.record
            table.add([
                batch.batch, batch.tenant, "\(batch.jobs)", "\(batch.done)", "\(batch.dead)",
                "\(batch.cancelled)", "\(batch.remaining)", decimal(report.rate),
                state(report),
            ])
        }
        return table.text
    }

    static func state(_ report: BatchReport) -> String {
        let batch = report.record
        if let ended = batch.ended {
            return (batch.cancel == nil ? "ended " : "cancelled ") + date(ended)
        }
        if let reason = batch.cancel { return "being cancelled: \(reason)" }
        let eta =
            report.remainingSeconds.map { ", about \(clock(Int($0.rounded(.up)))) of work left" }
            ?? ""
        return (batch.sealed == nil ? "open, not sealed" : "open") + eta
    }

    private static func text(_ report: BatchReport) -> String {
        let batch = report.record
        var table = TextTable([batch.batch, state(report)], rightAligned: [])
        table.add(["tenant, priority", "\(batch.tenant), \(batch.priority)"])
        table.add(["opened", date(batch.opened)])
        table.add([
            "jobs", batch.sealed.map { "\($0)" } ?? "\(batch.jobs) so far; not sealed",
        ])
        if let reason = batch.sealedBecause { table.add(["sealed by a worker", reason]) }
        table.add(["in its stream", "\(batch.lane)"])
        table.add(["waiting or running", "\(max(0, batch.remaining - batch.lane))"])
        table.add(["done", "\(batch.done)"])
        table.add(["dead", "\(batch.dead)"])
        table.add(["cancelled", "\(batch.cancelled)"])
        if let cap = batch.cap { table.add(["at most at a time", "\(cap)"]) }
        if batch.generation > 1 { table.add(["generation", "\(batch.generation)"]) }
        table.add(["jobs per second", decimal(report.rate)])
        if let mean = report.meanCost { table.add(["mean cost", "\(decimal(mean)) ms"]) }
        return table.text
    }
}

func unknown(_ batch: BatchID) -> CommandError {
    CommandError(
        "there is no batch \(batch): its name is wrong, no worker has taken it in yet, or its record was dropped "
            + "some time after it ended. minilab batch lists those that there are.")
}
