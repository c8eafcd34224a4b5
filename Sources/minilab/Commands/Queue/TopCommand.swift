import Adjustments
import ArgumentParser
import FoundationEssentials
import Glibc
import JobQueue

/// `minilab top`.
struct TopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Shows a queue at work: rates, flows, workers, batches, running jobs.",
        discussion: """
            On a terminal it is drawn anew each second, until Ctrl-C. Elsewhere, and with --once, it is printed once, \
            without rates, which need two looks. With --json: an object per line and look.

            Example:
              minilab top
              minilab top --once
              minilab top --json | jq .perSecond.completed
            """)

    @Flag(help: "Look once.") var once = false
    @Option(help: ArgumentHelp("Seconds between two looks.", valueName: "s")) var every = 1
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON, an object per line.") var json = false

    private static let everyRange = 1...3600

    func validate() throws {
        guard Self.everyRange.contains(every) else {
            throw ValidationError(
                "--every is \(every); expected 1 to \(Self.everyRange.upperBound).")
        }
    }

    func run() async throws {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let isLive = !once && (json || isTerminal)
        try await queueOptions.withQueue { queue, _ in
            var before: QueueLook?
            repeat {
                let look = try await QueueLook(queue, after: before)
                if json {
                    try printJSON(look, pretty: false)
                } else if isLive {
                    draw(look.text(rows: Self.terminalRows))
                } else {
                    print(block: look.text(rows: nil))
                }
                fflushStandardOutput()
                before = look
                if isLive { try await Task.sleep(for: .seconds(every)) }
            } while isLive
        }
    }

    /// Over the last picture, line by line, so that nothing flickers.
    private func draw(_ text: String) {
        let lines = text.printableLines.split(separator: "\n", omittingEmptySubsequences: false)
        Swift.print(
            "\u{1b}[H" + lines.map { $0 + "\u{1b}[K" }.joined(separator: "\n") + "\u{1b}[J",
            terminator: "")
    }

    private static var terminalRows: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0 else { return 24 }
        return Int(size.ws_row)
    }
}

/// A queue at one moment, and what happened since the look before.
struct QueueLook: Encodable {
    let queue: String
    let at: Date
    let status: QueueStatus
    /// Counters' differences per second; nil for the first look.
    let perSecond: [String: Double]?
    /// Batches that have not ended, the newest first.
    let batches: [BatchCommand.Report]

    /// Most batches that are shown.
    private static let batchesMax = 20

    init(_ queue: JobQueue, after before: QueueLook?) async throws {
        let status = try await queue.status()
        let slots = status.workers.reduce(0) { $0 + $1.slots }
        self.init(
            queue: queue.name.string, at: .now, status: status, after: before,
            batches: try await queue.batches(openOnly: true, count: Self.batchesMax)
                .map { BatchCommand.Report($0, slots: slots) })
    }

    init(
        queue: String, at: Date, status: QueueStatus, after before: QueueLook?,
        batches: [BatchCommand.Report]
    ) {
        self.queue = queue
        self.at = at
        self.status = status
        self.batches = batches
        perSecond = before.map { before in
            let seconds = max(at.timeIntervalSince(before.at), 0.001)
            return status.counters.reduce(into: [:]) { rates, counter in
                let passed = counter.value - (before.status.counters[counter.key] ?? 0)
                rates[counter.key] = Double(passed) / seconds
            }
        }
    }
}

extension QueueLook {
    private static let counters = [
        "admitted", "completed", "unchanged", "superseded", "failed", "retried", "cancelled",
        "crashed", "requeued", "voided", "pardoned",
    ]

    /// For people.
    ///
    /// - Parameter rows: how many lines there is room for; nil for all.
    func text(rows: Int?) -> String {
        // Five lines of heads and counts; each of the four tables has its own head and an empty line.
        let each = rows.map { max(2, ($0 - 6) / 4 - 2) } ?? Int.max
        var lines = [
            "queue \(queue) at \(at.formatted(.iso8601))"
                + (status.paused.map { ", PAUSED: \($0)" } ?? ""),
            [
                ("incoming", status.incoming), ("in lanes", status.lanes), ("ready", status.ready),
                ("delayed", status.delayed), ("parked", status.parked), ("active", status.active),
                ("stuck", status.stuck), ("dead", status.dead),
            ].map { "\($0) \($1)" }.joined(separator: ", "),
            Self.counters.map { name in
                "\(name) "
                    + (perSecond.map { decimal($0[name] ?? 0) + "/s" }
                        ?? "\(status.counters[name] ?? 0)")
            }.joined(separator: ", "),
        ]
        if let shortage { lines.append(shortage) }
        if let hold = status.ingressHold { lines.append("HELD: \(hold.sentence)") }
        if let stuck { lines.append(stuck) }
        lines = lines.map(\.printable)
        for table in [flows(each), workers(each), batchTable(each), held(each)] {
            if let table { lines += ["", table] }
        }
        return lines.joined(separator: "\n")
    }

    /// How many versions cannot be published, and the first of them.
    private var stuck: String? {
        status.stuckJobs.first.map { job in
            "STUCK: \(counted(status.stuck, "job")); the first is \(job.job), \(job.code?.rawValue ?? "?"): "
                + "\(job.message ?? "?") minilab explain \(job.job) says what to do"
        }
    }

    /// Which workers are short of memory, and what the one that is worst off has read.
    private var shortage: String? {
        let short = status.workers.compactMap { worker in
            worker.pressure.map { (name: worker.name, pressure: $0) }
        }
        let worst = short.max { $0.pressure.paused < $1.pressure.paused }
        return worst.map {
            "MEMORY IS SHORT at \(short.count) of \(status.workers.count) workers; \($0.name) is "
                + "\($0.pressure.level): \($0.pressure.reading)"
        }
    }

    private func flows(_ most: Int) -> String? {
        guard !status.flows.isEmpty else { return nil }
        var table = TextTable(["tenant", "priority", "ready", ""], rightAligned: [2])
        for flow in status.flows.prefix(most) {
            table.add([
                flow.tenant, flow.priority, "\(flow.ready)", flow.isCapped ? "at its cap" : "",
            ])
        }
        return table.text
    }

    private func workers(_ most: Int) -> String? {
        guard !status.workers.isEmpty else { return "no worker runs" }
        var table = TextTable(
            ["worker", "busy", "slots", "memory", "since"], rightAligned: [1, 2])
        for worker in status.workers.prefix(most) {
            let memory = [
                worker.memory?.description, worker.pressure?.level,
                worker.pressure.flatMap { $0.paused > 0 ? "\($0.paused) paused" : nil },
            ]
            table.add([
                worker.name, "\(worker.busy)", "\(worker.slots)",
                memory.compactMap(\.self).joined(separator: ", "), worker.startedAt,
            ])
        }
        return table.text
    }

    private func batchTable(_ most: Int) -> String? {
        batches.isEmpty ? nil : BatchCommand.table(Array(batches.prefix(most)))
    }

    private func held(_ most: Int) -> String? {
        guard !status.held.isEmpty else { return nil }
        var table = TextTable(["job", "asset", "worker", "stage", "for"], rightAligned: [4])
        let now = Int(at.timeIntervalSince1970 * 1000)
        for job in status.held.prefix(most) {
            table.add([
                job.job, job.asset, job.worker ?? "",
                (job.stage ?? job.state.rawValue)
                    + (job.progress.map { " \($0.framesDone * 100 / $0.frames) %" } ?? ""),
                job.claimed.map { clock(max(0, now - $0) / 1000) } ?? "",
            ])
        }
        return table.text
    }
}
