import Adjustments
import Testing

@testable import JobQueue
@testable import Operations

@Suite("What a tenant sees") struct TenantViewTests {
    private static func view() throws -> TenantView {
        TenantView(tenant: try JobID("acme"), assetPrefix: "acme")
    }

    private static func event(_ type: String, _ data: String) -> String {
        #"{"id":"photos/x/1/y","type":"org.minilab.\#(type)","subject":"s","time":"t","data":\#(data)}"#
    }

    @Test(
        arguments: [
            ("job.failed", #"{"job":"acme.1","asset":"other/a.jpg"}"#, true),
            ("job.failed", #"{"job":"1700000000000-0","asset":"acme/a.jpg"}"#, true),
            ("job.failed", #"{"job":"acme.b:17","asset":"x"}"#, true),
            ("job.failed", #"{"job":"acme2.1","asset":"acme2/a.jpg"}"#, false),
            ("job.failed", #"{"job":"acme","asset":"acme.jpg"}"#, false),
            ("job.failed", #"{"job":"other.1","asset":"acmé/a.jpg"}"#, false),
            ("job.failed", #"{"job":7,"asset":"acme/a.jpg"}"#, false),
            ("batch.completed", #"{"batch":"acme.b"}"#, true),
            ("batch.completed", #"{"batch":"b","asset":"acme/a.jpg","job":"acme.1"}"#, false),
            ("stream.harmed", #"{"stream":"in","job":"acme.1","batch":"acme.b"}"#, false),
            ("later.kind", #"{"job":"acme.1","batch":"acme.b"}"#, false),
            ("job.failed", "[]", false),
        ])
    func `an event is theirs by the job's id, the asset or the batch's name`(
        type: String, data: String, isTheirs: Bool
    ) throws {
        let seen = try Self.view().view(json: Self.event(type, data))
        #expect((seen != nil) == isTheirs)
    }

    @Test func `an event tells of no worker, no path, and no asset of another`() throws {
        let data =
            #"{"asset":"acme/a.jpg","error":{"code":"ioFailure","message":"worker host-7 let go of /srv/p/a.jpg: no disk","permanent":true},"job":"acme.1","message":"see host-7","reason":"replaced by job other.3","reusedFrom":"other/a.jpg@1-2","version":{"path":"acme/a.jpg"},"worker":"host-7"}"#
        let seen = try #require(
            try Self.view().view(json: Self.event("job.completed", data)))
        for word in ["host-7", "/srv", "other.", "other/"] {
            #expect(!seen.contains(word), "\(seen)")
        }
        #expect(seen.contains(#""path":"acme/a.jpg""#) && seen.contains(#""worker":"worker""#))
        #expect(seen.contains("its worker let go of …: no disk"))
        let own = data.replacing("other/a.jpg@1-2", with: "acme/b.jpg@1-2")
        let kept = try Self.view().view(json: Self.event("job.completed", own))
        #expect(kept?.contains(#""reusedFrom":"acme/b.jpg@1-2""#) == true)
    }

    @Test func `facts, records and attempts tell no more than events`() throws {
        let view = try Self.view()
        let fields = [
            "state": "parked", "asset": "acme/a.jpg", "worker": "host-7", "holder": "other.9",
            "holderState": "active", "incoming": "5000", "hold": "minilab top", "holdJobs": "9",
            "message": "worker host-7 lost /srv/a.jpg", "code": "ioFailure",
        ]
        #expect(view.view(JobFacts(job: "other.1", ["state": "unknown"])) == nil)
        let facts = try #require(view.view(JobFacts(job: "acme.1", fields)))
        for word in ["host-7", "other.9", "/srv", "5000", "minilab"] {
            #expect(!facts.fields.values.contains { $0.contains(word) }, "\(word)")
        }
        #expect(facts.reason.code == "behindAsset")
        let record = try #require(
            JobRecord("acme.1", fields.merging(["state": "dead"]) { $1 }))
        let shown = try #require(view.view(record))
        #expect(shown.worker == "worker" && shown.message == "its worker lost …")
        #expect(view.view(try #require(JobRecord("x", ["state": "dead", "asset": "b"]))) == nil)
        let attempt = Attempt(
            fence: "1", worker: "host-7", failure: Failure(.ioFailure, "host-7: /srv/x is full"),
            trace: Attempt.Trace())
        #expect(view.view(attempt).message == "worker: … is full")
    }

    @Test(
        arguments: [
            ("cannot open /srv/photos/a.jpg: no such file", "cannot open …: no such file"),
            ("'/srv/a b.jpg' is gone.", "'…' is gone."),
            ("see (/etc/minilab.json), /x.", "see (…), …."),
            ("acme/a.jpg is 1/2 of it", "acme/a.jpg is 1/2 of it"),
            ("http://host/x and a / b", "http://host/x and a / b"),
            ("path=/srv/x", "path=…"), ("/", "/"), ("//", "…"), ("", ""),
        ])
    func `absolute paths are taken out of a message, and nothing else`(
        message: String, expected: String
    ) {
        #expect(PublicMessage.of(message) == expected)
    }

    @Test func `a view of all assets sees every job, and no stream`() throws {
        let view = TenantView(tenant: try JobID("acme"), assetPrefix: "")
        #expect(view.sees(job: "x", asset: "b.jpg"))
        #expect(try view.view(json: Self.event("stream.harmed", "{}")) == nil)
    }
}
