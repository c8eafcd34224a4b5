public import JobQueue

extension JobFacts {
    /// The reason for the job's state: a sentence for pages and the API, without commands, host names of workers, and paths of the
    /// server.
    public var detail: String { reason.detail }
}

extension JobReason {
    /// The sentence for the reason alone.
    public var detail: String {
        switch self {
        case .laterFormat: "A newer release of the service processes it."
        case .batchCancelled(let reason):
            "Its batch was cancelled (\(reason)); it ends when its turn comes."
        case .stopped(let stop, .ready(let rank)):
            "It waits: \(Self.detail(stop)); \(Phrase.ahead(rank))."
        case .stopped(let stop, .batchStream(let batch, let rank)):
            "It waits in the stream of batch \(batch): \(Self.detail(stop))\(Phrase.aheadInBatch(rank))."
        case .quarantined(let crashes, let rank):
            "It waits for a worker without other jobs after \(Phrase.plural(crashes, "crash", "crashes")); "
                + "\(Phrase.ahead(rank))."
        case .tenantCap(_, let cap, let rank, let about):
            "It waits: \(Phrase.plural(cap, "job")) of the tenant may run at the same time; "
                + "\(Phrase.ahead(rank))\(Phrase.about(about))."
        case .ableWorker(_, let rank, let about):
            "It waits for a worker that can do it, which not all can; \(Phrase.ahead(rank))\(Phrase.about(about))."
        case .freeSlot(let rank, let about):
            "It waits for a free slot; \(Phrase.ahead(rank))\(Phrase.about(about))."
        case .inBatchStream(let batch, let rank, let about):
            "It waits in the stream of batch \(batch)\(Phrase.aheadInBatch(rank))\(Phrase.about(about))."
        case .incoming(_, let hasWorkers, let hold):
            "It was sent and is not admitted yet"
                + (hasWorkers ? "" : ": no worker runs")
                + (hold == nil ? "" : ": enough jobs wait already") + "."
        case .retryAt(let due, let wait, let failures, let error):
            "It waits for its next attempt \(Phrase.when(due, wait)): \(Phrase.plural(failures, "attempt")) failed, the "
                + "last one with \(Self.detail(error))"
        case .notBefore(let due, let wait):
            "It waits for its time and begins \(Phrase.when(due, wait))."
        case .behindAsset(let asset, let holder):
            "It waits: another job of \(asset)\(holder.map { ", which is \($0.state)," } ?? "") comes first"
                + (holder.map { $0.ahead == 0 ? "" : "; \($0.ahead) more of this asset ahead" }
                    ?? "")
                + "."
        default: laterDetail
        }
    }

    // The sentence for a job that a worker holds, or that has ended.
    private var laterDetail: String {
        switch self {
        case .running(_, let since, let stage, let attempt):
            "It runs\(since.map { " for \(Phrase.span($0))" } ?? "")"
                + (stage.map { " (\(Self.text($0)))" } ?? "")
                + (attempt == 1 ? "." : ", attempt \(attempt).")
        case .beingStopped(_, let reason): "It is being stopped: it was cancelled (\(reason))."
        case .leaseLost(_, let ago):
            "Its worker has sent no heartbeat for \(Phrase.span(ago)); another worker takes the job over."
        case .publishing(_, let version):
            "\(Self.title(version)) is made current; it cannot be cancelled any more."
        case .publishingAgain(let version, let error):
            "\(Self.title(version)) could not be made current; the next attempt follows: \(Self.detail(error))"
        case .stuck(let since, let version, let error):
            "\(Self.title(version)) could not be published\(since.map { " since \(Phrase.time($0))" } ?? ""): "
                + "\(Self.detail(error)) Later edits of \(version.asset) wait. It can be replayed after the cause "
                + "is removed, or cancelled."
        case .cancelled(let at, let reason):
            Phrase.ended("It was cancelled\(Phrase.at(at))" + (reason.map { ": \($0)" } ?? ""))
        case .unchanged(let at): "It is done\(Phrase.at(at)): there was nothing to do."
        case .superseded(let at, let asset):
            "It ended\(Phrase.at(at)): an edit of \(asset) that arrived later was published before."
        case .drafted(let at, let version):
            "It is done\(Phrase.at(at)): \(Self.text(version)) is prepared as a draft."
        case .published(let at, _, let version):
            "It is done\(Phrase.at(at)): \(Self.text(version)) was published."
        case .dead(let at, let error, let advice):
            "It failed\(Phrase.at(at)) with \(Self.detail(error)) \(Self.detail(advice))"
        case .dropped:
            "It ended, and its record was removed, so only its id is remembered; see the asset's history."
        case .unknownMember(let batch, let absence): "Batch \(batch) \(absence.text)."
        case .unknown:
            "No job has this id: it is wrong, or the job was done long ago, or it was never sent."
        default: code
        }
    }

    private static func detail(_ stop: Stop) -> String {
        switch stop {
        case .queuePaused(let reason): "the queue is paused (\(reason))"
        case .tenantPaused: "the tenant is paused"
        case .noWorker: "no worker runs"
        case .workersInTrouble: "no worker can take jobs at present"
        }
    }

    private static func detail(_ error: Failing) -> String {
        "\(error.code): \(Phrase.ended(PublicMessage.of(error.message)))"
    }

    private static func detail(_ advice: Advice) -> String {
        switch advice {
        case .sendAgain: "No valid job was received: correct it and send it again."
        case .reportAndReplay:
            "It can be replayed; an operator of the service should examine it first."
        case .replayWithoutDeadline: "A replay runs it without its deadline."
        case .replay: "It can be replayed after the cause is removed."
        case .changeEdit:
            "The same edit would fail again: replay the job with another edit, or send another job."
        }
    }

    private static func title(_ version: Version) -> String {
        "Version \(version.name) of \(version.asset)"
    }
}

extension JobReason.Absence {
    /// The end of a sentence that begins with the batch.
    var text: String {
        switch self {
        case .beyondSeal(let jobs):
            "is sealed at \(Phrase.plural(jobs, "job")), so this one never runs; send it in another batch"
        case .notSent: "has not received this job yet"
        case .trimmed:
            "counts this job as cancelled: a producer dropped its entry before a worker read it"
        case .lost: "has lost the record of this job"
        case .unopened:
            "was not opened, so the entries of its stream do not run; open it with its edit"
        case .batchDropped: "has ended, and its record was dropped"
        }
    }
}
