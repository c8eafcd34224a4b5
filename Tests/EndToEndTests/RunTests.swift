import Adjustments
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@testable import JobQueue

@Suite("minilab run") struct RunTests {
    /// A folder with photos and a manifest of so many jobs.
    private func manifest(jobs: Int, folder: TemporaryFolder) throws -> String {
        var lines: [String] = []
        for number in 0..<jobs {
            try SyntheticPhoto.png(width: 200, height: 150, seed: number)
                .write(to: URL(filePath: folder.file("photo-\(number).png")))
            lines.append(
                #"{"asset": "photo-\#(number).png", "edit": {"filters": [{"name": "CISepiaTone"}]}}"#
            )
        }
        let path = folder.file("jobs.ndjson")
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
        return path
    }

    private struct Report: Decodable {
        let completed: [JobEvent.Completed]
        let failed: [JobEvent.Failed]
        let contactSheet: String?
    }

    private func report(_ output: String) throws -> Report {
        let json = try #require(output.range(of: "{\n")).lowerBound
        return try JSONDecoder().decode(Report.self, from: Data(output[json...].utf8))
    }

    @Test func `a manifest is run, and running it again repeats nothing`() async throws {
        let folder = try TemporaryFolder()
        let arguments = [
            "run", try manifest(jobs: 5, folder: folder), "--state", folder.file("s"), "--json",
        ]
        let (ending, output) = try await MinilabProcess.run(arguments)
        #expect(ending == .exited(0), "\(output)")
        let first = try report(output)
        #expect(first.completed.count == 5 && first.failed.isEmpty)
        #expect(FileManager.default.fileExists(atPath: try #require(first.contactSheet)))
        // They have the edits of all jobs.
        for name in ["redis", "redis/appendonlydir", "redis/redis.log", "minilab.log"] {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: folder.file("s/\(name)"))
            let mode = try #require(attributes[.posixPermissions] as? Int)
            #expect(mode & 0o077 == 0, "\(name) has the mode \(String(mode, radix: 8))")
        }
        let (again, secondOutput) = try await MinilabProcess.run(arguments)
        #expect(again == .exited(0), "\(secondOutput)")
        #expect(try report(secondOutput).completed.map(\.version) == first.completed.map(\.version))
    }

    @Test func `a photo that comes under two names is rendered once, and the report says so`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = try manifest(jobs: 3, folder: folder)
        try SyntheticPhoto.png(width: 200, height: 150, seed: 0)
            .write(to: URL(filePath: folder.file("photo-1.png")))
        let arguments = ["run", path, "--state", folder.file("s")]
        let (ending, output) = try await MinilabProcess.run(arguments + ["--json"])
        #expect(ending == .exited(0), "\(output)")
        let jobs = try report(output).completed
        // Whichever comes first is rendered.
        let (rendered, reused) = (
            jobs.filter { $0.reusedFrom == nil }, jobs.filter { $0.reusedFrom != nil }
        )
        #expect(rendered.count == 2 && reused.count == 1)
        let copy = try #require(reused.first)
        let model = try #require(rendered.first { $0.render == copy.render })
        #expect(copy.reusedFrom == "\(model.asset)@\(model.version.id)")
        #expect(copy.timings.renderMilliseconds == 0 && copy.peakMemoryBytes == 0)
        #expect(model.timings.renderMilliseconds > 0)
        let (_, table) = try await MinilabProcess.run(arguments)
        #expect(table.contains("reused"))
        let folders = ["--library", folder.file("s/library"), "--originals", folder.path]
        let (_, shown) = try await MinilabProcess.run(["show", copy.asset] + folders)
        #expect(shown.contains("the same photo and edit as \(copy.reusedFrom ?? "")"), "\(shown)")
        let (sound, words) = try await MinilabProcess.run(["verify"] + folders)
        #expect(sound == .exited(0), "\(words)")
    }

    @Test func `a photo that comes under two names is rendered twice when that is asked for`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = try manifest(jobs: 2, folder: folder)
        try SyntheticPhoto.png(width: 200, height: 150, seed: 0)
            .write(to: URL(filePath: folder.file("photo-1.png")))
        let (ending, output) = try await MinilabProcess.run(
            ["run", path, "--state", folder.file("s"), "--json"],
            environment: ["MINILAB_RENDER_REUSE": "false"])
        #expect(ending == .exited(0), "\(output)")
        let jobs = try report(output).completed
        #expect(jobs.allSatisfy { $0.reusedFrom == nil && $0.timings.renderMilliseconds > 0 })
        #expect(Set(jobs.map(\.render?.sha256)).count == 1)
    }

    @Test func `a run killed in the middle does the rest when started again`() async throws {
        let folder = try TemporaryFolder()
        let arguments = [
            "run", try manifest(jobs: 20, folder: folder), "--state", folder.file("s"), "--json",
        ]
        // It stops itself with a version published and its event not yet sent.
        let killed = try MinilabProcess(
            arguments, environment: [TestPoint.variable: TestPoint.afterPointer.rawValue])
        _ = try await eventually("the run stops at its point") { stoppedProcess(of: killed.pid) }
        killed.kill(SIGKILL)
        #expect(try await killed.waitForEnd() == .signalled(SIGKILL))
        let (ending, output) = try await MinilabProcess.run(arguments)
        #expect(ending == .exited(0), "\(output)")
        let report = try report(output)
        #expect(report.completed.count == 20)
        // Each asset was edited by one job, so a second version would be a repeated publish.
        for number in 0..<20 {
            let versions = try FileManager.default.contentsOfDirectory(
                atPath: folder.file("s/library/edits/photo-\(number).png/versions"))
            #expect(versions.count == 1)
        }
    }

    @Test func `edits of one asset are made in the manifest's order`() async throws {
        let folder = try TemporaryFolder()
        try SyntheticPhoto.png(width: 20, height: 10)
            .write(to: URL(filePath: folder.file("a.png")))
        let path = folder.file("jobs.ndjson")
        let lines = (1...9).map {
            #"{"asset": "a.png", "edit": {"filters": [{"name": "CISepiaTone", "intensity": 0.\#($0)}]}}"#
        }
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
        let (ending, output) = try await MinilabProcess.run([
            "run", path, "--state", folder.file("s"), "--json",
        ])
        #expect(ending == .exited(0), "\(output)")
        #expect(try report(output).completed.map(\.version.revision) == Array(1...9))
    }

    @Test func `a draft that the manifest publishes, and one that it discards, are told of`()
        async throws
    {
        let folder = try TemporaryFolder()
        for name in ["a", "b"] {
            try SyntheticPhoto.png(width: 20, height: 10)
                .write(to: URL(filePath: folder.file("\(name).png")))
        }
        let path = folder.file("jobs.ndjson")
        let draft = #"{"filters": [{"name": "CISepiaTone"}], "draft": true}"#
        let lines = [
            #"{"asset": "a.png", "edit": \#(draft)}"#,
            #"{"asset": "a.png", "edit": {"mode": "publish"}}"#,
            #"{"asset": "b.png", "edit": \#(draft)}"#,
            #"{"asset": "b.png", "edit": {"mode": "discard"}}"#,
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
        let (ending, output) = try await MinilabProcess.run([
            "run", path, "--state", folder.file("s"), "--json",
        ])
        #expect(ending == .exited(0), "\(output)")
        #expect(try report(output).completed.count == 3)
        #expect(try report(output).contactSheet != nil)
    }

    @Test func `a failed job is named with its reason, and tried again by the next run`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = try manifest(jobs: 2, folder: folder)
        try FileManager.default.removeItem(atPath: folder.file("photo-1.png"))
        let arguments = ["run", path, "--state", folder.file("s")]
        let (ending, output) = try await MinilabProcess.run(arguments)
        #expect(ending == .exited(1))
        #expect(output.contains("failed: photo-1.png") && output.contains("missingAsset"))
        try SyntheticPhoto.png(width: 20, height: 10)
            .write(to: URL(filePath: folder.file("photo-1.png")))
        let (again, text) = try await MinilabProcess.run(arguments)
        #expect(again == .exited(0), "\(text)")
        #expect(text.contains("2 done, 0 failed"))
    }

    @Test func `a wrong manifest is refused line by line before anything starts`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("jobs.ndjson")
        try Data(
            """
            {"asset": "a.jpg", "edit": {"filters": [{"name": "CINope"}]}}

            {"asset": "a.jpg"}
            {"id": "x", "asset": "a.jpg", "edit": {"filters": [{"name": "CIEdges"}]}}
            {"id": "x", "asset": "b.jpg", "edit": {"filters": [{"name": "CIEdges"}]}}
            """.utf8
        ).write(to: URL(filePath: path))
        let (ending, output) = try await MinilabProcess.run([
            "run", path, "--state", folder.file("s"),
        ])
        #expect(ending != .exited(0))
        #expect(output.contains("line 1: unknownFilter"))
        #expect(output.contains("line 3: missingField"))
        #expect(output.contains("line 5: id x was used on line 4 already"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("s")))
    }

    @Test func `two runs in one state folder do not meet`() async throws {
        let folder = try TemporaryFolder()
        let arguments = [
            "run", try manifest(jobs: 30, folder: folder), "--state", folder.file("s"),
        ]
        let first = try MinilabProcess(
            arguments, environment: [TestPoint.variable: TestPoint.afterClaim.rawValue])
        _ = try await eventually("the first run is at work") { stoppedProcess(of: first.pid) }
        let (ending, output) = try await MinilabProcess.run(arguments)
        #expect(ending != .exited(0))
        #expect(output.contains("another minilab run"))
        first.kill(SIGCONT)
        #expect(try await first.waitForEnd() == .exited(0))
    }
}
