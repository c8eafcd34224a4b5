import ArgumentParser
import Edits
import JobQueue
import Operations
import Telemetry

struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancels waiting and running jobs.",
        discussion: """
            Workers stop a running job at once; a version that is being published stays. A whole batch is cancelled \
            in one step, whatever its size; those of its jobs that had left the stream are then ended one after the \
            other. Jobs that no worker has admitted yet are not found: the command says how many wait, and ends with 1. Ends with 1 \
            when a job could not be cancelled, too.

            Example:
              minilab cancel order-77-photo-3 --reason "ordered twice"
              minilab cancel --batch spring
              minilab cancel --tenant acme --reason "contract ended"
            """)

    @Argument(help: "Jobs.") var jobs: [String] = []
    @Option(help: "All jobs of this batch.") var batch: String?
    @Option(help: "All jobs and batches of this tenant.") var tenant: String?
    @Option(help: "Why; it is in the events.") var reason = "cancelled by an operator"
    @OptionGroup var queueOptions: QueueOptions
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard [!jobs.isEmpty, batch != nil, tenant != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("name the jobs, or give --batch, or give --tenant; one of them.")
        }
        guard !reason.isEmpty, reason.utf8.count <= QueueRule.reasonBytesMax else {
            throw ValidationError(
                "--reason has \(reason.utf8.count) bytes; expected 1 to \(QueueRule.reasonBytesMax)."
            )
        }
    }

    func run() async throws {
        if let batch { return try await cancel(BatchID(batch)) }
        if let tenant { return try await cancel(tenant: JobID(tenant)) }
        try await cancel(jobs)
    }

    private func cancel(_ jobs: [String]) async throws {
        let (answers, standing) = try await queueOptions.withQueue { queue, redis in
            var answers: [JobQueue.Cancellation] = []
            for start in stride(from: 0, to: jobs.count, by: JobQueue.cancelMax) {
                let chunk = Array(jobs[start..<min(start + JobQueue.cancelMax, jobs.count)])
                answers += try await queue.cancel(chunk, reason: reason)
            }
            let audit = CommandAudit(redis, queue.name)
            let cancelled = zip(jobs, answers).filter { $1.isEffective }.map { $0.0 }
            if let first = cancelled.first {
                await audit.note(
                    "cancelJob",
                    cancelled.count == 1 ? first : "\(first) and \(cancelled.count - 1) more")
            }
            let isKnown = answers.allSatisfy { $0 != .unknown }
            return (answers, isKnown ? 0 : try await queue.standingEntries())
        }
        if json {
            try printJSON(
                zip(jobs, answers).map { ["job": $0, "answer": "\($1)"] })
        } else {
            for (job, answer) in zip(jobs, answers) { print("\(job): \(answer.text)") }
        }
        warn(standing)
        guard answers.allSatisfy(\.isEffective) else { throw ExitCode(1) }
    }

    private func cancel(_ batch: BatchID) async throws {
        let record = try await queueOptions.withQueue { queue, redis in
            let (answer, _) = try await queue.cancelWhole(batch, reason: reason)
            switch answer {
            case .unknown, .later, .damaged: throw unknown(batch)
            case .ended:
                throw CommandError(
                    "batch \(batch) has ended; there is nothing left to cancel.")
            case .cancelled, .notified, .publishing:
                await CommandAudit(redis, queue.name).note("cancelBatch", "\(batch): \(reason)")
                return try await queue.record(of: batch)
            }
        }
        guard let record else { return }
        if json { return try printJSON(record) }
        print(
            "batch \(batch) is cancelled: \(record.cancelled) of \(record.jobs) jobs never run"
                + (record.remaining == 0
                    ? "" : "; workers stop \(counted(record.remaining, "job")) that run"))
    }

    private struct TenantReport: Encodable {
        let tenant: String
        let batches: [String]
        let jobs: Int
        let told: Int
        let publishing: Int
    }

    private func cancel(tenant: JobID) async throws {
        let (report, standing) = try await queueOptions.withQueue { queue, redis in
            // Batches are cancelled first; otherwise they would feed further jobs of the tenant into the queue.
            var batches: [String] = []
            for batch in try await queue.openBatches() where batch.tenant == tenant.string {
                _ = try await queue.cancelWhole(BatchID(batch.batch), reason: reason)
                batches.append(batch.batch)
            }
            let ended = try await queue.cancelJobs(of: tenant, reason: reason)
            let isKnown = try await queue.tenantRules()[tenant.string] != nil
            let standing = try await queue.standingEntries()
            guard
                isKnown || standing > 0 || !batches.isEmpty || ended.cancelled + ended.notified > 0
                    || ended.publishing > 0
            else {
                throw CommandError(
                    "tenant \(tenant.string.debugDescription) has no batches and no jobs that have not ended: nothing was "
                        + "cancelled. minilab top lists the tenants that have jobs.")
            }
            await CommandAudit(redis, queue.name).note(
                "cancelTenant",
                "\(tenant): \(counted(batches.count, "batch", "batches")), \(counted(ended.cancelled, "job"))"
            )
            let report = TenantReport(
                tenant: tenant.string, batches: batches, jobs: ended.cancelled,
                told: ended.notified,
                publishing: ended.publishing)
            return (report, standing)
        }
        warn(standing)
        if json { try printJSON(report) } else { tell(report) }
        if standing > 0 { throw ExitCode(1) }
    }

    private func tell(_ report: TenantReport) {
        print(
            "tenant \(report.tenant): \(counted(report.batches.count, "batch", "batches")) and "
                + "\(counted(report.jobs, "job")) cancelled"
                + (report.told > 0 ? ", workers stop \(report.told) that run" : "")
                + (report.publishing > 0 ? ", \(report.publishing) are being published" : ""))
    }

    /// Says that there may be jobs which were not found.
    private func warn(_ standing: Int) {
        guard standing > 0 else { return }
        StandardError.write(
            "warning: \(counted(standing, "entry", "entries")) that no worker has admitted may be jobs to cancel, and run later. Pause "
                + "the queue or the tenant (minilab pause), let a worker admit them, and cancel again."
        )
    }
}

extension JobQueue.Cancellation {
    var text: String {
        switch self {
        case .cancelled: "cancelled"
        case .notified: "its worker was asked to stop it"
        case .publishing: "too late: its version is being published"
        case .ended: "had ended already; run minilab explain for the outcome"
        case .later: "its record is of a later format; use a newer minilab"
        case .unknown: "there is no such job (any more)"
        case .damaged: "its record is damaged; run minilab doctor"
        }
    }

    /// Whether the job will not change its asset.
    var isEffective: Bool { self == .cancelled || self == .notified }
}
