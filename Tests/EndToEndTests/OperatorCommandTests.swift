import Edits
import Foundation
import JobQueue
import MinilabTesting
import Redis
import Testing

@Suite("What an operator's commands say") struct OperatorCommandTests {
    @Test func `what cannot be done ends with 1 and one sentence, a wrong flag with 64`()
        async throws
    {
        let rig = try await Rig()
        let redis = rig.server.flags(as: .operator)
        for command in [
            ["status", "none"], ["batch", "none"], ["cancel", "--batch", "none"],
            ["dead", "none", "--bundle"], ["replay", "--continue", "none"],
            ["key", "set", "000000000000", "--rate", "5"],
            ["enqueue", "a.png", "--edit", "/nowhere/edit.json"],
            ["enqueue", "a.png", "--edit", "[]"], ["enqueue", "a.png", "--edit", " \"x\""],
            ["replay", "--all", "--with-edit", "/nowhere/edit.json"],
            ["history", "a.png", "--library", "/nowhere"],
            ["resume", "--tenant", "nobody"], ["cancel", "--tenant", "nobody"],
        ] {
            let (ending, output) = try await MinilabProcess.run(
                command + (command[0] == "history" ? [] : redis))
            #expect(ending == .exited(1), "\(command): \(output)")
            #expect(
                output.hasPrefix("Error: ") && output.split(separator: "\n").count == 1, "\(output)"
            )
            #expect(!output.contains("Usage") && !output.contains("NSCocoa"), "\(output)")
            guard let edit = command.last, ["[", " "].contains(edit.first) else { continue }
            #expect(output.contains("expected an object"), "\(output)")
        }
        for command in [
            ["enqueue", "a.png", "--field", "x"], ["enqueue", "a.png", "--quality", "7"],
            ["doctor", "--repair", "--library", "/nowhere"], ["doctor", "--originals", "/nowhere"],
        ] {
            let (ending, output) = try await MinilabProcess.run(command + redis)
            #expect(ending == .exited(64) && !output.contains("minilab <subcommand>"), "\(output)")
        }
    }

    @Test func `a tenant is resumed that is paused, and cancelled where it is known`() async throws
    {
        let rig = try await Rig()
        let redis = rig.server.flags(as: .operator)
        func run(_ words: String...) async throws -> (MinilabProcess.Ending, String) {
            try await MinilabProcess.run(words + redis)
        }
        #expect(try await run("pause", "too many", "--tenant", "acme").0 == .exited(0))
        let audit =
            try await rig.redis.send(["XREVRANGE", "minilab-gateway:{photos}:audit", "+", "-"])
            .array?.first?.array?.last?.pairs
        #expect(audit?["detail"] == "tenant acme: too many", "\(audit ?? [:])")
        // A mistyped name is no other rule, and leaves the tenant paused.
        let (mistyped, said) = try await run("resume", "--tenant", "acmee")
        #expect(mistyped == .exited(1) && said.contains("\"acmee\" is not paused"), "\(said)")
        #expect(try await rig.queue.tenantRules()["acme"]?.cap == 0)
        #expect(try await rig.queue.tenantRules()["acmee"] == nil)
        #expect(try await run("resume", "--tenant", "acme").0 == .exited(0))
        #expect(try await rig.queue.tenantRules()["acme"]?.cap == nil)
        let (again, twice) = try await run("resume", "--tenant", "acme")
        #expect(again == .exited(1) && twice.contains("nothing was changed"), "\(twice)")

        let (unknown, why) = try await run("cancel", "--tenant", "acme")
        #expect(unknown == .exited(1) && why.contains("nothing was cancelled"), "\(why)")
        _ = try await rig.redis.send([
            "XADD", "minilab:{photos}:in", "*", "asset", "a.png", "edit",
            #"{"filters":[{"name":"CISepiaTone"}]}"#, "tenant", "acme",
        ])
        let (early, warning) = try await run("cancel", "--tenant", "acme")
        #expect(
            early == .exited(1) && warning.contains("1 entry that no worker has admitted"),
            "\(warning)")
        _ = try await rig.queue.admit()
        let (known, ended) = try await run("cancel", "--tenant", "acme")
        #expect(known == .exited(0) && ended.contains("1 job cancelled"), "\(ended)")
    }

    @Test func `a tenant's batch is cancelled, however many newer ones there are`() async throws {
        let rig = try await Rig()
        let redis = rig.server.flags(as: .operator)
        var scheduling = Scheduling()
        scheduling.tenant = try JobID("acme")
        let batch = try BatchID("old")
        try await rig.queue.open(
            BatchRequest(
                id: batch, edit: try Edit(json: #"{"filters":[{"name":"CISepiaTone"}]}"#),
                scheduling: scheduling))
        let members = [JobQueue.Member(asset: try AssetPath("a.png"))]
        _ = try await rig.queue.add(members, to: batch, from: 0)
        _ = try await rig.queue.admit()
        let newer = """
            local P, opened = 'minilab:{photos}:', redis.call('TIME')[1] * 1000 + 2000
            for i = 1, 1100 do
              redis.call('HSET', P .. 'batch:newer' .. i, 'tenant', 'other', 'priority', 'bulk', 'generation', '1',
                'finished', '0', 'admitted', '0', 'opened', opened)
              redis.call('ZADD', P .. 'batches', opened, 'newer' .. i)
            end
            """
        _ = try await rig.redis.send(["EVAL", RedisArgument(newer), "0"])
        let (_, top) = try await MinilabProcess.run(["top", "--once"] + redis)
        #expect(top.contains("and 1081 older batches"), "\(top)")
        let (_, listed) = try await MinilabProcess.run(["batch", "--count", "5"] + redis)
        #expect(listed.contains("older batches"), "\(listed)")
        let (ending, output) = try await MinilabProcess.run(
            ["cancel", "--tenant", "acme"] + redis)
        #expect(ending == .exited(0) && output.contains("1 batch and 0 jobs"), "\(output)")
        let record = try #require(try await rig.queue.record(of: batch))
        #expect(record.isComplete && record.cancelled == 1)
    }

    @Test func `all dead jobs and some of them are not asked for at once`() async throws {
        let rig = try await Rig()
        let redis = rig.server.flags(as: .operator)
        for flags in [["--code", "noSpace"], ["--tenant", "acme"], ["--since", "2h"]] {
            let (ending, output) = try await MinilabProcess.run(
                ["replay", "--all"] + flags + redis)
            #expect(ending == .exited(64), "\(output)")
            #expect(output.contains("leave --all out, or the flags"), "\(output)")
        }
    }

    @Test func `explain names the jobs that clients of the gateway call like an unknown one`()
        async throws
    {
        let rig = try await Rig()
        let redis = rig.server.flags(as: .operator)
        for tenant in ["acme", "beta"] {
            let (made, output) = try await MinilabProcess.run(
                [
                    "key", "create", "--tenant", tenant, "--prefix", "\(tenant)/", "--scope",
                    "enqueue",
                ] + redis)
            #expect(made == .exited(0), "\(output)")
        }
        // As the gateway sends it: one is a job, one waits for admission.
        for tenant in ["acme", "beta"] {
            let request = JobRequest(
                id: try JobID("\(tenant).order-7"), asset: try AssetPath("\(tenant)/a.png"),
                edit: try Edit(json: #"{"filters":[{"name":"CISepiaTone"}]}"#))
            _ = try await rig.queue.submit(request, backlogMax: nil)
            if tenant == "acme" { _ = try await rig.queue.admit() }
        }
        let (ending, output) = try await MinilabProcess.run(["explain", "order-7"] + redis)
        #expect(ending == .exited(1), "\(output)")
        #expect(output.contains("have called acme.order-7, beta.order-7 like this"), "\(output)")
        let (other, unknown) = try await MinilabProcess.run(["explain", "order-8"] + redis)
        #expect(other == .exited(1) && !unknown.contains("like this"), "\(unknown)")
        let (known, said) = try await MinilabProcess.run(["explain", "acme.order-7"] + redis)
        #expect(known == .exited(0) && !said.contains("like this"), "\(said)")

        // While a gateway of release 0.5 serves the queue, the keys are where that one has them. Who only looks moves none.
        _ = try await rig.redis.send([
            "RENAME", "minilab-gateway:{photos}:keys", "minilab:{photos}:keys",
        ])
        _ = try await rig.redis.send(["UNLINK", "minilab-gateway:{photos}:moved"])
        let (_, earlier) = try await MinilabProcess.run(["explain", "order-7"] + redis)
        #expect(earlier.contains("have called acme.order-7, beta.order-7 like this"), "\(earlier)")
        let (listed, list) = try await MinilabProcess.run(["key", "list"] + redis)
        #expect(listed == .exited(0) && list.contains("beta/"), "\(list)")
        #expect(try await rig.redis.send(["EXISTS", "minilab-gateway:{photos}:moved"]).int == 0)
    }

    @Test func `an edit is a file, standard input or the text itself, to the same bytes`() throws {
        let folder = try TemporaryFolder()
        let photo = folder.file("a.png")
        try SyntheticPhoto.png(width: 60, height: 40).write(to: URL(filePath: photo))
        let edit = #" {"filters":[{"name":"CISepiaTone","intensity":0.8}]}"#
        let file = folder.file("edit.json")
        try Data(edit.utf8).write(to: URL(filePath: file))
        var made: Set<Data> = []
        for (number, argument) in [file, "-", edit].enumerated() {
            let out = folder.file("\(number).png")
            _ = try Tool.run(
                try Programs.path(of: "minilab"), ["render", photo, out, "--edit", argument],
                input: Data(edit.utf8))
            made.insert(try Data(contentsOf: URL(filePath: out)))
        }
        #expect(made.count == 1)
        #expect(try made.first != Data(contentsOf: URL(filePath: photo)))
    }

    @Test
    func `undo, redo, revert, publish and discard are commands, and tell what became of them`()
        async throws
    {
        let rig = try await Rig()
        let redis = rig.server.flags(as: .operator)
        func run(_ words: String..., ends: Int32 = 0) async throws -> String {
            let (ending, output) = try await MinilabProcess.run(words + redis)
            #expect(ending == .exited(ends), "\(words): \(output)")
            return output
        }
        try rig.put("a.png", SyntheticPhoto.png(width: 30, height: 20))
        let worker = try rig.worker("w")
        #expect(
            try await run("enqueue", "a.png", "--filter", "CISepiaTone", "--wait")
                .contains("published version 1-"))
        #expect(try await run("undo", "a.png", "--wait").contains("published version"))
        let nothing = try await run("undo", "a.png", "--wait")
        #expect(nothing.contains("no new version was made: there is nothing to undo"), "\(nothing)")
        #expect(try await run("redo", "a.png", "--wait").contains("published version"))
        #expect(try await run("revert", "a.png", "--wait").contains("published version"))
        let draft = #"{"mode":"replace","filters":[{"name":"CIColorInvert"}],"draft":true}"#
        #expect(try await run("enqueue", "a.png", "--edit", draft, "--wait").contains("as a draft"))
        #expect(try await run("publish", "a.png", "--wait").contains("published version"))
        #expect(
            try await run(
                "enqueue", "a.png", "--edit", draft.replacing("CIColorInvert", with: "CISepiaTone"),
                "--wait"
            ).contains("as a draft"))
        let discarded = try await run("discard", "a.png", "--wait", "--json")
        #expect(discarded.contains(#""outcome":"unchanged""#), "\(discarded)")
        let missing = try await run(
            "enqueue", "none.png", "--filter", "CISepiaTone", "--wait", ends: 1)
        #expect(missing.contains("missingAsset"), "\(missing)")
        for change in ["undo", "redo", "revert", "publish", "discard"] {
            let unknown = try await run(change, "none.png", "--wait", ends: 1)
            #expect(unknown.contains("missingAsset: there is no original"), "\(unknown)")
        }
        let draftless = try await run("publish", "a.png", "--wait", ends: 1)
        #expect(draftless.contains(#"An edit with "draft": true makes one"#), "\(draftless)")
        #expect(draftless.contains("See minilab history"), "\(draftless)")
        #expect(
            try await run("publish", "a.png", "b.png", "--version", "1", ends: 64).contains(
                "--version"))
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }

    @Test func `who waits for a file of jobs is told which died, and why`() async throws {
        let rig = try await Rig()
        try rig.put("a.png", SyntheticPhoto.png(width: 30, height: 20))
        let list = rig.folder.file("jobs.txt")
        try Data("a.png\ngone.png\n".utf8).write(to: URL(filePath: list))
        let worker = try rig.worker("w")
        let (ending, output) = try await MinilabProcess.run(
            ["enqueue", "--file", list, "--batch", "b", "--filter", "CISepiaTone", "--wait"]
                + rig.server.flags(as: .operator))
        #expect(ending == .exited(1))
        #expect(output.contains("1 done, 1 dead, 0 cancelled"), "\(output)")
        #expect(output.contains("dead: job b:1, gone.png, missingAsset: "), "\(output)")
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }

    @Test func `the audit log has what commands did, and who ran them`() async throws {
        let rig = try await Rig()
        let redis = rig.server.flags(as: .operator)
        try await rig.xadd("gone.png", id: "gone")
        _ = try await rig.queue.admit()
        for command in [
            ["pause", "a move"], ["resume"], ["limit", "--tenant", "acme", "--cap", "3"],
            ["cancel", "gone"], ["key", "create", "--operator", "--scope", "read"],
            ["cancel", "--tenant", "acme"],
        ] {
            let (ending, output) = try await MinilabProcess.run(
                command + redis, environment: ["SUDO_USER": "ana"])
            #expect(ending == .exited(0), "\(command): \(output)")
        }
        let entries =
            try await rig.redis.send(["XRANGE", "minilab-gateway:{photos}:audit", "-", "+"])
            .array?.compactMap { $0.array?.last?.pairs } ?? []
        #expect(
            entries.map { $0["deed"] } == [
                "pause", "resume", "limitTenant", "cancelJob", "createKey", "cancelTenant",
            ])
        #expect(entries.first?["detail"] == "a move" && entries[3]["detail"] == "gone")
        #expect(
            entries.allSatisfy {
                $0["person"]?.hasPrefix("ana@") ?? false && $0["key"] == "minilab"
            })
    }

    @Test func `a replay is tried on a few, held when they fail, and continued`() async throws {
        let rig = try await Rig()
        let redis = rig.server.flags(as: .operator)
        for number in 0..<8 { try await rig.xadd("p\(number).png", id: "p\(number)") }
        let worker = try rig.worker("w")
        _ = try await rig.waitForEnds(8)
        // The first to die are replayed first: half of them are mended.
        let dead = try await MinilabProcess.run(["dead", "--json"] + redis).output
        let order = try #require(JSONValue(parsing: dead, as: "dead").values)
            .compactMap { $0.fields?["job"]?.text }
        for job in order.dropFirst(2) {
            try rig.put("\(job).png", SyntheticPhoto.png(width: 30, height: 20))
        }
        let (held, said) = try await MinilabProcess.run(
            ["replay", "--all", "--first", "4", "--stop-at", "50%"] + redis)
        #expect(
            held == .exited(1) && said.contains("held: 2 of the first 4 jobs failed again"),
            "\(said)")
        #expect(try await rig.queue.status()[.dead] == 6)
        let id = try #require(said.firstMatch(of: /replay (r[0-9a-z]+):/)).1
        let (done, text) = try await MinilabProcess.run(
            ["replay", "--continue", String(id)] + redis)
        #expect(done == .exited(0) && text.contains("8 jobs of 8 replayed"), "\(text)")
        _ = try await rig.waitForEnds(16)
        #expect(try await rig.queue.status()[.dead] == 2)
        let (again, refusal) = try await MinilabProcess.run(
            ["replay", "--continue", String(id)] + redis)
        #expect(again == .exited(1) && refusal.contains("has ended (done)"), "\(refusal)")
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }
}
