import Edits
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

    @Test func `wrong lines are named with their reasons, and the others run`() async throws {
        let folder = try TemporaryFolder()
        try SyntheticPhoto.png(width: 20, height: 10)
            .write(to: URL(filePath: folder.file("a.png")))
        let path = folder.file("jobs.ndjson")
        let sepia = #""edit": {"filters": [{"name": "CISepiaTone"}]}"#
        let lines = [
            #"{"asset": "a.png", "edit": {"filters": [{"name": "CINope"}]}}"#, "",
            #"{"asset": "a.png"}"#, #"{"id": "x", "asset": "a.png", \#(sepia)}"#,
            #"{"id": "x", "asset": "b.png", \#(sepia)}"#,
            #"{"asset": "a\u0007.png", \#(sepia)}"#, #"{"asset": "#,
        ]
        // Lines end as on Windows, the second last one is not UTF-8, and the file begins with a byte-order mark.
        var bytes = Data([0xEF, 0xBB, 0xBF]) + Data(lines.joined(separator: "\r\n").utf8)
        bytes += Data("\r\n{\"asset\": \"".utf8) + [0xFF] + Data("\"}\r\n".utf8)
        try bytes.write(to: URL(filePath: path))
        let (ending, output) = try await MinilabProcess.run([
            "run", path, "--state", folder.file("s"),
        ])
        #expect(ending == .exited(1))
        for part in [
            "line 1: unknownFilter", "line 3: missingField",
            "line 5: invalidValue: id x was used on line 4 already", "line 6: invalidValue: asset",
            "line 7: malformedJSON", "line 8: invalidValue: it is not UTF-8",
            "1 done, 6 not run, 0 failed",
        ] { #expect(output.contains(part), "\(part) in \(output)") }
    }

    @Test func `a manifest without a job is refused before anything starts`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("jobs.ndjson")
        for (text, part) in [("", "it has no jobs"), ("{}\n[]", "line 2: invalidValue")] {
            try Data(text.utf8).write(to: URL(filePath: path))
            let (ending, output) = try await MinilabProcess.run([
                "run", path, "--state", folder.file("s"),
            ])
            #expect(ending == .exited(1) && output.contains(part), "\(output)")
            #expect(!FileManager.default.fileExists(atPath: folder.file("s")))
        }
    }

    /// Names that programs write: macOS's screenshots in Dutch and in Hebrew, a web page's word break, a flag of tags, the two
    /// spellings of an accent, and one that looks like an escape.
    @Test func `names with characters that cannot be seen are assets like others`() async throws {
        let folder = try TemporaryFolder()
        let names = [
            "Scherm\u{ad}afbeelding.png", "\u{200f}\u{5e6}\u{5d9}.png", "photo\u{200b}name.png",
            "match \u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}.png",
            "caf\u{e9}.png", "cafe\u{301}.png", "%41.png", "gpj.\u{202e}exe.png", "a\u{2028}b.png",
            "a" + String(repeating: "\u{301}", count: 120) + ".png",
        ]
        for (number, name) in names.enumerated() {
            try SyntheticPhoto.png(width: 20, height: 10, seed: number)
                .write(to: URL(filePath: folder.file(name)))
        }
        let edit = JSONValue.object([
            "filters": .array([.object(["name": .string("CISepiaTone")])])
        ])
        let lines = names.map {
            JSONValue.object(["asset": .string($0), "edit": edit]).canonical
        }
        let path = folder.file("jobs.ndjson")
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
        let (ending, output) = try await MinilabProcess.run([
            "run", path, "--state", folder.file("s"),
        ])
        #expect(ending == .exited(0), "\(output)")
        #expect(output.contains("\(names.count) done, 0 failed"), "\(output)")
        #expect(!output.replacing("\n", with: "").hasControls, "\(output)")
        for name in names {
            #expect(
                FileManager.default.fileExists(
                    atPath: folder.file("s/library/edits/\(name)/current")),
                "\(name.debugDescription)")
        }
        let folders = ["--library", folder.file("s/library"), "--originals", folder.path]
        let (sound, words) = try await MinilabProcess.run(["verify"] + folders)
        #expect(sound == .exited(0), "\(words)")
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
