import Adjustments
import Redis
import Testing

@testable import JobQueue

@Suite("Why a job is where it is") struct ExplainTests {
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
            "waiting: the queue is paused (move); minilab resume lets it go on; 312 ahead"
        ),
        (
            ready(["cap": "0"]),
            "waiting: tenant acme is paused; minilab resume --tenant acme lets it go on; 312 ahead"
        ),
        (ready(["workers": "0", "slots": "0"]), "waiting: no worker runs; 312 ahead"),
        (
            ready(["priority": "alone", "crashes": "2", "rank": "0"]),
            "waiting: in quarantine after 2 crashes, for a worker that does nothing else; it is next"
        ),
        (
            ready(["batchCancel": "no more"]),
            "waiting, and ends when its turn comes: its batch was cancelled (no more)"
        ),
        (
            [
                "state": "lane", "batch": "b", "rank": "50", "slots": "1", "mean": "100",
                "workers": "1",
            ], "waiting in the lane of batch b; 50 of its batch ahead in the lane; about 6 s"
        ),
        (
            ["state": "incoming", "incoming": "7", "workers": "0"],
            "sent, and not yet taken in: 7 entries in the ingress stream; no worker runs"
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
            "waiting: job x, which is active, has a.jpg first; 2 more of this asset ahead; minilab explain x says "
                + "more"
        ),
        (
            [
                "state": "active", "now": "9000", "claimed": "2000", "worker": "w",
                "stage": "rendering", "attempts": "1", "crashes": "0", "leaseEnds": "20000",
            ], "running for 7 s: w has it (rendering), attempt 2"
        ),
        (
            ["state": "active", "now": "90000", "worker": "w", "leaseEnds": "60000"],
            "lost: w has not been heard of since its lease ended 30 s ago; the next worker to look takes it back"
        ),
        (
            ["state": "active", "worker": "w", "cancel": "twice"],
            "being stopped: w was told that it is cancelled (twice)"
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
            "publishing: version 2-1 of a.jpg could not be made current (ioFailure: no disk); the next worker to "
                + "look tries again"
        ),
        (
            [
                "state": "stuck", "since": "0", "version": "2-1", "asset": "a.jpg",
                "code": "ioFailure", "message": "no disk.",
            ],
            "stuck since 1970-01-01T00:00:00Z, ioFailure: version 2-1 of a.jpg could not be published: no disk. "
                + "Later edits of a.jpg wait. When the cause is gone: minilab replay j; or minilab cancel j gives it "
                + "up."
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
            "dead at 1970-01-01T00:00:00Z, missingAsset: there is no a.jpg. When the cause is gone: minilab replay "
                + "j."
        ),
        (
            ["state": "dead", "code": "unknownFilter", "message": "no X.", "ended": "0"],
            "dead at 1970-01-01T00:00:00Z, unknownFilter: no X. The same again would fail again: minilab replay j "
                + "--with-edit FILE, or send another."
        ),
        (
            ["state": "unknown"],
            "unknown: no job has this id; it is wrong, or the job was done long ago, or it was never sent"
        ),
        (
            ["state": "unknown", "incoming": "1", "workers": "0"],
            "unknown: no job has this id; it is wrong, or the job was done long ago, or it was never sent; or it is "
                + "one of 1 entry not yet taken in (no worker runs)"
        ),
        (["state": "unknown", "batch": "b"], "unknown: batch b has no such job (any more)"),
    ]

    @Test(arguments: table) func `facts become one sentence`(
        facts: [String: String], sentence: String
    ) {
        #expect(JobFacts(job: "j", facts).sentence == sentence)
    }

    @Test func `the facts of a job are those of its state`() async throws {
        let q = try await QueueFixture()
        let entry = try await q.xadd(["asset": "x", "edit": QueueFixture.recipe])
        #expect(try await q.queue.facts(of: entry).state == "incoming")
        try await q.admit("a", "b")
        try await q.xadd(["id": "a2", "asset": "a", "edit": QueueFixture.recipe])
        try await q.xadd([
            "id": "late", "asset": "l", "edit": QueueFixture.recipe,
            "notBefore": "2100-01-01T00:00:00Z",
        ])
        _ = try await q.queue.admit()
        #expect(try await q.queue.facts(of: entry).state == "ready")
        #expect(try await q.queue.facts(of: "b").number("rank") == 2)
        let parked = try await q.queue.facts(of: "a2")
        #expect(parked.state == "parked" && parked.text("holder") == "a")
        #expect(try await q.queue.facts(of: "late").has("due"))
        #expect(try await q.queue.facts(of: "nobody").state == "unknown")

        try await q.queue.set([.cap(nil, 1)])
        let claim = try await q.claim()
        #expect(try await q.queue.facts(of: claim.job).text("worker") == "a")
        let capped = try await q.queue.facts(of: "b")
        #expect(capped.has("capped") && capped.number("running") == 1)
        _ = try await q.queue.cancel(["b"], reason: "twice")
        #expect(try await q.queue.facts(of: "b").sentence.hasSuffix(": twice"))
    }

    @Test func `a job in a lane knows how many of its batch are ahead`() async throws {
        let q = try await QueueFixture()
        let batch = try BatchID("b")
        try await q.queue.open(
            BatchRequest(id: batch, edit: try Edit(json: QueueFixture.recipe), cap: 2))
        _ = try await q.queue.add(
            try (0..<5).map { JobQueue.Member(asset: try AssetPath("p\($0)")) }, to: batch, from: 0)
        _ = try await q.queue.admit()
        #expect(try await q.queue.facts(of: "b:1").state == "ready")
        let last = try await q.queue.facts(of: "b:4")
        #expect(last.state == "lane" && last.number("rank") == 2)
        #expect(try await q.queue.facts(of: "b:5").state == "unknown")
    }
}
