import Edits
import Editors
import Foundation
import SystemPackage
import Testing

@testable import Library

@Suite("Versions of what is written to last") struct FormatVersionTests {
    private let f: LibraryFixture
    private let name = VersionName(revision: 1, fence: "1")

    init() async throws {
        f = try LibraryFixture()
        #expect(try await f.publish(name, on: nil) == .published)
    }

    private var provenance: URL {
        URL(
            filePath: f.library.folder(of: f.asset).folder(name, on: .versions)
                .appending(Provenance.fileName).string)
    }

    private func rewrite(_ change: (inout [String: JSONValue]) -> Void) throws {
        guard
            case .object(var fields) = try JSONDecoder().decode(
                JSONValue.self, from: Data(contentsOf: provenance))
        else { return }
        change(&fields)
        fields["digest"] = nil
        fields["digest"] = .string(JSONValue.object(fields).digest)
        try JSONEncoder().encode(JSONValue.object(fields)).write(to: provenance, options: .atomic)
    }

    @Test func `a provenance says which version of the format it has`() throws {
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(contentsOf: provenance))
        guard case .object(let fields) = value else {
            Issue.record("no object")
            return
        }
        #expect(fields["formatVersion"] == .number(2))
    }

    @Test func `a provenance of the first release, which has no version, is read and verified`()
        async throws
    {
        try rewrite { fields in
            fields["formatVersion"] = nil
            fields["published"] = nil
        }
        #expect(try await f.library.state(of: f.asset).current?.version == "1-1")
        let report = try await f.library.verify(
            f.asset, allVersions: true, editors: .standard(), now: .now
        ).report
        #expect(report.isSound, "\(report.problems)")
        #expect(
            try await f.publish(VersionName(revision: 2, fence: "2"), on: name, text: "next")
                == .published)
    }

    @Test func `a provenance of a later release is refused, with the advice to upgrade`()
        async throws
    {
        try rewrite { fields in
            fields["formatVersion"] = .number(4)
            // A later release may write anything.
            fields["content"] = .string("elsewhere")
        }
        let failure = await #expect(throws: Failure.self) { try await f.library.state(of: f.asset) }
        #expect(failure?.code == .laterFormat)
        #expect(failure?.message.contains("upgrade") == true)
        #expect(failure?.code.isPermanent == false)
        let report = try await f.library.verify(
            f.asset, allVersions: true, editors: .standard(), now: .now
        ).report
        // It is not damaged, and nothing of it is taken for a stray.
        #expect(report.isSound, "\(report.problems)")
        #expect(report.later.count == 1 && report.later[0].sentence.contains("upgrade"))
    }

    /// Releases that know format 2 alone would call such a version damaged, and not ask for an upgrade.
    @Test(arguments: [
        (#"{"metadata":{"creator":["Ada"]}}"#, 3), (#"{"strip":"all","keepRights":true}"#, 3),
        (#"{"quality":0.5}"#, 2),
    ])
    func `a provenance with settings that earlier releases refuse says so by its format`(
        _ output: String, _ format: Double
    ) async throws {
        let recipe = try Recipe(
            filters: [], output: JSONDecoder().decode(Recipe.Output.self, from: Data(output.utf8)))
        let content = try #require(try await f.library.state(of: f.asset).current?.content)
        let version = Provenance(
            version: VersionName(revision: 2, fence: "2"), parent: name, mode: .replace,
            author: Provenance.Author(
                queue: "photos", job: "j", generation: 1, attempt: 1, worker: "w",
                at: "2026-01-01T00:00:00Z"),
            timeline: .start,
            content: Content(
                source: content.source, base: nil, adjustment: content.adjustment, opened: nil,
                recipe: recipe, editDigest: "00", rendering: content.rendering,
                render: content.render))
        let bytes = try version.encoded()
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
        guard case .object(let fields) = value else {
            Issue.record("no object")
            return
        }
        #expect(fields["formatVersion"] == .number(format))
        #expect(try Provenance(reading: bytes, at: "p") == version)
    }

    @Test func `a provenance that is no JSON is distinguished from one of a later release`()
        async throws
    {
        try f.put("{", at: FilePath(provenance.path))
        let failure = await #expect(throws: Failure.self) { try await f.library.state(of: f.asset) }
        #expect(failure?.code == .damagedVersion)
    }

    @Test(arguments: [
        #"{"formatVersion":2,"places":[]}"#, #"{"formatVersion":7,"places":{"new":true}}"#,
    ])
    func `the file of a render's key that a later release wrote is neither used nor changed`(
        text: String
    ) async throws {
        let key = RenderKey(
            photo: "00", recipe: try Recipe(filters: [Filter("CISepiaTone")]), render: 1,
            owner: .operator)
        let path = f.library.path(of: key)
        try f.put(text, at: path)
        let failure = #expect(throws: Failure.self) { try RenderRecord(Array(text.utf8)) }
        #expect(failure?.code == .laterFormat)
        let job = StagedVersion(queue: "photos", job: "other", fence: "9")
        guard case .lost = try await f.library.claim(key, of: f.asset, for: job) else {
            Issue.record("it was taken")
            return
        }
        try await f.library.removeUnusedRenderRecords()
        #expect(try String(contentsOfFile: path.string, encoding: .utf8) == text)
    }

    @Test func `the file of a render's key says which version of the format it has`() throws {
        let bytes = try Array(RenderRecord().encoded())
        #expect(String(decoding: bytes, as: UTF8.self).contains(#""formatVersion":1"#))
        #expect(try RenderRecord(bytes) == RenderRecord())
        // The first release's.
        #expect(try RenderRecord(Array(#"{"places":[]}"#.utf8)) == RenderRecord())
    }
}
