import Adjustments
import FoundationEssentials

extension JobFacts {
    /// Why the job is where it is, and for how long about: one sentence for an operator.
    public var sentence: String {
        if let format = number("format"), format > JobRecord.formatKnown {
            return
                "\(state): its record is of format \(format), and this minilab knows \(JobRecord.formatKnown): ask a "
                + "newer one"
        }
        return switch state {
        case "ready": waiting
        case "lane": inLane
        case "incoming": incoming
        case "delayed": delayed
        case "parked": parked
        case "active": running
        case "committing": publishing
        case "stuck": stuck
        case "done": done
        case "dead": dead
        case "dropped":
            "done: it ended so long ago that only its name is remembered; see the asset's history"
        default: unknown
        }
    }

    private var asset: String { text("asset") ?? "?" }
    private var worker: String { text("worker") ?? "a worker" }
    private var tenant: String { text("tenant") ?? "default" }
    private var now: Int { number("now") ?? 0 }

    // What stops all jobs, or all of a tenant.
    private var stop: String? {
        if let reason = text("paused") {
            return "the queue is paused (\(reason)); minilab resume lets it go on"
        }
        if number("cap") == 0 {
            return "tenant \(tenant) is paused; minilab resume --tenant \(tenant) lets it go on"
        }
        if number("workers") == 0 { return "no worker runs" }
        return nil
    }

    private var waiting: String {
        if let reason = text("batchCancel") {
            return "waiting, and ends when its turn comes: its batch was cancelled (\(reason))"
        }
        let rank = number("rank") ?? 0
        if let stop { return "waiting: \(stop); \(ahead(rank))" }
        if text("priority") == "alone" {
            return
                "waiting: in quarantine after \(Self.plural(number("crashes") ?? 0, "crash", "crashes")), "
                + "for a worker that does nothing else; \(ahead(rank))"
        }
        if has("capped"), let cap = number("cap") {
            return "waiting: tenant \(tenant) at its cap of \(cap); \(ahead(rank))"
                + about(rank, atATime: min(cap, number("slots") ?? 1))
        }
        let before = number("before") ?? rank
        return "waiting: for a free slot; \(ahead(before))"
            + about(before, atATime: number("slots") ?? 1)
    }

    private func ahead(_ jobs: Int) -> String { jobs == 0 ? "it is next" : "\(jobs) ahead" }

    // Its own turn counts as well: somebody has to end before it begins.
    private func about(_ jobs: Int, atATime slots: Int) -> String {
        guard let mean = number("mean"), slots > 0 else { return "" }
        return "; about \(Self.span((jobs + slots) / slots * mean))"
    }

    private var inLane: String {
        let rank = number("rank") ?? 0
        let batch = text("batch") ?? "?"
        return "waiting in the lane of batch \(batch)"
            + (stop.map { ": \($0)" } ?? "")
            + (rank == 0
                ? "; it is the next of its batch" : "; \(rank) of its batch ahead in the lane")
            + (stop == nil ? about(rank, atATime: number("slots") ?? 1) : "")
    }

    private var incoming: String {
        "sent, and not yet taken in: \(Self.plural(number("incoming") ?? 0, "entry", "entries")) in the ingress "
            + "stream"
            + (number("workers") == 0 ? "; no worker runs" : "")
            + (text("hold").map { "; \($0)" } ?? "")
    }

    private var delayed: String {
        let due = number("due") ?? now
        let when = due > now ? "in \(Self.span(due - now)) (\(Self.time(due)))" : "now"
        let failures = (number("attempts") ?? 0) + (number("crashes") ?? 0)
        if failures > 0, let code = text("code") {
            return
                "waiting for its next attempt \(when): \(Self.plural(failures, "attempt")) failed, the last one "
                + "with \(code): \(text("message") ?? "")"
        }
        return "waiting for its time: it begins \(when)"
    }

    private var parked: String {
        let rank = number("rank") ?? 0
        guard let holder = text("holder") else {
            return "waiting: behind another job of \(asset)"
        }
        return
            "waiting: job \(holder), which is \(text("holderState") ?? "there"), has \(asset) first"
            + (rank == 0 ? "" : "; \(rank) more of this asset ahead")
            + "; minilab explain \(holder) says more"
    }

    private var running: String {
        let since = number("claimed").map { " for \(Self.span(now - $0))" } ?? ""
        if let reason = text("cancel") ?? text("batchCancel") {
            return "being stopped: \(worker) was told that it is cancelled (\(reason))"
        }
        if let ends = number("leaseEnds"), ends < now {
            return
                "lost: \(worker) has not been heard of since its lease ended \(Self.span(now - ends)) ago; the "
                + "next worker to look takes it back"
        }
        return "running\(since): \(worker) has it"
            + (text("stage").map { " (\($0)\(progress))" } ?? "")
            + attempt
    }

    private var progress: String {
        guard let frames = number("frames"), let done = number("framesDone") else { return "" }
        return ", \(JobProgress(framesDone: done, frames: frames))"
    }

    private var attempt: String {
        let failures = (number("attempts") ?? 0) + (number("crashes") ?? 0)
        return failures == 0 ? "" : ", attempt \(failures + 1)"
    }

    private var publishing: String {
        let version = "version \(text("version") ?? "?") of \(asset)"
        if has("handedOn"), let code = text("code") {
            return
                "publishing: \(version) could not be made current (\(code): \(text("message") ?? "")); the next "
                + "worker to look tries again"
        }
        return "publishing: \(worker) makes \(version) current; it cannot be cancelled any more"
    }

    private var stuck: String {
        let since = number("since").map { " since \(Self.time($0))" } ?? ""
        return
            "stuck\(since), \(text("code") ?? "?"): version \(text("version") ?? "?") of \(asset) could not be "
            + "published: \(text("message") ?? "") Later edits of \(asset) wait. When the cause is gone: minilab "
            + "replay \(job); or minilab cancel \(job) gives it up."
    }

    private var done: String {
        let when = number("ended").map { " at \(Self.time($0))" } ?? ""
        switch text("outcome") {
        case "cancelled":
            return "cancelled\(when)" + (text("reason").map { ": \($0)" } ?? "")
        case "unchanged":
            return "done\(when): there was nothing to do"
        case "superseded":
            return "superseded\(when): an edit of \(asset) that arrived later was published before"
        case "drafted":
            return
                "done\(when): version \(text("version") ?? "?") of \(asset) is prepared as a draft"
        default:
            return "done\(when): \(worker) published version \(text("version") ?? "?") of \(asset)"
        }
    }

    private var dead: String {
        let code = text("code") ?? "?"
        let when = number("ended").map { " at \(Self.time($0))" } ?? ""
        let message = text("message") ?? ""
        let point = message.hasSuffix(".") ? "" : "."
        return "dead\(when), \(code): \(message)\(point) \(advice)"
    }

    private var advice: String {
        guard !has("malformed") else {
            return "There is nothing to run: have it sent again as it should be."
        }
        let replay = "minilab replay \(job)"
        switch text("code").flatMap(FailureCode.init) {
        case .renderCrashed, .untrustedRender, .workerLost:
            return "Keep minilab dead \(job) --bundle for a report; then \(replay)."
        case .deadlinePassed: return "\(replay) runs it without its deadline."
        case .missingAsset, .missingResource, .badResource, .noSpace, .ioFailure, .storeUnavailable,
            .outOfMemory,
            .renderTimedOut, .revisionConflict, .internalError, .damagedVersion, .laterFormat:
            return "When the cause is gone: \(replay)."
        default:
            return "The same again would fail again: \(replay) --with-edit FILE, or send another."
        }
    }

    private var unknown: String {
        if let batch = text("batch") {
            return "unknown: batch \(batch) "
                + (text("batchCancel").map { "was cancelled (\($0)); this job never began" }
                    ?? "has no such job (any more)")
        }
        let incoming = number("incoming") ?? 0
        return
            "unknown: no job has this id; it is wrong, or the job was done long ago, or it was never sent"
            + (incoming == 0
                ? ""
                : "; or it is one of \(Self.plural(incoming, "entry", "entries")) not yet taken in")
            + (incoming > 0 && number("workers") == 0 ? " (no worker runs)" : "")
            + (text("hold").map { "; \($0)" } ?? "")
    }
}

extension JobFacts {
    /// A time in ms since 1970, as people read it.
    private static func time(_ milliseconds: Int) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601)
    }

    /// A span as people say it: `40 s`, `12 min`, `3 h`, `2 d`.
    static func span(_ milliseconds: Int) -> String {
        let seconds = (max(0, milliseconds) + 999) / 1000
        switch seconds {
        case ..<120: return "\(seconds) s"
        case ..<7200: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3600) h"
        default: return "\(seconds / 86400) d"
        }
    }

    private static func plural(_ count: Int, _ one: String, _ more: String? = nil) -> String {
        "\(count) \(count == 1 ? one : more ?? one + "s")"
    }
}
