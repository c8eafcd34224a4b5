public import JobQueue

extension JobFacts {
    /// The reason for the job's state and its likely duration: one sentence for an operator at a terminal, with helpful commands.
    public var sentence: String { reason.sentence(of: job) }
}

extension JobReason {
    func sentence(of job: String) -> String {
        switch self {
        case .laterFormat(let state, let format):
            "\(state): its record is of format \(format), and this minilab reads up to \(JobRecord.formatKnown): "
                + "use a newer minilab"
        case .batchCancelled(let reason):
            "waiting, and ends when its turn comes: its batch was cancelled (\(reason))"
        case .stopped(let stop, .ready(let rank)):
            "waiting: \(Self.text(stop)); \(Phrase.ahead(rank))"
        case .stopped(let stop, .batchStream(let batch, let rank)):
            "waiting in the stream of batch \(batch): \(Self.text(stop))\(Phrase.aheadInBatch(rank))"
        case .quarantined(let crashes, let rank):
            "waiting: in quarantine after \(Phrase.plural(crashes, "crash", "crashes")), "
                + "for a worker without other jobs; \(Phrase.ahead(rank))"
        case .tenantCap(let tenant, let cap, let rank, let about):
            "waiting: tenant \(tenant) at its cap of \(cap); \(Phrase.ahead(rank))\(Phrase.about(about))"
        case .ableWorker(let unable, let rank, let about):
            "waiting: for a worker that can do it: \(Phrase.plural(unable, "worker")) cannot; \(Phrase.ahead(rank))"
                + "\(Phrase.about(about))"
        case .freeSlot(let rank, let about):
            "waiting: for a free slot; \(Phrase.ahead(rank))\(Phrase.about(about))"
        case .inBatchStream(let batch, let rank, let about):
            "waiting in the stream of batch \(batch)\(Phrase.aheadInBatch(rank))\(Phrase.about(about))"
        case .incoming(let entries, let hasWorkers, let hold):
            "sent, not yet admitted: \(Phrase.plural(entries, "entry", "entries")) in the ingress stream"
                + (hasWorkers ? "" : "; no worker runs") + (hold.map { "; \($0.sentence)" } ?? "")
        case .retryAt(let due, let wait, let failures, let error):
            "waiting for its next attempt \(Phrase.when(due, wait)): \(Phrase.plural(failures, "attempt")) failed, "
                + "the last one with \(error.code): \(error.message)"
        case .notBefore(let due, let wait):
            "waiting for its time: it begins \(Phrase.when(due, wait))"
        case .behindAsset(let asset, nil): "waiting: behind another job of \(asset)"
        case .behindAsset(let asset, let holder?):
            "waiting: job \(holder.job), which is \(holder.state), has \(asset) first"
                + (holder.ahead == 0 ? "" : "; \(holder.ahead) more of this asset ahead")
                + "; run minilab explain \(holder.job) for details"
        default: laterSentence(of: job)
        }
    }

    // The sentence for a job that a worker holds, or that has ended.
    private func laterSentence(of job: String) -> String {
        switch self {
        case .running(let worker, let since, let stage, let attempt):
            "running\(since.map { " for \(Phrase.span($0))" } ?? ""): \(worker) has it"
                + (stage.map { " (\(Self.text($0)))" } ?? "")
                + (attempt == 1 ? "" : ", attempt \(attempt)")
        case .beingStopped(let worker, let reason):
            "being stopped: \(worker) was notified of the cancellation (\(reason))"
        case .leaseLost(let worker, let ago):
            "lost: \(worker) has sent no heartbeat since its lease ended \(Phrase.span(ago)) ago; the next worker "
                + "that checks takes the job back"
        case .publishing(let worker, let version):
            "publishing: \(worker) makes \(Self.text(version)) current; it cannot be cancelled any more"
        case .publishingAgain(let version, let error):
            "publishing: \(Self.text(version)) could not be made current (\(error.code): \(error.message)); the "
                + "next worker that checks retries"
        case .stuck(let since, let version, let error):
            "stuck\(since.map { " since \(Phrase.time($0))" } ?? ""), \(error.code): \(Self.text(version)) could not "
                + "be published: \(error.message) Later edits of \(version.asset) wait. Remove the cause; then run "
                + "minilab replay \(job), or minilab cancel \(job) to give it up."
        case .cancelled(let at, let reason):
            "cancelled\(Phrase.at(at))" + (reason.map { ": \($0)" } ?? "")
        case .unchanged(let at): "done\(Phrase.at(at)): there was nothing to do"
        case .superseded(let at, let asset):
            "superseded\(Phrase.at(at)): an edit of \(asset) that arrived later was published before"
        case .drafted(let at, let version):
            "done\(Phrase.at(at)): \(Self.text(version)) is prepared as a draft"
        case .published(let at, let worker, let version):
            "done\(Phrase.at(at)): \(worker) published \(Self.text(version))"
        case .dead(let at, let error, let advice):
            "dead\(Phrase.at(at)), \(error.code): \(Phrase.ended(error.message)) \(Self.command(advice, job))"
        case .dropped:
            "ended: its record was removed, so only its id is remembered; see the asset's history"
        case .unknownMember(let batch, let absence): "not a job: batch \(batch) \(absence.text)"
        case .unknown(let entries, let hasWorkers, let hold):
            "unknown: no job has this id; it is wrong, or the job was done long ago, or it was never sent"
                + (entries == 0
                    ? ""
                    : "; or it is one of \(Phrase.plural(entries, "entry", "entries")) not yet admitted")
                + (entries > 0 && !hasWorkers ? " (no worker runs)" : "")
                + (hold.map { "; \($0.sentence)" } ?? "")
        default: code
        }
    }

    private static func text(_ stop: Stop) -> String {
        switch stop {
        case .queuePaused(let reason):
            "the queue is paused (\(reason)); minilab resume continues it"
        case .tenantPaused(let tenant):
            "tenant \(tenant) is paused; minilab resume --tenant \(tenant) continues it"
        case .noWorker: "no worker runs"
        case .workersInTrouble(let workers, let trouble):
            "\(Phrase.plural(workers, "worker runs", "workers run")), and none claims jobs (\(trouble))"
        }
    }

    private static func command(_ advice: Advice, _ job: String) -> String {
        let replay = "minilab replay \(job)"
        return switch advice {
        case .sendAgain: "No valid job was received: have the sender correct it and send it again."
        case .reportAndReplay:
            "Run minilab dead \(job) --bundle and keep the bundle for a report; then run \(replay)."
        case .replayWithoutDeadline: "\(replay) runs it without its deadline."
        case .replay: "Remove the cause; then run \(replay)."
        case .changeEdit:
            "The same edit would fail again: run \(replay) --with-edit FILE, or send another job."
        }
    }

    static func text(_ stage: Stage) -> String {
        stage.name + (stage.progress.map { ", \($0)" } ?? "")
    }

    static func text(_ version: Version) -> String {
        "version \(version.name) of \(version.asset)"
    }
}
