import Edits
import Foundation
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

@Suite("Batches from the command line") struct BatchCommandTests {
    private func file(_ rig: Rig, _ text: String) throws -> String {
        let path = rig.folder.file("edits.ndjson")
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    @Test func `wrong lines are named by their numbers, and the others are sent`() async throws {
        let rig = try await Rig()
        let path = try file(
            rig,
            """
            a.jpg
            {"asset":"../b.jpg"}

            {"asset":"c.jpg","edit":{"filters":[{"name":"CINothing"}]}}
            {"asset":"d.jpg","tenant":"acme"}
            {"asset":
            """)
        let command =
            [
                "enqueue", "--file", path, "--filter", "CISepiaTone", "--batch", "b",
            ] + rig.server.flags(as: .operator)
        for _ in 0..<2 {
            let (ending, output) = try await MinilabProcess.run(command)
            #expect(ending == .exited(1))
            for part in [
                "batch b: ", "1 job", "line 2: assetOutsideLibrary", "line 4: unknownFilter",
                "line 5: unknownField: job.tenant", "line 6: malformedJSON",
            ] { #expect(output.contains(part), "\(part) in \(output)") }
            #expect(!output.contains("line 1:") && !output.contains("line 3:"))
            #expect(try await rig.redis.send(["XLEN", "minilab:{photos}:lane:b"]).int == 1)
        }
        let (trial, report) = try await MinilabProcess.run(command + ["--dry-run", "--json"])
        #expect(trial == .exited(1) && report.contains(#""count" : 4"#), "\(report)")
    }

    /// A batch has the edit of most lines, which a line without one must not get by that.
    @Test func `a line without an edit is refused in each pass over the file`() async throws {
        let rig = try await Rig()
        let edit = #""edit":{"filters":[{"name":"CISepiaTone"}]}"#
        let path = try file(
            rig, #"{"asset":"a.jpg",\#(edit)}"# + "\nb.jpg\n" + #"{"asset":"c.jpg",\#(edit)}"#)
        let (ending, output) = try await MinilabProcess.run(
            [
                "enqueue", "--file", path, "--batch", "b",
            ] + rig.server.flags(as: .operator))
        #expect(ending == .exited(1) && output.contains("line 2: missingField"), "\(output)")
        #expect(output.contains("batch b: 2 jobs"), "\(output)")
        #expect(try await rig.redis.send(["XLEN", "minilab:{photos}:lane:b"]).int == 2)
    }

    @Test(arguments: [("opens", "-"), ("seals", "+")])
    func `waiting ends when an entry of the batch is dropped unread`(
        what: String, end: String
    ) async throws {
        let rig = try await Rig()
        let path = try file(rig, "a.jpg\nb.jpg\n")
        let waiting = Task {
            try await MinilabProcess.run(
                [
                    "enqueue", "--file", path, "--batch", "b", "--filter", "CISepiaTone", "--wait",
                ] + rig.server.flags(as: .operator))
        }
        let key: RedisArgument = "minilab:{photos}:in"
        while try await rig.redis.send(["XLEN", key]).int != 2 { await Task.yield() }
        let entries = try await rig.redis.send(["XRANGE", key, "-", "+"]).array ?? []
        let dropped = (end == "-" ? entries.first : entries.last)?.array?.first?.string ?? ""
        _ = try await rig.redis.send(["XDEL", key, RedisArgument(dropped)])
        let queue = JobQueue(name: try QueueName("photos"), redis: rig.redis)
        _ = try await queue.admit()
        let (ending, output) = try await waiting.value
        #expect(ending == .exited(1), "\(output)")
        #expect(output.contains("the entry that \(what) batch b was lost"), "\(output)")
    }

    @Test func `a file without a job is refused, and nothing is sent`() async throws {
        let rig = try await Rig()
        let path = try file(rig, "../a.jpg\n{}\n")
        let (ending, output) = try await MinilabProcess.run(
            [
                "enqueue", "--file", path, "--filter", "CISepiaTone",
            ] + rig.server.flags(as: .operator))
        #expect(ending == .exited(1) && output.contains("nothing was enqueued"), "\(output)")
        #expect(output.contains("line 1: ") && output.contains("line 2: "), "\(output)")
        #expect(try await rig.redis.send(["DBSIZE"]).int == 0)
    }

    @Test func `a file that is no list of jobs is told what is wrong with it`() async throws {
        let rig = try await Rig()
        for (bytes, part) in [
            (Data("a.jpg\n".utf8) + [0xFF, 0x0A], "line 2: invalidValue: it is not UTF-8"),
            (
                Data(repeating: 0x78, count: 3 << 20),
                "line 1: oversizedField: it has more than 131072 bytes"
            ),
            (Data("\n \n".utf8), "it has 0 jobs"),
            (Data([0xEF, 0xBB, 0xBF]) + Data(#"{"asset":"a","color":1}"#.utf8), "job.color"),
        ] {
            let path = rig.folder.file("edits.ndjson")
            try bytes.write(to: URL(filePath: path))
            let (ending, output) = try await MinilabProcess.run(
                [
                    "enqueue", "--file", path, "--filter", "CISepiaTone",
                ] + rig.server.flags(as: .operator))
            #expect(ending == .exited(1) && output.contains(part), "\(part) in \(output)")
        }
        let (ending, output) = try await MinilabProcess.run([
            "enqueue", "--file", rig.folder.path, "--filter", "CISepiaTone",
        ])
        #expect(ending == .exited(1) && output.contains("cannot be read"), "\(output)")
    }

    @Test func `a file of jobs is one batch, sent twice as once, and waited for`() async throws {
        let rig = try await Rig()
        for number in 0..<3 {
            try rig.put("p\(number).png", SyntheticPhoto.png(width: 30, height: 20 + number))
        }
        let path = try file(
            rig,
            """
            {"asset":"p0.png","edit":{"filters":[{"name":"CISepiaTone"}]}}
            {"edit": {"filters": [{"name": "CISepiaTone"}]}, "asset": "p1.png"}
            {"asset":"p\\u0032.png","edit":{"filters":[{"name":"CIColorInvert"}]},"cost":50}
            """)
        let command = ["enqueue", "--file", path] + rig.server.flags(as: .operator)
        let (sent, first) = try await MinilabProcess.run(command + ["--batch", "b"])
        #expect(sent == .exited(0) && first.contains("batch b: 3 jobs"), "\(first)")
        let (again, second) = try await MinilabProcess.run(command + ["--batch", "b"])
        #expect(again == .exited(0) && second.contains("nothing was sent"), "\(second)")

        let worker = try rig.worker("w")
        let (waited, report) = try await MinilabProcess.run(
            command + ["--batch", "b", "--wait", "--json"])
        #expect(waited == .exited(0), "\(report)")
        try await rig.checkInvariants(jobs: ["b:0", "b:1", "b:2"])
        let edit = try #require(try await rig.queue.edit(of: BatchID("b")))
        #expect(edit.contains("CISepiaTone"))
        #expect(try await rig.redis.send(["EXISTS", "minilab:{photos}:edit:b:0"]).int == 0)

        // A file that is another batch, under the same name.
        let other = try file(rig, "p0.png\np1.png")
        for (flags, part) in [
            (["--filter", "CIColorInvert"], "a different edit"),
            (["--filter", "CISepiaTone"], "sealed at 3 jobs, and this file has 2"),
        ] {
            let (ending, output) = try await MinilabProcess.run(
                ["enqueue", "--file", other, "--batch", "b"] + rig.server.flags(as: .operator)
                    + flags)
            #expect(ending == .exited(1) && output.contains(part), "\(output)")
        }
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }

    @Test func `a file under the name of a batch that ended is refused, and nothing is sent`()
        async throws
    {
        let rig = try await Rig()
        _ = try await rig.redis.send(["HSET", "minilab:{photos}:seen:new", "batch:b", "x"])
        let path = try file(rig, "a.jpg\nb.jpg\nc.jpg\n")
        let (ending, output) = try await MinilabProcess.run(
            [
                "enqueue", "--file", path, "--batch", "b", "--filter", "CISepiaTone",
            ] + rig.server.flags(as: .operator))
        #expect(ending == .exited(1), "\(output)")
        #expect(output.contains("a batch b has ended, and its name is remembered"), "\(output)")
        #expect(!output.contains("3 jobs"), "\(output)")
        #expect(try await rig.redis.send(["EXISTS", "minilab:{photos}:lane:b"]).int == 0)
        #expect(try await rig.redis.send(["EXISTS", "minilab:{photos}:in"]).int == 0)
    }

    @Test func `a dry run looks at the photos and sends nothing`() async throws {
        let rig = try await Rig()
        try rig.put("p0.png", SyntheticPhoto.png(width: 300, height: 200))
        try rig.put("done.png", SyntheticPhoto.png(width: 30, height: 20))
        try await rig.xadd("done.png")
        let worker = try rig.worker("w")
        _ = try await rig.waitForEnds(1)
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
        let path = try file(rig, "p0.png\ndone.png\nmissing.png\np0.png\n")
        let (ending, output) = try await MinilabProcess.run(
            [
                "enqueue", "--file", path, "--filter", "CISepiaTone", "--dry-run", "--all",
                "--library",
                rig.library, "--json",
            ] + rig.server.flags(as: .operator))
        #expect(ending == .exited(0), "\(output)")
        let report = try JSONValue(parsing: output, as: "report")
        #expect(report.fields?["jobs"] == .number(4))
        #expect(report.fields?["edits"] == .number(1))
        #expect(report.fields?["repeatedAssets"] == .number(1))
        let photos = report.fields?["photos"]?.fields
        #expect(photos?["rendered"] == .number(2))
        #expect(photos?["unchanged"] == .number(1))
        #expect(photos?["failing"] == .number(1))
        #expect(photos?["pixels"] == .number(120_000))
        #expect(try await rig.queue.batches(count: 10).records.isEmpty)
    }

    @Test func `batch, explain, top, pause, limit and cancel tell of one batch`() async throws {
        let rig = try await Rig()
        let redis = rig.server.flags(as: .operator)
        func run(_ words: String...) async throws -> (MinilabProcess.Ending, String) {
            let (ending, output) = try await MinilabProcess.run(words + redis)
            return (ending, output)
        }
        let path = try file(rig, "a.png\nb.png\nc.png\n")
        #expect(
            try await run(
                "enqueue", "--file", path, "--filter", "CISepiaTone", "--batch", "b", "--tenant",
                "acme", "--cap", "2"
            ).0 == .exited(0))
        #expect(try await run("batch", "b").1.contains("no worker has taken it in yet"))
        _ = try await rig.queue.admit()
        #expect(try await run("batch").1.contains("acme"))
        #expect(try await run("batch", "b").1.contains("in its stream"))
        let (_, counts) = try await run("status")
        #expect(counts.contains(/in batches +1\n/), "\(counts)")
        #expect(try await run("explain", "b:1").1.contains("waiting: no worker runs; 1 ahead"))
        #expect(try await run("explain", "b:2").1.contains("in the stream of batch b"))
        #expect(try await run("explain", "b:9").0 == .exited(1))
        #expect(try await run("pause", "library is moved").0 == .exited(0))
        #expect(try await run("explain", "b:0").1.contains("paused (library is moved)"))
        #expect(try await run("top").1.contains("PAUSED: library is moved"))
        #expect(try await run("status").1.contains("PAUSED: library is moved"))
        #expect(try await run("resume").0 == .exited(0))
        #expect(try await run("limit", "--tenant", "acme", "--cap", "1").0 == .exited(0))
        #expect(try await run("limit", "--weight", "2").0 != .exited(0))
        #expect(try await run("pause", "--tenant", "acme").0 == .exited(0))
        #expect(try await run("explain", "b:0").1.contains("tenant acme is paused"))
        #expect(try await run("status").1.contains("PAUSED: tenant acme"))
        let (limits, listed) = try await run("limit")
        #expect(limits == .exited(0) && listed.contains("0, paused"), "\(listed)")

        #expect(try await run("cancel", "b:2", "--reason", "twice").1.contains("b:2: cancelled"))
        let (again, answer) = try await run("cancel", "b:2")
        #expect(again == .exited(1) && answer.contains("had ended already"), "\(answer)")
        let (cancelled, words) = try await run("cancel", "--batch", "b", "--reason", "no more")
        #expect(cancelled == .exited(0) && words.contains("3 of 3 jobs never run"), "\(words)")
        #expect(try await run("cancel", "--batch", "b").1.contains("has ended"))
        #expect(try await run("cancel", "--batch", "x").1.contains("there is no batch x"))
        #expect(try await rig.waitForEnds(3).count == 3)
    }

    @Test func `dead jobs are replayed by what they have in common`() async throws {
        let rig = try await Rig()
        let redis = rig.server.flags(as: .operator)
        try await rig.xadd("gone.png", id: "gone")
        try rig.put("broken.png", Data("no photo".utf8))
        try await rig.xadd("broken.png", id: "broken")
        let worker = try rig.worker("w")
        _ = try await rig.waitForEnds(2)

        let (_, listed) = try await MinilabProcess.run(["dead", "--code", "missingAsset"] + redis)
        #expect(listed.contains("gone") && !listed.contains("broken"))
        let (_, one) = try await MinilabProcess.run(["dead", "--count", "1"] + redis)
        #expect(one.contains("there are more: --offset 1"), "\(one)")
        let (_, rest) = try await MinilabProcess.run(["dead", "--offset", "1"] + redis)
        #expect(!rest.contains("there are more"), "\(rest)")
        let (_, bundle) = try await MinilabProcess.run(
            ["dead", "broken", "--bundle", "--library", rig.library] + redis)
        let fields = try JSONValue(parsing: bundle, as: "bundle").fields
        #expect(fields?["edit"]?.fields?["filters"] != nil, "\(bundle)")
        #expect(fields?["original"]?.fields?["bytes"] == .number(8))
        #expect(fields?["command"]?.text?.contains("minilab render") == true)

        let (_, dry) = try await MinilabProcess.run(
            ["replay", "--code", "missingAsset", "--dry-run"] + redis)
        #expect(dry.contains("1 job would be replayed (missingAsset 1)"), "\(dry)")
        #expect(try await rig.queue.record(of: "gone")?.state == .dead)

        try rig.put("gone.png", SyntheticPhoto.png(width: 30, height: 20))
        let edit = rig.folder.file("edit.json")
        try Data(#"{"filters":[{"name":"CIColorInvert"}]}"#.utf8).write(to: URL(filePath: edit))
        let (replayed, answer) = try await MinilabProcess.run(
            ["replay", "--code", "missingAsset", "--with-edit", edit, "--rate", "10"] + redis)
        #expect(replayed == .exited(0) && answer.contains("1 job replayed"), "\(answer)")
        _ = try await rig.waitForEnds(3)
        #expect(try await rig.queue.record(of: "gone")?.outcome == "completed")
        #expect(
            try await rig.queue.edit(of: #require(try await rig.queue.record(of: "gone")))?
                .contains("CIColorInvert") == true)
        let (live, refusal) = try await MinilabProcess.run(["replay", "gone"] + redis)
        #expect(live == .exited(1) && refusal.contains("gone: is not dead"), "\(refusal)")
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }
}
