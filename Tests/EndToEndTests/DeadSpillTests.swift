import Edits
import Foundation
import JobQueue
import MinilabTesting
import Testing

@Suite("Dead jobs that are moved to a file, and dropped") struct DeadSpillTests {
    @Test func `a worker moves dead jobs to a file, and a replay puts them back once`()
        async throws
    {
        let rig = try await Rig()
        let settings = rig.folder.file("settings.json")
        try Data(#"{"dead":{"records":0}}"#.utf8).write(to: URL(filePath: settings))
        let worker = try rig.worker("w", flags: ["--settings", settings])
        try await rig.xadd("gone.png", id: "gone")
        let redis = rig.server.flags(as: .operator)
        let file = try await eventually("the dead job is moved") {
            try await rig.queue.spillFiles().first?.file
        }
        #expect(file.hasPrefix(rig.library + "/dead/photos-20"), "\(file)")
        #expect(try await rig.queue.record(of: "gone") == nil)
        let (_, listed) = try await MinilabProcess.run(["dead"] + redis)
        #expect(listed.contains("no dead jobs"), "\(listed)")
        #expect(listed.contains("1 more job moved to \(file)"), "\(listed)")

        try rig.put("gone.png", SyntheticPhoto.png(width: 30, height: 20))
        let command = ["replay", "--file", file] + redis
        let (_, other) = try await MinilabProcess.run(command + ["--code", "noSpace"])
        #expect(other.contains("0 jobs replayed"), "\(other)")
        let (_, dry) = try await MinilabProcess.run(command + ["--dry-run"])
        #expect(dry.contains("1 job would be replayed (missingAsset 1)"), "\(dry)")
        // A crash wrote a part of the line before, and the line twice.
        let line = try Data(contentsOf: URL(filePath: file))
        try (line.prefix(40) + line + line).write(to: URL(filePath: file))
        let (replayed, answer) = try await MinilabProcess.run(command)
        #expect(replayed == .exited(0) && answer.contains("1 job replayed"), "\(answer)")
        _ = try await rig.waitForEnds(2)
        #expect(try await rig.queue.record(of: "gone")?.outcome == "completed")
        let (_, again) = try await MinilabProcess.run(command)
        #expect(again.contains("0 jobs replayed; 1 cannot be"), "\(again)")
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }

    @Test func `dead jobs are dropped by what they have in common, and not without saying which`()
        async throws
    {
        let rig = try await Rig()
        let redis = rig.server.flags(as: .operator)
        for (id, code) in [("a", FailureCode.missingAsset), ("b", .damagedPhoto)] {
            try await rig.xadd("\(id).png", id: id)
            _ = try await rig.queue.admit()
            let claim = try #require(try await rig.queue.claim(by: "w", count: 1).jobs.first)
            _ = try await rig.queue.fail(claim, by: "w", Failure(code, "no"), random: 0)
        }
        let (vague, refusal) = try await MinilabProcess.run(["dead", "--drop"] + redis)
        #expect(vague != .exited(0) && refusal.contains("--drop needs --all"), "\(refusal)")
        let command = ["dead", "--drop", "--code", "missingAsset"] + redis
        let (_, dry) = try await MinilabProcess.run(command + ["--dry-run"])
        #expect(dry.contains("1 dead job would be dropped"), "\(dry)")
        #expect(try await rig.queue.record(of: "a") != nil)
        let (ending, dropped) = try await MinilabProcess.run(command)
        #expect(ending == .exited(0) && dropped.contains("1 dead job dropped"), "\(dropped)")
        #expect(try await rig.queue.record(of: "a") == nil)
        #expect(try await rig.queue.record(of: "b")?.state == .dead)
        let (_, all) = try await MinilabProcess.run(["dead", "--drop", "--all", "--json"] + redis)
        #expect(all.contains("\"dropped\" : 1") || all.contains("\"dropped\":1"), "\(all)")
    }
}
