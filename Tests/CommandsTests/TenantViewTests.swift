import Edits
import Foundation
import Testing

@testable import JobQueue
@testable import Operations

@Suite("What a tenant sees") struct TenantViewTests {
    private static let view = TenantView(Reach(tenant: "acme", folder: "acme/a"))

    /// An event of a job or, without an asset, of a batch.
    private static func event(
        _ name: String, asset: String?, tenant: String?, folder: String? = nil
    ) -> String {
        func field(_ name: String, _ text: String?) -> String {
            text.map { #""\#(name)":"\#($0)","# } ?? ""
        }
        let kind = asset == nil ? "batch.sealed" : "job.cancelled"
        let data =
            asset.map { #"{"job":"\#(name)","asset":"\#($0)","generation":1,"reason":"no"}"# }
            ?? #"{"batch":"\#(name)","jobs":1,"message":"no"}"#
        return #"{"id":"photos/x/1/y","source":"minilab/photos","type":"org.minilab.\#(kind)","#
            + field("subject", asset) + field("tenant", tenant) + field("folder", folder)
            + #""time":"t","data":\#(data)}"#
    }

    private static func seen(_ json: String, by view: TenantView = view) throws -> String? {
        try view.view(JSONDecoder().decode(JobEvent.self, from: Data(json.utf8)), json: json)
    }

    @Test(
        arguments: [
            ("acme.1", "acme/a/1.jpg", "acme", true),
            ("acme.b:17", "acme/a/1.jpg", "acme", true),
            // Each of name, tenant and folder is another's once.
            ("1700000000000-0", "acme/a/1.jpg", "acme", false),
            ("acme.1", "acme/a/1.jpg", "other", false),
            ("acme.1", "acme/a/1.jpg", "default", false),
            ("acme.1", "acme/b/1.jpg", "acme", false), ("acme.1", "acme/1.jpg", "acme", false),
            ("acme.1", "acme/a", "acme", false), ("acme2.1", "acme/a/1.jpg", "acme2", false),
            ("acme", "acme/a/1.jpg", "acme", false), ("acme.1", "acmé/a/1.jpg", "acme", false),
            // An earlier release wrote no tenant.
            ("acme.1", "acme/a/1.jpg", nil, true), ("acme.1", "acme/b/1.jpg", nil, false),
            ("other.1", "acme/a/1.jpg", nil, false),
        ] as [(String, String, String?, Bool)])
    func `an event is theirs by the job's name, its tenant and its asset together`(
        job: String, asset: String, tenant: String?, isTheirs: Bool
    ) throws {
        let seen = try Self.seen(Self.event(job, asset: asset, tenant: tenant))
        #expect((seen != nil) == isTheirs)
    }

    @Test(
        arguments: [
            ("acme.b", "acme", "acme/a/", true), ("acme.b", "acme", "acme/a/b/", true),
            ("acme.b", "acme", "acme/", false), ("acme.b", "acme", "acme/b/", false),
            ("acme.b", "acme", nil, false), ("acme.b", "other", "acme/a/", false),
            ("b", "acme", "acme/a/", false), ("acme.b", nil, "acme/a/", true),
        ] as [(String, String?, String?, Bool)])
    func `an event of a batch is theirs by the folder of the key that opened it`(
        batch: String, tenant: String?, folder: String?, isTheirs: Bool
    ) throws {
        let json = Self.event(batch, asset: nil, tenant: tenant, folder: folder)
        #expect((try Self.seen(json) != nil) == isTheirs)
    }

    @Test func `an event tells of no worker, no path, and no asset of another`() throws {
        let data =
            #"{"asset":"acme/a/a.jpg","attempt":1,"error":{"code":"ioFailure","message":"worker host-7 let go of /srv/p/a.jpg: no disk","permanent":true},"generation":1,"job":"acme.1","message":"see host-7","reason":"replaced by job other.3","reusedFrom":"acme/b/a.jpg@1-2","untold":[{"job":"other.4","version":"2-2"},{"job":"acme.2","version":"1-1"}],"version":{"path":"acme/a/a.jpg"},"worker":"host-7"}"#
        func failed(_ data: String) -> String {
            #"{"id":"photos/x/1/y","source":"s","type":"org.minilab.job.failed","subject":"acme/a/a.jpg","tenant":"acme","time":"t","data":\#(data)}"#
        }
        let seen = try #require(try Self.seen(failed(data)))
        for word in ["host-7", "/srv", "other.", "acme/b/"] {
            #expect(!seen.contains(word), "\(seen)")
        }
        #expect(seen.contains(#""path":"acme/a/a.jpg""#) && seen.contains(#""worker":"worker""#))
        #expect(seen.contains(#""untold":[{"version":"2-2"},{"job":"acme.2","version":"1-1"}]"#))
        #expect(seen.contains("its worker let go of …: no disk"))
        let own = data.replacing("acme/b/a.jpg@1-2", with: "acme/a/b.jpg@1-2")
        let kept = try Self.seen(failed(own))
        #expect(kept?.contains(#""reusedFrom":"acme/a/b.jpg@1-2""#) == true)
    }

    @Test func `facts, records and attempts tell no more than events`() throws {
        let view = Self.view
        let fields = [
            "state": "parked", "asset": "acme/a/a.jpg", "tenant": "acme", "worker": "host-7",
            "holder": "other.9",
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
            (
                "it is not written: jpegsave_target(Q: 90, strip: true): VipsJpeg: out of order",
                "it is not written: VipsJpeg: out of order"
            ),
            ("tiffload(n: -1): /srv/a.tif: no directory", "…: no directory"),
            (
                "the filter (a: b): is kept, as is f(x): y",
                "the filter (a: b): is kept, as is f(x): y"
            ),
        ])
    func `absolute paths and calls of libraries are taken out of a message, and nothing else`(
        message: String, expected: String
    ) {
        #expect(PublicMessage.of(message) == expected)
    }

    @Test func `an operator sees all of its folder unchanged, and streams only with all of it`()
        throws
    {
        let harmed =
            #"{"id":"i","source":"s","type":"org.minilab.stream.harmed","time":"t","data":{"stream":"in","kind":"trimmed","entries":1,"message":"no"}}"#
        let job = Self.event("order-7", asset: "acme/b.jpg", tenant: "zeta")
        let all = TenantView(.everything)
        #expect(try Self.seen(harmed, by: all) == harmed && Self.seen(job, by: all) == job)
        let folder = TenantView(Reach(tenant: nil, folder: "acme"))
        #expect(try Self.seen(harmed, by: folder) == nil && Self.seen(job, by: folder) == job)
        let other = Self.event("order-7", asset: "zeta/b.jpg", tenant: "zeta")
        #expect(try Self.seen(other, by: folder) == nil)
    }

    @Test func `a member that is no job yet is theirs by its batch's folder`() {
        func facts(_ folder: String?) -> JobFacts {
            var fields = ["state": "lane", "batch": "acme.b", "tenant": "acme"]
            fields["batchFolder"] = folder
            return JobFacts(job: "acme.b:7", fields)
        }
        #expect(Self.view.view(facts("acme/a/")) != nil)
        #expect(Self.view.view(facts("acme/b/")) == nil && Self.view.view(facts(nil)) == nil)
    }
}
