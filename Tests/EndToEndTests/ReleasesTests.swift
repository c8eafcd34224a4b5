import Edits
import Foundation
import JobQueue
import MinilabTesting
import RenderProtocol
import Testing

/// What programs say of their own release, and do with what other releases have made.
@Suite("Releases") struct ReleasesTests {
    @Test func `every program that ships says the same version and commit`() async throws {
        var programs = ["minilab", "minilab-gateway", "minilab-render", "minilab-render-text"]
        #if arch(x86_64)
            programs.append("minilab-render-x86-64-v3")
        #endif
        var said: Set<String> = []
        for program in programs {
            let (ending, output) = try await MinilabProcess.run(
                ["--version"], executable: program)
            #expect(ending == .exited(0), "\(program): \(output)")
            said.insert(output)
        }
        let line = try #require(said.count == 1 ? said.first : nil, "\(said)")
        let form = #/minilab/([0-9.]+) \(([0-9a-f]{40}(\+dirty)?|no commit)\)\n/#
        let version = try #require(line.wholeMatch(of: form), "\(line)").1
        #expect(version == Engine.version)
    }

    @Test func `it says the numbers by which releases tell what they may read of each other`()
        async throws
    {
        let (ending, output) = try await MinilabProcess.run(["version", "--json"])
        #expect(ending == .exited(0), "\(output)")
        let said = try JSONDecoder().decode(JSONValue.self, from: Data(output.utf8)).fields
        let own = QueueFormat.own
        let numbers = [
            "render": Engine.render, "jobFormat": JobRecord.formatKnown,
            "queueFormat": own.known, "queueLeast": own.least,
        ]
        for (name, number) in numbers {
            #expect(said?[name] == .number(Double(number)), "\(name) in \(output)")
        }
    }

    /// A library with one edited photo.
    private struct Site {
        let folder: TemporaryFolder
        var library: String { folder.file("s/library") }
        let version: URL

        init() async throws {
            folder = try TemporaryFolder()
            try SyntheticPhoto.png(width: 64, height: 48)
                .write(to: URL(filePath: folder.file("a.png")))
            let manifest = URL(filePath: folder.file("jobs.ndjson"))
            try Data(#"{"asset":"a.png","edit":{"filters":[{"name":"CISepiaTone"}]}}"#.utf8)
                .write(to: manifest)
            let (ending, output) = try await MinilabProcess.run([
                "run", manifest.path, "--state", folder.file("s"),
            ])
            try #require(ending == .exited(0), "\(output)")
            let current = URL(filePath: folder.file("s/library/edits/a.png/current"))
            version = current.resolvingSymlinksInPath()
        }

        var provenance: URL { version.appending(path: "provenance.json") }

        /// Writes the provenance as another release would.
        func rewrite(_ change: (inout [String: JSONValue]) -> Void) throws {
            let value = try JSONDecoder().decode(
                JSONValue.self, from: Data(contentsOf: provenance))
            var fields = try #require(value.fields)
            change(&fields)
            fields["digest"] = nil
            fields["digest"] = .string(JSONValue.object(fields).digest)
            try JSONEncoder().encode(JSONValue.object(fields)).write(to: provenance)
        }

        func minilab(_ words: String...) async throws -> (MinilabProcess.Ending, String) {
            try await MinilabProcess.run(
                words + ["--library", library, "--originals", folder.path])
        }

        /// The digests of all files, by path.
        func files() throws -> [String: String] {
            let root = URL(filePath: library)
            let names = try FileManager.default.subpathsOfDirectory(atPath: root.path)
            return try names.reduce(into: [:]) { files, name in
                let url = root.appending(path: name)
                guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
                else { return }
                files[name] = SHA256.hash(data: try Data(contentsOf: url)).hex
            }
        }
    }

    @Test func `after an upgrade a sound library is sound, and a changed byte is found`()
        async throws
    {
        let site = try await Site()
        var (ending, output) = try await site.minilab("verify")
        #expect(ending == .exited(0) && output.contains("1 rendered again"), "\(output)")
        try site.rewrite { fields in
            guard var content = fields["content"]?.fields,
                var rendering = content["rendering"]?.fields
            else { return }
            // As 0.4.0 has written it.
            rendering["engine"] = .string("minilab/0.4.0")
            for name in ["render", "libraries"] { rendering[name] = nil }
            content["rendering"] = .object(rendering)
            fields["content"] = .object(content)
        }
        (ending, output) = try await site.minilab("verify")
        #expect(ending == .exited(0), "\(output)")
        let notes = output.split(separator: "\n").filter { $0.hasPrefix("note: ") }
        #expect(notes.count == 1 && notes[0].contains("1 render and 0 renditions"), "\(output)")
        #expect(notes.first?.contains("minilab/0.4.0") == true, "\(output)")
        // Every byte counts, whoever made it.
        let name = try #require(
            FileManager.default.contentsOfDirectory(atPath: site.version.path)
                .first { $0.hasSuffix(".png") })
        let picture = site.version.appending(path: name)
        var bytes = try Data(contentsOf: picture)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: picture)
        (ending, output) = try await site.minilab("verify", "--no-render")
        #expect(
            ending == .exited(1) && output.contains("not those that were recorded"), "\(output)")
    }

    @Test(arguments: ["provenance", "library"])
    func `what a later release wrote is named and left alone, with an exit code of its own`(
        document: String
    ) async throws {
        let site = try await Site()
        let text = #""format":99"#
        switch document {
        case "provenance":
            try site.rewrite { fields in
                fields["formatVersion"] = .number(99)
                fields["content"] = .string("elsewhere")
            }
        default:
            try Data("{\(text)}".utf8).write(to: URL(filePath: site.library + "/library.json"))
        }
        let before = try site.files()
        for words in [["verify"], ["history", "a.png"], ["show", "a.png"]] {
            let (ending, output) = try await MinilabProcess.run(
                words + ["--library", site.library])
            #expect(ending == .exited(76), "\(words): \(output)")
            #expect(output.contains("format version 99") && output.contains("upgrade"), "\(output)")
        }
        #expect(try site.files() == before)
    }
}
