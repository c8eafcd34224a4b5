import Edits
import Foundation
import MinilabTesting
import Testing

@testable import JobQueue

@Suite("The command line") struct CommandTests {
    private static let commands = [
        "run", "worker", "render", "plan", "editors", "enqueue", "status", "events", "dead",
        "replay", "doctor", "batch", "cancel", "pause", "resume", "limit", "explain", "top",
    ]

    @Test(arguments: commands)
    func `every command has help with an example and takes --json or prints JSON`(
        command: String
    ) async throws {
        let (ending, output) = try await MinilabProcess.run([command, "--help"])
        #expect(ending == .exited(0))
        #expect(output.contains("Example"))
        #expect(output.contains("minilab \(command)"))
        #expect(command == "worker" || output.contains("--json"))
    }

    @Test func `the list of commands is in groups and has at most 60 lines of 80 characters`()
        async throws
    {
        let (ending, help) = try await MinilabProcess.run(["--help"])
        #expect(ending == .exited(0))
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 60 && lines.allSatisfy { $0.count <= 80 }, "\(help)")
        for group in ["PHOTO", "SERVICE", "JOB", "QUEUE", "LIBRARY"] {
            #expect(lines.contains("\(group) SUBCOMMANDS:"))
        }
        // A command is one line: none is wrapped.
        #expect(!lines.contains { $0.hasPrefix(String(repeating: " ", count: 26)) }, "\(help)")
    }

    /// A command and those below it, as `--experimental-dump-help` describes them.
    private struct Description: Decodable {
        let commandName: String
        let discussion: String?
        let subcommands: [Description]?
    }

    @Test(arguments: ["minilab", "minilab-gateway"])
    func `an example in the help of a command is not wrapped, so that it can be pasted`(
        program: String
    ) async throws {
        func output(_ arguments: [String]) async throws -> String {
            let (ending, output) = try await MinilabProcess.run(arguments, executable: program)
            #expect(ending == .exited(0), "\(arguments)")
            return output
        }
        struct Dump: Decodable { let command: Description }
        let dump = try await output(["--experimental-dump-help"])
        var commands = [
            ([String](), try JSONDecoder().decode(Dump.self, from: Data(dump.utf8)).command)
        ]
        var examples = 0
        while let (names, command) = commands.popLast() {
            let lines = Set(try await output(names + ["--help"]).split(separator: "\n"))
            for line in (command.discussion ?? "").split(separator: "\n")
            where line.hasPrefix("  ") {
                examples += 1
                let isWhole = lines.contains(line)
                #expect(isWhole, "\(names): \(line)")
            }
            // `minilab gateway` has the help of the other program.
            for child in command.subcommands ?? []
            where !["help", "gateway"].contains(child.commandName) {
                commands.append((names + [child.commandName], child))
            }
        }
        #expect(examples > (program == "minilab" ? 60 : 0))
    }

    @Test func `the editors that a worker would ask are listed, the one of a setting too`()
        async throws
    {
        func listed(_ environment: [String: String]) async throws -> Set<String> {
            let (ending, output) = try await MinilabProcess.run(
                ["editors", "--json"], environment: environment)
            #expect(ending == .exited(0), "\(output)")
            let lines = try #require(JSONValue(parsing: output, as: "output").values)
            return Set(lines.compactMap { $0.fields?["formatIdentifier"]?.text })
        }
        let standard = try await listed([:])
        #expect(standard.isSuperset(of: ["org.minilab.recipe", "com.apple.photo"]))
        let more = try await listed(["MINILAB_EDITORS_TINT": "com.example.tint/1.0"])
        #expect(more == standard.union(["com.example.tint"]))
    }

    @Test func `one photo is rendered without a queue, to the same bytes as by a job`() async throws
    {
        let rig = try await Rig()
        try rig.put("tulips.jpg", photo: "tulips.jpg")
        let out = rig.folder.file("out.jpg")
        let (ending, output) = try await MinilabProcess.run([
            "render", rig.library + "/originals/tulips.jpg", out, "--filter",
            "CISepiaTone:inputIntensity=0.8", "--json",
        ])
        #expect(ending == .exited(0), "\(output)")
        try await rig.xadd(
            "tulips.jpg", edit: #"{"filters":[{"name":"CISepiaTone","intensity":0.8}]}"#)
        let worker = try rig.worker("w")
        let ends = try await rig.waitForEnds(1)
        guard case .completed(let done) = ends[0].data else {
            Issue.record("\(ends)")
            return
        }
        let byJob = try Data(contentsOf: URL(filePath: rig.library + "/" + done.version.path))
        #expect(try Data(contentsOf: URL(filePath: out)) == byJob)
        // Nothing but the result is left beside it.
        let hidden = try FileManager.default.contentsOfDirectory(atPath: rig.folder.path)
            .filter { $0.hasPrefix(".minilab") }
        #expect(hidden.isEmpty)
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }

    @Test func `what is wrong with a render is said and nothing is written`() async throws {
        let folder = try TemporaryFolder()
        let (ending, output) = try await MinilabProcess.run([
            "render", "/nowhere.jpg", folder.file("out.jpg"), "--filter", "CISepiaTone",
        ])
        #expect(ending != .exited(0))
        #expect(output.contains("missingAsset") || output.contains("/nowhere.jpg"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func `a watermark is found in the folder of resources, by its digest alone`() async throws
    {
        let folder = try TemporaryFolder()
        let photo = Contract.folder.appending(path: "photos/waterfall.jpg").path
        let mark = SyntheticPhoto.png(width: 40, height: 30)
        let digest = SHA256.hash(data: mark).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        try mark.write(to: URL(filePath: folder.file(digest)))
        let arguments = [
            "render", photo, folder.file("out.png"), "--filter",
            "CISourceOverCompositing:image=sha256:\(digest),opacity=0.5",
        ]
        let (ending, output) = try await MinilabProcess.run(
            arguments + ["--resources", folder.path])
        #expect(ending == .exited(0), "\(output)")
        let (without, words) = try await MinilabProcess.run(arguments)
        #expect(without != .exited(0) && words.contains("--resources"), "\(words)")
    }

    @Test func `a plan is shown without a render`() async throws {
        let photo = Contract.folder.appending(path: "photos/waterfall.jpg").path
        let (ending, output) = try await MinilabProcess.run([
            "plan", photo, "--filter", "CISepiaTone", "--filter", "CIColorInvert", "--filter",
            "CIEdges",
        ])
        #expect(ending == .exited(0), "\(output)")
        #expect(output.contains("orientation 6"))
        #expect(output.contains("CISepiaTone:inputIntensity=1.0 + CIColorInvert"))
    }

    @Test func `enqueue, status, events, dead and replay tell one story`() async throws {
        let rig = try await Rig()
        let redis = rig.server.flags(as: .operator)
        let (enqueued, _) = try await MinilabProcess.run(
            ["enqueue", "late.png", "--filter", "CISepiaTone", "--id", "job"] + redis)
        #expect(enqueued == .exited(0))
        let worker = try rig.worker("w")
        _ = try await rig.waitForEnds(1)

        let (_, dead) = try await MinilabProcess.run(["dead"] + redis)
        #expect(dead.contains("missingAsset") && dead.contains("late.png"))
        let (_, status) = try await MinilabProcess.run(["status", "job"] + redis)
        #expect(status.contains("job: dead, late.png"))

        try rig.put("late.png", SyntheticPhoto.png(width: 30, height: 20))
        let (replayed, answer) = try await MinilabProcess.run(["replay", "--all"] + redis)
        #expect(replayed == .exited(0) && answer.contains("1 job replayed"))
        _ = try await rig.waitForEnds(2)
        let (_, events) = try await MinilabProcess.run(["events"] + redis)
        // Standard error is in the output too: where to go on from.
        let ids = try events.split(separator: "\n").filter { $0.hasPrefix("{") }.map {
            try JSONDecoder().decode(JobEvent.self, from: Data($0.utf8)).id
        }
        #expect(ids == ["photos/job/1/failed", "photos/job/2/completed"])
        let (_, counts) = try await MinilabProcess.run(["status", "--json"] + redis)
        let now = try #require(
            JSONSerialization.jsonObject(with: Data(counts.utf8)) as? [String: Any])
        for state in JobState.counted { #expect(now[state.countName] as? Int == 0) }
        #expect((now["counters"] as? [String: Int])?["replayed"] == 1)
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }

    @Test func `all wrong settings are told at once, with key, value and what is allowed`()
        async throws
    {
        let folder = try TemporaryFolder()
        let file = folder.file("settings.json")
        try Data(#"{"retry": {"attempts": 0}, "colour": "blue"}"#.utf8)
            .write(to: URL(filePath: file))
        let process = try MinilabProcess(
            ["worker", "--lease", "5x", "--settings", file, "--redis", "http://u:secret@h"],
            environment: ["MINILAB_SLOTS": "many"])
        #expect(try await process.waitForEnd() != .exited(0))
        for part in [
            #"lease = "5x" (from --lease): expected a duration"#,
            #"slots = "many" (from MINILAB_SLOTS): expected a whole number"#,
            #"retry.attempts = "0" (from "#, "colour (from ", "is not a setting",
            "library is not set", "redis (from --redis)",
        ] { #expect(process.output.contains(part), "\(part) in \(process.output)") }
        #expect(!process.output.contains("secret"))
    }

    @Test func `a flag goes before the environment, and that before the file`() async throws {
        let rig = try await Rig()
        let file = rig.folder.file("settings.json")
        try Data(#"{"worker": {"name": "of-the-file"}, "slots": 1}"#.utf8)
            .write(to: URL(filePath: file))
        for (flags, environment, expected) in [
            ([], [:], "of-the-file"),
            ([], ["MINILAB_WORKER_NAME": "of-the-environment"], "of-the-environment"),
            (
                ["--worker-name", "of-the-flag"], ["MINILAB_WORKER_NAME": "of-the-environment"],
                "of-the-flag"
            ),
        ] as [([String], [String: String], String)] {
            let worker = try MinilabProcess(
                [
                    "worker", "--library", rig.library, "--settings",
                    file,
                ] + rig.server.flags(as: .worker) + flags, environment: environment)
            _ = try await eventually("the worker says its name") {
                worker.output.contains("worker=\(expected)") ? () : nil
            }
            worker.kill(SIGTERM)
            #expect(try await worker.waitForEnd() == .exited(0))
        }
    }

    @Test func `a worker refuses a Redis that may evict, with the reason`() async throws {
        let server = try await RedisServer.start(arguments: ["--maxmemory-policy", "allkeys-lru"])
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.file("library/originals"), withIntermediateDirectories: true)
        let (ending, output) = try await MinilabProcess.run(
            [
                "worker", "--library", folder.file("library"),
            ] + server.flags(as: .worker))
        #expect(ending == .exited(1))
        #expect(output.contains("allkeys-lru") && output.contains("noeviction"))
        server.stop()
    }
}
