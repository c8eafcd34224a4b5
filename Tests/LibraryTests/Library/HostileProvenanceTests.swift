import Edits
import Editors
import Files
import Foundation
import MinilabTesting
import SystemPackage
import Testing

@testable import Library

/// A provenance that somebody else wrote: with names that lead out of the version's folder, a digest that fits, and
/// files that are links.
@Suite("Hostile provenance") struct HostileProvenanceTests {
    private static let secret = "the secret key"
    private let f: LibraryFixture
    private let name = VersionName(revision: 1, fence: "1")
    private let key: RenderKey

    init() async throws {
        f = try LibraryFixture()
        key = RenderKey(
            photo: "00", recipe: try Recipe(filters: [Filter("CISepiaTone")]), render: 1,
            owner: .operator)
        let staged = try await f.seal(name, on: nil, base: "base", key: key)
        #expect(try await f.library.publish(name, of: f.asset, from: staged) == .published)
        try f.put(Self.secret, at: secret)
    }

    private var secret: FilePath { f.library.root.appending("secret.key") }
    private var folder: FilePath { f.library.folder(of: f.asset).folder(name, on: .versions) }

    /// Changes fields of the provenance, seals it again and puts it in place.
    private func tamper(_ change: (inout [String: Any]) -> Void) throws {
        let url = URL(filePath: folder.appending(Provenance.fileName).string)
        var fields = try #require(
            JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
        change(&fields)
        fields["digest"] = nil
        let value = try JSONDecoder().decode(
            JSONValue.self, from: JSONSerialization.data(withJSONObject: fields))
        fields["digest"] = value.digest
        try JSONSerialization.data(withJSONObject: fields).write(to: url, options: .atomic)
    }

    private func tamper(_ path: [String], _ text: String) throws {
        func set(_ fields: inout [String: Any], _ path: ArraySlice<String>) {
            guard let key = path.first else { return }
            guard path.count > 1 else { return fields[key] = text }
            var inner = fields[key] as? [String: Any] ?? [:]
            set(&inner, path.dropFirst())
            fields[key] = inner
        }
        try tamper { set(&$0, path[...]) }
    }

    private func verify() async throws -> Verification {
        try await f.library.verify(f.asset, allVersions: true, editors: .standard(), now: .now)
            .report
    }

    private func checkNothingHappened() throws {
        #expect(try String(contentsOfFile: secret.string, encoding: .utf8) == Self.secret)
        let original = try f.library.original(of: f.asset)
        #expect(try String(contentsOfFile: original.string, encoding: .utf8) == "original")
    }

    @Test(arguments: [
        (["content", "render", "name"], "../../../../../secret.key"),
        (["content", "render", "name"], "/etc/passwd"),
        (["content", "render", "name"], "base/IMG_0001.jpg"),
        (["content", "render", "name"], ".."),
        (["content", "render", "name"], ""),
        (["content", "render", "name"], "provenance.json"),
        (["content", "render", "name"], "a\u{0}b"),
        // To Swift one character that is no slash; to the file system a slash.
        (["content", "render", "name"], "../\u{301}x"),
        (["content", "adjustment", "sidecar"], "../../../../../secret.key"),
        (["content", "base", "name"], "base/../../../../../../secret.key"),
        (["content", "base", "name"], "IMG_0001.jpg"),
        (["content", "base", "name"], "previews/IMG_0001.jpg"),
        (["version"], "../../../../../../originals"),
        (["version"], "01-1"),
        (["parent"], "../1-1"),
        // A walk along parents would never come to an end.
        (["parent"], "1-1"),
        (["parent"], "7-1"),
        (["version"], "9223372036854775807-1"),
        (["draft"], "bin"),
    ])
    func `is refused wherever it is read, and nothing outside is read or removed`(
        path: [String], text: String
    ) async throws {
        try tamper(path, text)
        for read in [
            { _ = try await f.library.state(of: f.asset) },
            { _ = try await f.library.provenance(of: name, f.asset) },
            { _ = try await f.library.history(of: f.asset) },
        ] {
            let failure = await #expect(throws: Failure.self) { try await read() }
            #expect(failure?.code == .damagedVersion)
        }
        let report = try await verify()
        #expect(report.problems.map(\.subject).contains(.provenance))
        #expect(report.versions.isEmpty)
        try checkNothingHappened()
    }

    @Test func `whose preview is named like a folder above makes nobody reuse its render`()
        async throws
    {
        let ours = StagedVersion(queue: "photos", job: "other", fence: "9")
        let version = try f.library.folder(of: f.asset).provenance(in: folder)
        guard case .claimed(let first) = try await f.library.claim(key, of: f.asset, for: ours)
        else {
            Issue.record("somebody has the entry")
            return
        }
        try await first.offer(
            version, of: f.asset, in: StagedVersion(queue: "photos", job: "job", fence: "1"))
        try tamper { fields in
            var content = fields["content"] as? [String: Any] ?? [:]
            content["previews"] = [
                [
                    "longestSide": 64,
                    "image": [
                        "name": "../../../../originals", "mediaType": "image/jpeg", "bytes": 1,
                        "sha256": "00", "size": ["width": 1, "height": 1],
                    ],
                ]
            ]
            fields["content"] = content
        }
        _ = try f.library.staging.begin(ours)
        guard case .claimed(let entry) = try await f.library.claim(key, of: f.asset, for: ours)
        else {
            Issue.record("somebody has the entry")
            return
        }
        #expect(try await entry.reuse(as: "IMG_1", into: ours) == nil)
        #expect(try f.library.files.list(f.library.staging.folder(of: ours)).isEmpty)
        try checkNothingHappened()
    }

    @Test(arguments: [0, -1, VersionName.revisionMax, Int.max])
    func `that says what no revision can be was told is damaged`(_ told: Int) async throws {
        try tamper { $0["told"] = told }
        let failure = await #expect(throws: Failure.self) { try await f.library.state(of: f.asset) }
        #expect(failure?.code == .damagedVersion)
    }

    @Test func `is not written: a version with such a name cannot be sealed`() throws {
        let version = try f.library.folder(of: f.asset).provenance(in: folder)
        let content = try #require(version.content)
        let staged = StagedVersion(queue: "photos", job: "other", fence: "9")
        _ = try f.library.staging.begin(staged)
        let hostile = Content(
            source: content.source, base: nil, adjustment: content.adjustment, opened: nil,
            recipe: nil, editDigest: "00", rendering: nil,
            render: Content.Image(
                name: "../../../secret.key",
                MadeFile(
                    mediaType: "image/jpeg",
                    size: content.render.size, bytes: 1, sha256: "00")))
        let failure = #expect(throws: Failure.self) {
            try f.library.staging.seal(
                staged,
                Provenance(
                    version: VersionName(revision: 2, fence: "9"), parent: name, mode: .replace,
                    author: version.author, timeline: .start, content: hostile))
        }
        #expect(failure?.code == .damagedVersion)
        try checkNothingHappened()
    }

    @Test func `whose render is a link is neither followed by verify nor exported`() async throws {
        let render = folder.appending("IMG_0001.jpg")
        try f.library.files.remove(render)
        try f.library.files.point(render, to: secret.string)
        // Were the link followed, the digest would fit.
        let digest = try FileDigest.sha256(of: secret.string).hex
        try tamper(["content", "render", "sha256"], digest)
        let report = try await verify()
        #expect(report.problems.map(\.subject) == [.render])
        #expect(report.problems.first?.sentence.contains("symbolic link") == true)
        let version = try #require(try await f.library.state(of: f.asset).current)
        let photo = try await f.library.export(version, of: f.asset, as: nil)
        let target = FilePath(f.folder.path).appending("export")
        let failure = await #expect(throws: Failure.self) {
            try await Exporter(f.library, to: target).export([photo])
        }
        #expect(failure?.code == .damagedVersion)
        #expect(try f.library.files.list(target).isEmpty)
    }

    @Test func `whose base folder or sidecar is a link is not followed either`() async throws {
        let outside = f.library.root.appending("outside")
        try f.put("base", at: outside.appending("IMG_0001.jpg"))
        try f.put("stranger's", at: outside.appending("stranger.jpg"))
        try f.library.files.remove(folder.appending("base"))
        try f.library.files.point(folder.appending("base"), to: outside.string)
        let report = try await verify()
        #expect(report.problems.map(\.subject).contains(.base))
        // What lies behind the link is not even listed.
        #expect(!report.problems.contains { $0.path.contains("stranger") })

        let sidecar = folder.appending("IMG_0001.AAE")
        try f.library.files.remove(sidecar)
        try f.library.files.point(sidecar, to: secret.string)
        let version = try #require(try await f.library.state(of: f.asset).current)
        let failure = await #expect(throws: Failure.self) {
            try await f.library.sidecar(of: #require(version.content), in: version, f.asset)
        }
        #expect(failure?.code == .damagedVersion)
    }
}
