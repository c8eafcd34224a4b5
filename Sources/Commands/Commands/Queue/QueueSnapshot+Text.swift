import Edits
import FoundationEssentials
import JobQueue
import Operations

extension JobState {
    /// The words for its count on a terminal.
    var countText: String { self == .lane ? "in batches" : countName }
}

extension QueueSnapshot {
    private static let counters = [
        "admitted", "completed", "drafted", "rendered", "unchanged", "superseded", "failed",
        "retried", "cancelled", "crashed", "requeued", "voided", "pardoned",
    ]

    /// Returns the status as text for people.
    ///
    /// - Parameter rows: the lines of the terminal; nil for no limit.
    func text(rows: Int?) -> String {
        // Five lines are headings and counts; each of the four tables has its own heading and an empty line.
        let each = rows.map { max(2, ($0 - 6) / 4 - 2) } ?? Int.max
        var lines = [
            "queue \(queue) at \(at.formatted(.iso8601))"
                + (status.paused.map { ", PAUSED: \($0)" } ?? ""),
            JobState.counted.map { "\($0.countText) \(status[$0])" }
                .joined(separator: ", "),
            Self.counters.map { name in
                "\(name) "
                    + (perSecond.map { decimal($0[name] ?? 0) + "/s" }
                        ?? "\(status.counters[name] ?? 0)")
            }.joined(separator: ", "),
        ]
        if let shortage { lines.append(shortage) }
        if let trouble { lines.append(trouble) }
        if let due = status.dueForNobody {
            lines.append("DUE: \(due), and no worker runs. Start one: minilab worker.")
        }
        if let hold = status.ingressHold { lines.append("HELD: \(hold.sentence)") }
        if let stuck { lines.append(stuck) }
        lines = lines.map(\.printable)
        for table in [flows(each), workers(each), batchTable(each), held(each)] {
            if let table { lines += ["", table] }
        }
        return lines.joined(separator: "\n")
    }

    /// The number of versions that cannot be published, and the first of them.
    private var stuck: String? {
        status.stuckJobs.first.map { job in
            "STUCK: \(counted(status[.stuck], "job")); the first is \(job.job), \(job.code?.rawValue ?? "?"): "
                + "\(job.message ?? "?") run minilab explain \(job.job) for the remedy"
        }
    }

    /// The workers that are short of memory, and the readings of the worst one.
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

    /// The workers that claim no jobs, and what the first of them says.
    private var trouble: String? {
        let troubled = status.workers.filter { $0.trouble != nil }
        return troubled.first.map {
            "NO CLAIMS by \(troubled.count) of \(status.workers.count) workers; \($0.name): \($0.trouble ?? "")"
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
        let silent = status.silentWorkers.prefix(most).map { worker in
            "\(worker.name) has sent no heartbeat\(worker.since.map { " since \(date($0))" } ?? "")"
        }
        guard !status.workers.isEmpty else {
            return (["no worker runs"] + silent).joined(separator: "\n")
        }
        var table = TextTable(
            ["worker", "in hand", "slots", "memory", "since"], rightAligned: [1, 2])
        for worker in status.workers.prefix(most) {
            let memory = [
                worker.memory?.description, worker.pressure?.level,
                worker.pressure.flatMap { $0.paused > 0 ? "\($0.paused) paused" : nil },
            ]
            table.add([
                worker.name, "\(status.inHand(of: worker) ?? worker.busy)", "\(worker.slots)",
                memory.compactMap(\.self).joined(separator: ", "), worker.startedAt,
            ])
        }
        return ([table.text] + silent).joined(separator: "\n")
    }

    private func batchTable(_ most: Int) -> String? {
        guard !batches.isEmpty else { return nil }
        let shown = Array(batches.prefix(most))
        let left = batches.count - shown.count + moreBatches
        return BatchCommand.table(shown) + BatchCommand.more(left)
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
