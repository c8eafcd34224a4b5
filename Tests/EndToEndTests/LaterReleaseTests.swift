import Edits
import Foundation
import JobQueue
import MinilabTesting
import Redis
import Testing

/// What a later release wrote is named and left alone, and the exit code says that no restart will help.
@Suite("What a later release wrote") struct LaterReleaseTests {
    private static let code = MinilabProcess.Ending.exited(76)

    @Test func `a queue ends every program with its sentence, and stays as it is`() async throws {
        let rig = try await Rig()
        try rig.put("a.png", SyntheticPhoto.png(width: 30, height: 20))
        try await rig.xadd("a.png", id: "a")
        _ = try await rig.redis.send([
            "HSET", "minilab:{photos}:virtual", "format", "9", "least", "8",
        ])
        let own = rig.server.flags(as: .operator)
        let worker = try rig.worker("older")
        let gateway = try MinilabProcess(
            ["gateway", "--library", rig.library, "--port", "0"] + rig.server.flags(as: .gateway))
        var endings = [
            (try await worker.waitForEnd(), worker.output),
            (try await gateway.waitForEnd(), gateway.output),
        ]
        for command in [["status"], ["doctor", "--repair"], ["cancel", "a"], ["pause", "no"]] {
            endings.append(try await MinilabProcess.run(command + own))
        }
        for (ending, output) in endings {
            #expect(ending == Self.code, "\(output)")
            #expect(
                output.contains("queue photos has format 9, which a later release wrote"),
                "\(output)")
        }
        #expect(
            try await rig.redis.send(["XLEN", "minilab:{photos}:in"]).int == 1)
        #expect(try await rig.queue.record(of: "a") == nil)
        #expect(try await rig.redis.send(["EXISTS", "minilab:{photos}:config"]).int == 0)
    }

    @Test func `a line in a file of dead jobs is passed over, and the others start`() async throws {
        let rig = try await Rig()
        let line =
            #""job":"a","generation":1,"asset":"a.png","edit":"{\"filters\":[]}","tenant":"default","priority":"normal","isNamed":true,"died":1,"history":[]}"#
        let path = rig.folder.file("dead.ndjson")
        let lines = [
            #"{"format":9,"new":true}"#, #"{"format":1,"# + line, #"{"format":9,"# + line,
        ]
        try lines.joined(separator: "\n").appending("\n")
            .write(toFile: path, atomically: true, encoding: .utf8)
        let (ending, output) = try await MinilabProcess.run(
            ["replay", "--file", path] + rig.server.flags(as: .operator))
        #expect(ending == Self.code, "\(output)")
        #expect(output.contains("line 1, has format 9; this release reads up to 1"), "\(output)")
        #expect(output.contains("line 3, has format 9"), "\(output)")
        #expect(output.contains("1 job replayed"), "\(output)")
        #expect(try await rig.queue.record(of: "a")?.state == .ready)
    }

    @Test func `a library ends a command with its sentence`() async throws {
        let rig = try await Rig()
        try Data(#"{"format":9,"id":"x"}"#.utf8)
            .write(to: URL(filePath: rig.library + "/library.json"))
        let worker = try rig.worker("older")
        #expect(try await worker.waitForEnd() == Self.code, "\(worker.output)")
        #expect(worker.output.contains("library.json has the format version 9"))
    }

    @Test func `a library in a folder is checked before anything is written there`() async throws {
        let folder = try TemporaryFolder()
        let identity = URL(filePath: folder.file("library.json"))
        func check() async throws -> (ending: MinilabProcess.Ending, output: String) {
            try await MinilabProcess.run(["library", "check", "--library", folder.path])
        }
        func changed() throws -> Date? {
            try FileManager.default.attributesOfItem(atPath: folder.path)[.modificationDate]
                as? Date
        }
        try Data(#"{"format":9,"id":"x"}"#.utf8).write(to: identity)
        let before = try #require(try changed())
        let later = try await check()
        #expect(later.ending == Self.code, "\(later.output)")
        #expect(
            later.output.contains("library.json has the format version 9; this Minilab reads up"),
            "\(later.output)")
        #expect(!later.output.contains("ok: "), "\(later.output)")
        #expect(try changed() == before)

        try Data("{".utf8).write(to: identity)
        let damaged = try await check()
        #expect(damaged.ending == .exited(1), "\(damaged.output)")
        #expect(damaged.output.contains("failed: this release knows the library: \(folder.path)"))
        #expect(damaged.output.contains("Restore it from a backup"), "\(damaged.output)")
    }
}
