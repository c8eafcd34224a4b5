import Edits
import Foundation
import MinilabTesting
import Testing

@Suite("Commands about assets") struct AssetCommandTests {
    private static let commands = ["assets", "history", "show", "diff", "export", "gc", "verify"]

    /// A library in which a worker has made these edits of one photo.
    private func edited(_ edits: [String], asset: String = "tulips.jpg") async throws -> Rig {
        let rig = try await Rig()
        try rig.put(asset, photo: "tulips.jpg")
        let worker = try rig.worker("w")
        for (number, edit) in edits.enumerated() {
            try await rig.xadd(asset, edit: edit, id: "job-\(number + 1)")
            _ = try await rig.waitForEnds(number + 1)
        }
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
        return rig
    }

    private static let sepia = #"{"filters":[{"name":"CISepiaTone","inputIntensity":0.8}]}"#
    private static let amended =
        #"{"mode":"amend","changes":[{"step":"CISepiaTone","set":{"inputIntensity":0.5}}]}"#
    private static let blurred =
        #"{"mode":"append","filters":[{"name":"CIGaussianBlur","radius":3}]}"#

    /// Runs a command on the rig's library, which it has to do well.
    private func run(_ rig: Rig, _ arguments: String...) async throws -> String {
        let (ending, output) = try await MinilabProcess.run(
            arguments + ["--library", rig.library])
        #expect(ending == .exited(0), "\(output)")
        return output
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    @Test(arguments: commands)
    func `each has help with an example, takes --json and says what it needs`(
        command: String
    ) async throws {
        let (ending, output) = try await MinilabProcess.run([command, "--help"])
        #expect(ending == .exited(0))
        #expect(output.contains("Example") && output.contains("minilab \(command)"))
        #expect(output.contains("--json") && output.contains("--library"))
    }

    @Test func `a folder that is no library is told, and nothing is made there`() async throws {
        let folder = try TemporaryFolder()
        let (ending, output) = try await MinilabProcess.run([
            "assets", "--library", folder.path,
        ])
        #expect(ending != .exited(0) && output.contains("there is no library"), "\(output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func `history, show, diff and assets tell one story`() async throws {
        let rig = try await edited([Self.sepia, Self.blurred, Self.amended, #"{"mode":"undo"}"#])

        let history = try await run(rig, "history", "tulips.jpg")
        let lines = history.split(separator: "\n")
        #expect(lines.count == 7, "\(history)")
        #expect(
            lines[1].contains("current") && lines[1].contains("undo") && lines[1].contains("job-4"))
        #expect(lines[2].contains("redo") && lines[2].contains("amend"))
        let entries = try #require(
            try json(await run(rig, "history", "tulips.jpg", "--json"))["entries"]
                as? [[String: Any]])
        #expect(entries.map { $0["revision"] as? Int } == [4, 3, 2, 1])

        let shown = try await run(rig, "show", "tulips.jpg", "--version", "3")
        for part in [
            "0  CISepiaTone", "inputIntensity 0.5", "1  CIGaussianBlur", "inputRadius 3 pixels",
            "org.minilab.recipe 1.0", "could be read", "not current", "/originals/tulips.jpg",
        ] { #expect(shown.contains(part), "\(part) in \(shown)") }

        let picture = rig.folder.file("diff.jpg")
        let diff = try await run(rig, "diff", "tulips.jpg", "1", "3", "--picture", picture)
        #expect(diff.contains("~      inputIntensity 0.8 → 0.5"), "\(diff)")
        #expect(diff.contains("+ 1  CIGaussianBlur"))
        let type = try Tool.run("exiftool", ["-s3", "-FileType", picture])
        #expect(String(decoding: type, as: UTF8.self) == "JPEG\n")
        let unedited = try await run(
            rig, "diff", "tulips.jpg", "original", "1", "--picture", picture)
        #expect(unedited.contains("+ 0  CISepiaTone"))

        let asset = try json(await run(rig, "assets", "--json"))
        #expect(asset["asset"] as? String == "tulips.jpg" && asset["revision"] as? Int == 4)
        let path = try #require(asset["path"] as? String)
        let sum = try Tool.run("sha256sum", [rig.library + "/" + path])
        #expect(
            String(decoding: sum, as: UTF8.self).hasPrefix(try #require(asset["sha256"] as? String))
        )
    }

    @Test func `what is exported is what Photos imports, and a worker imports it again`()
        async throws
    {
        let rig = try await edited([Self.sepia], asset: "IMG_0007.JPG")
        let folder = rig.folder.file("export")
        let output = try await run(rig, "export", "IMG_0007.JPG", "--to", folder)
        #expect(output.contains("IMG_0007.JPG, IMG_E0007.JPG, IMG_0007.AAE"), "\(output)")
        let again = try await run(
            rig, "export", "IMG_0007.JPG", "--to", folder, "--as", "com.ebookfrenzy.photoext")
        #expect(again.contains("it is called IMG_0001 here"), "\(again)")
        let tags = String(
            decoding: try Tool.run(
                "exiftool", ["-s", "-AdjustmentFormatIdentifier", folder + "/IMG_0001.AAE"]),
            as: UTF8.self)
        #expect(tags.contains("com.ebookfrenzy.photoext"), "\(tags)")

        for name in ["IMG_0001.JPG", "IMG_E0001.JPG", "IMG_0001.AAE"] {
            try rig.put(name, Data(contentsOf: URL(filePath: folder + "/" + name)))
        }
        let worker = try rig.worker("w")
        try await rig.xadd(
            "IMG_0001.JPG",
            edit: #"{"mode":"import","sidecar":"IMG_0001.AAE","render":"IMG_E0001.JPG"}"#)
        _ = try await rig.waitForEnds(2)
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
        let shown = try await run(rig, "show", "IMG_0001.JPG")
        #expect(shown.contains("came with the import"), "\(shown)")
    }

    @Test func `what cannot be written in a format is refused, and nothing is written`()
        async throws
    {
        let rig = try await edited([Self.sepia])
        for (format, word) in [
            ("com.example.apple-samplecode.SamplePhotosApp", "has no words for parameters"),
            ("com.example.nobody", "known: com.apple.photo"),
        ] {
            let (ending, output) = try await MinilabProcess.run([
                "export", "tulips.jpg", "--to", rig.folder.file("out"), "--as", format, "--library",
                rig.library,
            ])
            #expect(ending != .exited(0))
            #expect(
                output.contains("adjustmentDataNotEncodable") && output.contains(word), "\(output)")
        }
        #expect(!FileManager.default.fileExists(atPath: rig.folder.file("out")))
    }

    @Test func `gc tells what would go, lets it go, and what is left is verified`() async throws {
        let rig = try await edited([Self.sepia, Self.amended, Self.blurred])
        let rule = ["--keep", "1", "--days", "0"]
        let (_, dry) = try await MinilabProcess.run(
            ["gc", "--dry-run", "--library", rig.library] + rule)
        #expect(dry.contains("would go: 2 versions, "), "\(dry)")
        let (_, done) = try await MinilabProcess.run(["gc", "--library", rig.library] + rule)
        #expect(done == dry.replacing("would go", with: "gone"))
        #expect(try await run(rig, "gc").contains("gone: 0 versions"))
        // Of the three renders one is there.
        let keys = try FileManager.default.subpathsOfDirectory(atPath: rig.library + "/renders")
        #expect(keys.count { $0.contains("/") } == 1)
        let sound = try await run(rig, "verify", "--all-versions")
        #expect(sound.contains("tulips.jpg: sound; 1 version read, 1 rendered again"), "\(sound)")
    }

    @Test(arguments: ["original", "render", "adjustmentData", "provenance"])
    func `verify ends with 1 and names what has a flipped byte`(part: String) async throws {
        let rig = try await edited([Self.sepia])
        let folder =
            rig.library + "/edits/tulips.jpg/" + (try #require(try rig.current("tulips.jpg")))
        let file = [
            "original": rig.library + "/originals/tulips.jpg", "render": folder + "/tulips.jpg",
            "adjustmentData": folder + "/tulips.AAE", "provenance": folder + "/provenance.json",
        ][part]
        let url = URL(filePath: try #require(file))
        var bytes = try Data(contentsOf: url)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: url)
        let (ending, output) = try await MinilabProcess.run(["verify", "--library", rig.library])
        #expect(ending == .exited(1))
        #expect(output.contains("tulips.jpg: \(part) \(url.path): "), "\(output)")
        let (jsonEnding, report) = try await MinilabProcess.run([
            "verify", "tulips.jpg", "--no-render", "--json", "--library", rig.library,
        ])
        #expect(jsonEnding == .exited(1))
        let problems = try #require(try json(report)["problems"] as? [[String: Any]])
        #expect(problems.first?["part"] as? String == part, "\(report)")
    }
}
