public import Edits
import FoundationEssentials
public import JobQueue

extension JobFacts {
    /// The reason for the job's state: a sentence for pages and the API, without commands, host names of workers, and paths of the
    /// server.
    public var detail: String { reason.detail }
}

extension JobReason {
    public var detail: String {
        switch self {
        case .laterFormat: "A newer release of the service processes it."
        case .batchCancelled(let reason):
            "Its batch was cancelled (\(reason)); it ends when its turn comes."
        case .stopped(let stop, .ready(let rank)):
            "It waits: \(Self.detail(stop)); \(Phrase.ahead(rank))."
        case .stopped(let stop, .batchStream(let batch, let rank)):
            "It waits in the stream of batch \(batch): \(Self.detail(stop))\(Phrase.aheadInBatch(rank))."
        case .stopped(let stop, .due): "Its time has come, and it waits: \(Self.detail(stop))."
        case .quarantined(let crashes, let rank):
            "It waits for a worker without other jobs after \(Phrase.plural(crashes, "crash", "crashes")); "
                + "\(Phrase.ahead(rank))."
        case .tenantCap(_, let cap, let rank, let about):
            "It waits: \(Phrase.plural(cap, "job")) of the tenant may run at the same time; "
                + "\(Phrase.ahead(rank))\(Phrase.about(about))."
        case .ableWorker(_, _, _, let rank, let about):
            "It waits for a worker that can do it, which not all can; \(Phrase.ahead(rank))\(Phrase.about(about))."
        case .freeSlot(let rank, let about):
            "It waits for a free slot; \(Phrase.ahead(rank))\(Phrase.about(about))."
        case .inBatchStream(let batch, let rank, let about):
            "It waits in the stream of batch \(batch)\(Phrase.aheadInBatch(rank))\(Phrase.about(about))."
        case .incoming(_, let hasWorkers, let hold):
            "It was sent and is not admitted yet"
                + (hasWorkers ? "" : ": no worker runs")
                + (hold.map { $0.memory == nil ? ": enough jobs wait already" : ": Redis is full" }
                    ?? "") + "."
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
        case .deadlinePassed(let at, let ago, let stop):
            "It did not begin before its deadline, which passed \(Phrase.span(ago)) ago (\(Phrase.time(at))), and fails when its "
                + "turn comes\(stop.map { ": \(Self.detail($0))" } ?? "")."
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
        case .leaseLost(_, let ago, let hasWorkers):
            "Its worker has sent no heartbeat for \(Phrase.span(ago)); "
                + (hasWorkers ? "another worker takes the job over." : "no worker runs.")
        case .publishing(_, let version):
            "\(Self.title(version)) is made current; it cannot be cancelled any more."
        case .publishingAgain(let version, let error, let hasWorkers):
            "\(Self.title(version)) could not be made current; "
                + (hasWorkers ? "the next attempt follows" : "no worker runs for the next attempt")
                + ": \(Self.detail(error))"
        case .stuck(let since, let version, let error):
            "\(Self.title(version)) could not be published\(since.map { " since \(Phrase.time($0))" } ?? ""): "
                + "\(Self.detail(error)) Later edits of \(version.asset) wait. It can be replayed after the cause "
                + "is removed, or cancelled."
        case .cancelled(let at, let reason):
            Phrase.ended("It was cancelled\(Phrase.at(at))" + (reason.map { ": \($0)" } ?? ""))
        case .rendered(let at): "It is done\(Phrase.at(at)): renditions were made."
        case .unchanged(let at, let reason):
            Phrase.ended("It is done\(Phrase.at(at)): \(Self.nothingToDo(reason))")
        case .superseded(let at, let asset):
            "It ended\(Phrase.at(at)): an edit of \(asset) that arrived later was published before."
        case .drafted(let at, let version):
            "It is done\(Phrase.at(at)): \(Self.text(version)) is prepared as a draft."
        case .published(let at, _, let version):
            "It is done\(Phrase.at(at)): \(Self.text(version)) was published."
        case .dead(let at, let error, let advice):
            "It failed\(Phrase.at(at)) with \(Self.detail(error)) \(Self.detail(advice))"
        case .moved:
            "It failed, and its record was moved out of the queue; an operator of the service can start it again."
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
        case .fitState:
            "The asset's versions do not fit the edit: see its history, and send an edit that fits."
        case .changeEdit:
            "The same edit would fail again: replay the job with another edit, or send another job."
        }
    }

    private static func nothingToDo(_ reason: String?) -> String {
        reason.map { "no new version was made: \($0)" } ?? "there was nothing to do"
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

extension JobReason {
    /// The reason for programs: `{"code":"freeSlot","ahead":12,"aboutSeconds":3}`. Unknown and inapplicable values are left out; it
    /// contains no name of a worker and no path of the server.
    public var json: JSONValue {
        var fields: [String: JSONValue] = ["code": .string(code)]
        func add(_ name: String, _ number: Int?) {
            if let number { fields[name] = .number(Double(number)) }
        }
        func add(_ name: String, _ text: String?) {
            if let text { fields[name] = .string(text) }
        }
        func addTime(_ name: String, _ time: Int?) { add(name, time.map(Phrase.time)) }
        func addSpan(_ name: String, _ span: Int?) { add(name, span.map(Phrase.seconds)) }
        func add(_ error: Failing) {
            add("error", error.code)
            add("message", PublicMessage.of(error.message))
        }
        func add(_ version: Version) {
            add("version", version.name)
            add("asset", version.asset)
        }
        switch self {
        case .laterFormat(_, let format): add("format", format)
        case .batchCancelled(let reason), .beingStopped(_, let reason): add("reason", reason)
        case .stopped(let stop, let position):
            if case .queuePaused(let reason) = stop { add("reason", reason) }
            switch position {
            case .ready(let ahead): add("ahead", ahead)
            case .due: break
            case .batchStream(let batch, let ahead):
                add("batch", batch)
                add("ahead", ahead)
            }
        case .quarantined(let crashes, let ahead):
            add("crashes", crashes)
            add("ahead", ahead)
        case .tenantCap(_, let cap, let ahead, let about):
            add("cap", cap)
            add("ahead", ahead)
            addSpan("aboutSeconds", about)
        case .ableWorker(let unable, _, _, let ahead, let about):
            add("unable", unable)
            add("ahead", ahead)
            addSpan("aboutSeconds", about)
        case .freeSlot(let ahead, let about):
            add("ahead", ahead)
            addSpan("aboutSeconds", about)
        case .inBatchStream(let batch, let ahead, let about):
            add("batch", batch)
            add("ahead", ahead)
            addSpan("aboutSeconds", about)
        case .incoming(_, let hasWorkers, let hold):
            if !hasWorkers { fields["noWorker"] = .bool(true) }
            if hold != nil { fields["held"] = .bool(true) }
        case .retryAt(let due, let wait, let failures, let error):
            addTime("at", due)
            addSpan("aboutSeconds", wait)
            add("failures", failures)
            add(error)
        case .notBefore(let due, let wait):
            addTime("at", due)
            addSpan("aboutSeconds", wait)
        case .behindAsset(let asset, let holder):
            add("asset", asset)
            add("ahead", holder.map { $0.ahead + 1 })
        case .deadlinePassed(let at, let ago, let stop):
            addTime("at", at)
            addSpan("forSeconds", ago)
            if stop == .noWorker { fields["noWorker"] = .bool(true) }
        case .running(_, let since, let stage, let attempt):
            addSpan("forSeconds", since)
            add("attempt", attempt)
            add("stage", stage?.name)
            add("framesDone", stage?.progress?.framesDone)
            add("frames", stage?.progress?.frames)
        case .leaseLost(_, let ago, let hasWorkers):
            addSpan("forSeconds", ago)
            if !hasWorkers { fields["noWorker"] = .bool(true) }
        case .publishing(_, let version): add(version)
        case .publishingAgain(let version, let error, let hasWorkers):
            add(version)
            add(error)
            if !hasWorkers { fields["noWorker"] = .bool(true) }
        case .stuck(let since, let version, let error):
            addTime("at", since)
            add(version)
            add(error)
        case .cancelled(let at, let reason):
            addTime("at", at)
            add("reason", reason)
        case .rendered(let at): addTime("at", at)
        case .unchanged(let at, let reason):
            addTime("at", at)
            add("reason", reason)
        case .superseded(let at, let asset):
            addTime("at", at)
            add("asset", asset)
        case .drafted(let at, let version), .published(let at, _, let version):
            addTime("at", at)
            add(version)
        case .dead(let at, let error, let advice):
            addTime("at", at)
            add(error)
            add("advice", advice.rawValue)
        case .unknownMember(let batch, let absence):
            add("batch", batch)
            if case .beyondSeal(let jobs) = absence { add("sealed", jobs) }
        case .moved, .dropped, .unknown: break
        }
        return .object(fields)
    }
}

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
        case .stopped(let stop, .due): "waiting: its time has come; \(Self.text(stop))"
        case .quarantined(let crashes, let rank):
            "waiting: in quarantine after \(Phrase.plural(crashes, "crash", "crashes")), "
                + "for a worker without other jobs; \(Phrase.ahead(rank))"
        case .tenantCap(let tenant, let cap, let rank, let about):
            "waiting: tenant \(tenant) at its cap of \(cap); \(Phrase.ahead(rank))\(Phrase.about(about))"
        case .ableWorker(let unable, let able, let needs, let rank, let about):
            "waiting: for a worker that can do it: \(Phrase.plural(unable, "worker")) cannot\(Self.text(needs: needs))"
                + "\(able == 0 ? ", and no other that may be able runs" : ""); \(Phrase.ahead(rank))\(Phrase.about(about))"
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
        case .deadlinePassed(let at, let ago, let stop):
            "waiting, and fails when its turn comes: its deadline passed \(Phrase.span(ago)) ago (\(Phrase.time(at)))"
                + (stop.map { "; \(Self.text($0))" } ?? "")
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
        case .leaseLost(let worker, let ago, let hasWorkers):
            "lost: \(worker) has sent no heartbeat since its lease ended \(Phrase.span(ago)) ago; the next worker "
                + "that checks takes the job back" + (hasWorkers ? "" : ", and no worker runs")
        case .publishing(let worker, let version):
            "publishing: \(worker) makes \(Self.text(version)) current; it cannot be cancelled any more"
        case .publishingAgain(let version, let error, let hasWorkers):
            "publishing: \(Self.text(version)) could not be made current (\(error.code): \(error.message)); the "
                + "next worker that checks retries" + (hasWorkers ? "" : ", and no worker runs")
        case .stuck(let since, let version, let error):
            "stuck\(since.map { " since \(Phrase.time($0))" } ?? ""), \(error.code): \(Self.text(version)) could not "
                + "be published: \(error.message) Later edits of \(version.asset) wait. Remove the cause; then run "
                + "minilab replay \(job), or minilab cancel \(job) to give it up."
        case .cancelled(let at, let reason):
            "cancelled\(Phrase.at(at))" + (reason.map { ": \($0)" } ?? "")
        case .rendered(let at): "done\(Phrase.at(at)): renditions were made"
        case .unchanged(let at, let reason):
            "done\(Phrase.at(at)): \(Self.nothingToDo(reason))"
        case .superseded(let at, let asset):
            "superseded\(Phrase.at(at)): an edit of \(asset) that arrived later was published before"
        case .drafted(let at, let version):
            "done\(Phrase.at(at)): \(Self.text(version)) is prepared as a draft"
        case .published(let at, let worker, let version):
            "done\(Phrase.at(at)): \(worker) published \(Self.text(version))"
        case .dead(let at, let error, let advice):
            "dead\(Phrase.at(at)), \(error.code): \(Phrase.ended(error.message)) \(Self.command(advice, job))"
        case .moved(let places?):
            "failed, and is not in Redis any more: it was moved to \(places), unless somebody discarded it with minilab dead "
                + "--drop; minilab replay --file starts it again from there"
        case .moved(nil):
            "failed, and was discarded (minilab dead --drop): only its id is remembered; send its edit again under another id"
        case .dropped:
            "ended: its record was removed, so only its id is remembered; see the asset's history"
        case .unknownMember(let batch, let absence): "not a job: batch \(batch) \(absence.text)"
        case .unknown(let entries, let hasWorkers, let hold, let places):
            "unknown: no job has this id; it is wrong, or the job was done long ago, or it was never sent"
                + (places.map {
                    "; or it failed long ago and was moved to the library, such as to \($0)"
                } ?? "")
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
        case .fitState:
            "See minilab history; send an edit that fits, or run \(replay) when this one does."
        case .changeEdit:
            "The same edit would fail again: run \(replay) --with-edit FILE, or send another job."
        }
    }

    /// Returns what a worker must have for a job, as the queue's record of it says.
    private static func text(needs: String?) -> String {
        let parts = (needs ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return "" }
        return switch parts[0] {
        case "memory": " (it needs \((Int(parts[1]) ?? 0) / 1_000_000) MB of memory)"
        case "release": " (it needs another release than \(parts[1]))"
        case "editors":
            " (it needs another release than \(parts[1].prefix { $0 != " " }), or other --editors-lookalikes or --editors-tint)"
        default: ""
        }
    }

    static func text(_ stage: Stage) -> String {
        stage.name + (stage.progress.map { ", \($0)" } ?? "")
    }

    static func text(_ version: Version) -> String {
        "version \(version.name) of \(version.asset)"
    }
}

/// Numbers and times as parts of a sentence.
enum Phrase {
    /// Returns a time in ms since 1970 in readable form.
    static func time(_ milliseconds: Int) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601)
    }

    static func at(_ milliseconds: Int?) -> String {
        milliseconds.map { " at \(time($0))" } ?? ""
    }

    /// Returns the time at which something is due: `in 5 s (1970-01-01T00:00:05Z)`, or `now`.
    static func when(_ due: Int, _ wait: Int) -> String {
        wait > 0 ? "in \(span(wait)) (\(time(due)))" : "now"
    }

    /// Returns a duration in readable form: `40 s`, `12 min`, `3 h`, `2 d`.
    static func span(_ milliseconds: Int) -> String {
        let seconds = seconds(milliseconds)
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86400) d"
        }
    }

    /// Returns a duration in seconds, rounded up.
    static func seconds(_ milliseconds: Int) -> Int {
        let (whole, rest) = max(0, milliseconds).quotientAndRemainder(dividingBy: 1000)
        return whole + (rest == 0 ? 0 : 1)
    }

    static func ahead(_ jobs: Int) -> String { jobs == 0 ? "it is next" : "\(jobs) ahead" }

    static func aheadInBatch(_ jobs: Int) -> String {
        jobs == 0
            ? "; it is the next of its batch" : "; \(jobs) of its batch ahead in the stream"
    }

    static func about(_ span: Int?) -> String { span.map { "; about \(Self.span($0))" } ?? "" }

    static func plural(_ count: Int, _ one: String, _ more: String? = nil) -> String {
        "\(count) \(count == 1 ? one : more ?? one + "s")"
    }

    /// Returns a sentence with its full stop.
    static func ended(_ sentence: String) -> String {
        sentence.hasSuffix(".") ? sentence : sentence + "."
    }
}
