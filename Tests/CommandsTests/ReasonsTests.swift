import Edits
import Foundation
import JobQueue
import Testing

@testable import Operations

@Suite("Why a job is where it is, in words") struct ReasonsTests {
    private static let ready = [
        "state": "ready", "tenant": "acme", "priority": "normal", "asset": "a.jpg",
        "now": "1000000",
        "workers": "2", "slots": "8", "mean": "1000", "rank": "312", "before": "312",
        "running": "0",
    ]

    private static func ready(_ more: [String: String]) -> [String: String] {
        ready.merging(more) { $1 }
    }

    static let table: [([String: String], String)] = [
        (
            [
                "state": "done", "outcome": "unchanged", "ended": "0",
                "reason": "the original is current",
            ],
            "done at 1970-01-01T00:00:00Z: no new version was made: the original is current"
        ),
        (
            ["state": "done", "outcome": "unchanged", "ended": "0"],
            "done at 1970-01-01T00:00:00Z: there was nothing to do"
        ),
        (ready([:]), "waiting: for a free slot; 312 ahead; about 40 s"),
        (
            ready(["capped": "1", "cap": "8", "running": "8"]),
            "waiting: tenant acme at its cap of 8; 312 ahead; about 40 s"
        ),
        (
            ready(["capped": "1", "cap": "2", "running": "2"]),
            "waiting: tenant acme at its cap of 2; 312 ahead; about 2 min"
        ),
        (
            ready(["rank": "0", "before": "0"]),
            "waiting: for a free slot; it is next; about 1 s"
        ),
        (
            ready(["paused": "move"]),
            "waiting: the queue is paused (move); minilab resume continues it; 312 ahead"
        ),
        (
            ready(["cap": "0"]),
            "waiting: tenant acme is paused; minilab resume --tenant acme continues it; 312 ahead"
        ),
        (ready(["workers": "0", "slots": "0"]), "waiting: no worker runs; 312 ahead"),
        (
            ready(["slots": "0", "troubled": "2", "trouble": "w: the disk is away"]),
            "waiting: 2 workers run, and none claims jobs (w: the disk is away); 312 ahead"
        ),
        (
            ready(["slots": "4", "troubled": "1", "trouble": "w: the disk is away"]),
            "waiting: for a free slot; 312 ahead; about 79 s"
        ),
        (
            ready(["unable": "2", "able": "0", "ableSlots": "0", "needs": "memory 158000000"]),
            "waiting: for a worker that can do it: 2 workers cannot (it needs 158 MB of memory), and no other that may be able "
                + "runs; 312 ahead"
        ),
        (
            ready(["unable": "1", "needs": "editors minilab/0.6.0 "]),
            "waiting: for a worker that can do it: 1 worker cannot (it needs another release than minilab/0.6.0, or other "
                + "--editors-lookalikes or --editors-tint); 312 ahead; about 40 s"
        ),
        (
            ready(["unable": "1", "able": "1", "ableSlots": "4"]),
            "waiting: for a worker that can do it: 1 worker cannot; 312 ahead; about 79 s"
        ),
        (
            ready(["unable": "1"]),
            "waiting: for a worker that can do it: 1 worker cannot; 312 ahead; about 40 s"
        ),
        (
            ready(["priority": "alone", "crashes": "2", "rank": "0"]),
            "waiting: in quarantine after 2 crashes, for a worker without other jobs; it is next"
        ),
        (
            ready(["deadline": "700000"]),
            "waiting, and fails when its turn comes: its deadline passed 5 min ago (1970-01-01T00:11:40Z)"
        ),
        (
            ready(["deadline": "700000", "workers": "0", "slots": "0"]),
            "waiting, and fails when its turn comes: its deadline passed 5 min ago (1970-01-01T00:11:40Z); no worker runs"
        ),
        (
            ready(["deadline": "700000", "paused": "move"]),
            "waiting, and fails when its turn comes: its deadline passed 5 min ago (1970-01-01T00:11:40Z); the queue is paused "
                + "(move); minilab resume continues it"
        ),
        (
            ready(["deadline": "1000000"]),
            "waiting: for a free slot; 312 ahead; about 40 s"
        ),
        (
            [
                "state": "parked", "asset": "a.jpg", "holder": "x", "holderState": "active",
                "rank": "2", "now": "1000000", "deadline": "700000",
            ],
            "waiting, and fails when its turn comes: its deadline passed 5 min ago (1970-01-01T00:11:40Z)"
        ),
        (
            ready(["batchCancel": "no more"]),
            "waiting, and ends when its turn comes: its batch was cancelled (no more)"
        ),
        (
            [
                "state": "lane", "batch": "b", "rank": "50", "slots": "1", "mean": "100",
                "workers": "1",
            ], "waiting in the stream of batch b; 50 of its batch ahead in the stream; about 6 s"
        ),
        (
            [
                "state": "lane", "batch": "b", "rank": "50", "slots": "8", "mean": "100",
                "workers": "4", "cap": "2", "batchCap": "1",
            ], "waiting in the stream of batch b; 50 of its batch ahead in the stream; about 6 s"
        ),
        (
            ["state": "incoming", "incoming": "7", "workers": "0"],
            "sent, not yet admitted: 7 entries in the ingress stream; no worker runs"
        ),
        (
            ["state": "delayed", "now": "0", "due": "60000", "attempts": "0", "crashes": "0"],
            "waiting for its time: it begins in 60 s (1970-01-01T00:01:00Z)"
        ),
        (
            [
                "state": "delayed", "now": "0", "due": "5000", "attempts": "2", "crashes": "0",
                "code": "ioFailure", "message": "no disk",
            ],
            "waiting for its next attempt in 5 s (1970-01-01T00:00:05Z): 2 attempts failed, the last one with "
                + "ioFailure: no disk"
        ),
        (
            [
                "state": "parked", "asset": "a.jpg", "holder": "x", "holderState": "active",
                "rank": "2",
            ],
            "waiting: job x, which is active, has a.jpg first; 2 more of this asset ahead; run minilab "
                + "explain x for details"
        ),
        (
            [
                "state": "active", "now": "9000", "claimed": "2000", "worker": "w",
                "stage": "rendering", "attempts": "1", "crashes": "0", "leaseEnds": "20000",
            ], "running for 7 s: w has it (rendering), attempt 2"
        ),
        (
            ["state": "active", "now": "90000", "worker": "w", "leaseEnds": "60000"],
            "lost: w has sent no heartbeat since its lease ended 30 s ago; the next worker that checks takes the "
                + "job back"
        ),
        (
            ["state": "active", "worker": "w", "cancel": "twice"],
            "being stopped: w was notified of the cancellation (twice)"
        ),
        (
            ["state": "committing", "worker": "w", "version": "2-1", "asset": "a.jpg"],
            "publishing: w makes version 2-1 of a.jpg current; it cannot be cancelled any more"
        ),
        (
            [
                "state": "committing", "worker": "w", "version": "2-1", "asset": "a.jpg",
                "handedOn": "1", "code": "ioFailure", "message": "no disk",
            ],
            "publishing: version 2-1 of a.jpg could not be made current (ioFailure: no disk); the next worker that "
                + "checks retries"
        ),
        (
            [
                "state": "stuck", "since": "0", "version": "2-1", "asset": "a.jpg",
                "code": "ioFailure", "message": "no disk.",
            ],
            "stuck since 1970-01-01T00:00:00Z, ioFailure: version 2-1 of a.jpg could not be published: no disk. "
                + "Later edits of a.jpg wait. Remove the cause; then run minilab replay j, or minilab cancel j "
                + "to give it up."
        ),
        (
            [
                "state": "done", "outcome": "completed", "ended": "0", "worker": "w",
                "version": "1-1", "asset": "a.jpg",
            ], "done at 1970-01-01T00:00:00Z: w published version 1-1 of a.jpg"
        ),
        (
            ["state": "done", "outcome": "cancelled", "ended": "0", "reason": "twice"],
            "cancelled at 1970-01-01T00:00:00Z: twice"
        ),
        (
            [
                "state": "dead", "code": "missingAsset", "message": "there is no a.jpg",
                "ended": "0",
            ],
            "dead at 1970-01-01T00:00:00Z, missingAsset: there is no a.jpg. Remove the cause; then run "
                + "minilab replay j."
        ),
        (
            ["state": "dead", "code": "unknownFilter", "message": "no X.", "ended": "0"],
            "dead at 1970-01-01T00:00:00Z, unknownFilter: no X. The same edit would fail again: run minilab "
                + "replay j --with-edit FILE, or send another job."
        ),
        (
            [
                "state": "dead", "code": "missingDraft", "message": "a.jpg has no draft.",
                "ended": "0",
            ],
            "dead at 1970-01-01T00:00:00Z, missingDraft: a.jpg has no draft. See minilab history; send an edit that "
                + "fits, or run minilab replay j when this one does."
        ),
        (
            ["state": "dead", "code": "damagedPhoto", "message": "it is cut off", "ended": "0"],
            "dead at 1970-01-01T00:00:00Z, damagedPhoto: it is cut off. Remove the cause; then run minilab replay j."
        ),
        (
            [
                "state": "dropped", "endedAs": "dropped",
                "places": "/srv/dead/photos-2026-11.ndjson",
            ],
            "failed, and is not in Redis any more: it was moved to /srv/dead/photos-2026-11.ndjson, unless somebody "
                + "discarded it with minilab dead --drop; minilab replay --file starts it again from there"
        ),
        (
            ["state": "dropped", "endedAs": "dropped"],
            "failed, and was discarded (minilab dead --drop): only its id is remembered; send its edit again under "
                + "another id"
        ),
        (
            ["state": "dropped"],
            "ended: its record was removed, so only its id is remembered; see the asset's history"
        ),
        (
            ["state": "unknown"],
            "unknown: no job has this id; it is wrong, or the job was done long ago, or it was never sent"
        ),
        (
            ["state": "unknown", "incoming": "1", "workers": "0"],
            "unknown: no job has this id; it is wrong, or the job was done long ago, or it was never sent; or it is "
                + "one of 1 entry not yet admitted (no worker runs)"
        ),
        (
            ["state": "unknown", "batch": "b", "absent": "beyondSeal", "sealed": "1"],
            "not a job: batch b is sealed at 1 job, so this one never runs; send it in another batch"
        ),
        (
            ["state": "unknown", "batch": "b", "absent": "notSent"],
            "not a job: batch b has not received this job yet"
        ),
        (
            ["state": "unknown", "batch": "b", "absent": "trimmed"],
            "not a job: batch b counts this job as cancelled: a producer dropped its entry before a worker read it"
        ),
        (
            ["state": "unknown", "batch": "b", "absent": "lost"],
            "not a job: batch b has lost the record of this job"
        ),
        (
            ["state": "unknown", "batch": "b", "absent": "unopened"],
            "not a job: batch b was not opened, so the entries of its stream do not run; open it with its edit"
        ),
        (
            ["state": "unknown", "batch": "b", "absent": "batchDropped"],
            "not a job: batch b has ended, and its record was dropped"
        ),
    ]

    @Test(arguments: table) func `facts become one sentence`(
        facts: [String: String], sentence: String
    ) {
        #expect(JobFacts(job: "j", facts).sentence == sentence)
    }

    @Test(arguments: table) func `the words for pages name no command, worker or path`(
        facts: [String: String], sentence: String
    ) {
        let facts = JobFacts(
            job: "j", facts.mapValues { $0 == "no disk" ? "no disk at /srv/photos/x.jpg." : $0 })
        let words = facts.detail
        #expect(!words.contains("minilab") && !words.contains("/srv") && words.hasSuffix("."))
        // The worker of the facts is called w.
        #expect(!words.split { " .,:".contains($0) }.contains("w"), "\(words)")
        #expect(words.first?.isUppercase == true)
        let json = facts.reason.json.canonical
        #expect(json.contains("\"code\":\"\(facts.reason.code)\""))
        #expect(!json.contains("/srv") && !json.contains("\"w\""), "\(json)")
    }

    @Test func `a reason for programs has its numbers`() {
        let facts = JobFacts(job: "j", Self.ready(["before": "12", "slots": "6"]))
        #expect(
            facts.reason.json.canonical == #"{"aboutSeconds":3,"ahead":12,"code":"freeSlot"}"#)
    }

    @Test func `a deadline that has passed is told with its time, and that no worker runs`() {
        let facts = JobFacts(job: "j", Self.ready(["deadline": "700000", "workers": "0"]))
        #expect(
            facts.reason.json.canonical
                == #"{"at":"1970-01-01T00:11:40Z","code":"deadlinePassed","forSeconds":300,"noWorker":true}"#
        )
        #expect(
            facts.detail
                == "It did not begin before its deadline, which passed 5 min ago (1970-01-01T00:11:40Z), and fails when "
                + "its turn comes: no worker runs.")
    }

    @Test func `each state of a job comes to a code of its own`() {
        let codes = Self.table.map { JobFacts(job: "j", $0.0).reason.code }
        for code in [
            "freeSlot", "tenantCap", "queuePaused", "tenantPaused", "noWorker", "quarantined",
            "workersInTrouble", "ableWorker",
            "batchCancelled", "inLane", "incoming", "notBefore", "retryAt", "behindAsset",
            "deadlinePassed",
            "running", "leaseLost", "beingStopped", "publishing", "publishingAgain", "stuck",
            "published", "cancelled", "dead", "moved", "dropped", "unknown", "beyondSeal",
            "notSent", "trimmed", "lost",
            "unopened",
        ] { #expect(codes.contains(code), "\(code)") }
    }

    @Test func `numbers that no queue has do not end the process`() {
        let most = "\(Int.max)"
        let facts = JobFacts(
            job: "j",
            Self.ready(["before": most, "slots": "1", "mean": most, "rank": most]))
        #expect(facts.sentence.hasPrefix("waiting"))
        #expect(facts.detail.hasPrefix("It waits"))
    }

    @Test func `facts that are numbers are numbers in JSON, and names stay texts`() throws {
        let facts = JobFacts(
            job: "7",
            [
                "state": "ready", "tenant": "12", "batch": "3", "asset": "1.5", "rank": "4",
                "enqueued": "1763701440000", "attempts": "0", "cap": "many", "message": "10",
            ])
        let json = try JSONEncoder().encode(ExplainedJob(facts))
        guard
            case .object(let fields) = try JSONValue(
                parsing: String(decoding: json, as: UTF8.self), as: "facts")
        else {
            Issue.record("the facts are no object")
            return
        }
        #expect(fields["rank"] == .number(4) && fields["attempts"] == .number(0))
        #expect(fields["enqueued"] == .number(1_763_701_440_000))
        for (name, text) in [
            ("job", "7"), ("tenant", "12"), ("batch", "3"), ("asset", "1.5"), ("cap", "many"),
            ("message", "10"),
        ] { #expect(fields[name] == .string(text)) }
    }
}
