import Edits
import Editors
import Files
import FoundationEssentials
import MinilabTesting
import RenderProtocol
import SystemPackage
import Testing

@testable import Editing
@testable import Library
@testable import RenderPool

@Suite("The invariant: an asset shows what its edit makes of its input") struct AssetVerifierTests {
    private static let sepia = #"{"filters":[{"name":"CISepiaTone","inputIntensity":0.8}]}"#

    private func verify(
        _ bench: Workbench, _ asset: AssetPath, allVersions: Bool = false, renders: Bool = true,
        renditions: Int = 100
    ) async throws -> Verification {
        var settings = EditingSettings()
        settings.editors = bench.editors
        settings.resources = bench.resources
        let verifier = AssetVerifier(library: bench.library, pool: bench.pool, settings: settings)
        return try await verifier.verify(
            asset, allVersions: allVersions, scratch: renders ? bench.scratch : nil,
            renditions: renditions)
    }

    private func bench() throws -> (Workbench, AssetPath) {
        let bench = try Workbench()
        return (bench, try bench.put("a.png", SyntheticPhoto.png(width: 64, height: 48)))
    }

    @Test func `every version that edits of all kinds leave is rendered again to the same bytes`()
        async throws
    {
        let (bench, asset) = try bench()
        for edit in [
            Self.sepia, #"{"mode":"append","filters":[{"name":"CIGaussianBlur","radius":3}]}"#,
            #"{"mode":"amend","changes":[{"step":0,"set":{"inputIntensity":0.3}}]}"#,
            #"{"mode":"undo"}"#, #"{"mode":"render","output":{"format":"jpeg"}}"#,
            #"{"filters":[{"name":"auto"}],"output":{"previews":[32]}}"#,
            #"{"filters":[{"name":"CIGaussianBlur","radius":2}],"referenceSize":[32,24],"draft":true}"#,
        ] { _ = try await bench.edit(asset, edit) }
        let report = try await verify(bench, asset, allVersions: true)
        #expect(report.isSound && report.notes.isEmpty, "\(report)")
        #expect(report.versions.count == 7)
        // Undo shows what an edit made; it is rendered again once.
        #expect(report.rendersCompared == 6)
    }

    @Test func `a photo that tells its last change tells it again when it is rendered again`()
        async throws
    {
        let bench = try Workbench()
        let photo = Contract.folder.appending(path: "photos/live.jpg")
        let asset = try bench.put("live.jpg", Data(contentsOf: photo))
        let edit = try Edit(
            json:
                #"{"filters":[{"name":"CISepiaTone"}],"output":{"metadata":{"creator":["Anna"]}}}"#)
        _ = try #require(
            try await bench.run(edit, asset, bench.job("a", arrival: 1_700_000_000_000_000)))
        let metadata = try await bench.current(asset)?.content?.recipe?.output.metadata
        #expect(metadata?[.modified] != nil)
        let report = try await verify(bench, asset)
        #expect(report.isSound && report.rendersCompared == 1, "\(report)")
    }

    @Test func `an edit on what another editor made is rendered again from its base`() async throws
    {
        let (bench, asset) = try bench()
        _ = try await bench.edit(asset, Self.sepia)
        // An editor that reads nothing stacks.
        _ = try await bench.edit(
            asset, #"{"filters":[{"name":"CIColorInvert"}]}"#, editors: EditorRegistry([]))
        #expect(try await bench.current(asset)?.content?.base != nil)
        let report = try await verify(bench, asset)
        #expect(report.isSound && report.rendersCompared == 1, "\(report)")
    }

    @Test func `a record of other bytes than the edit makes breaks the invariant`() async throws {
        let (bench, asset) = try bench()
        _ = try await bench.edit(asset, Self.sepia)
        let current = try #require(try await bench.current(asset))
        let content = try #require(current.content)
        // Render and record agree with each other, not with the edit.
        let folder = bench.library.folder(of: asset).folder(of: current)
        let file = folder.appending(content.render.name)
        try SyntheticPhoto.png(width: 64, height: 48, seed: 9)
            .write(to: URL(filePath: file.string), options: .atomic)
        let found = try FileDigest.sha256(of: file.string)
        let forged = Provenance(
            version: try #require(VersionName(current.version)), parent: nil, mode: .replace,
            author: current.author, timeline: current.timeline,
            content: Content(
                source: content.source, base: nil, adjustment: content.adjustment, opened: nil,
                recipe: content.recipe, editDigest: content.editDigest,
                rendering: content.rendering,
                render: Content.Image(
                    name: content.render.name,
                    MadeFile(
                        mediaType: content.render.mediaType,
                        size: content.render.size, bytes: found.bytes, sha256: found.hex))))
        try Data(forged.encoded()).write(
            to: URL(filePath: folder.appending(Provenance.fileName).string), options: .atomic)
        #expect(try await verify(bench, asset, renders: false).isSound)
        let report = try await verify(bench, asset)
        #expect(report.problems.map(\.subject) == [.invariant])
        #expect(report.problems.first?.path == file.string)
    }

    @Test func `a render that came with an import is not compared, and that is no problem`()
        async throws
    {
        let (bench, asset) = try bench()
        try bench.put("E.png", SyntheticPhoto.png(width: 64, height: 48, seed: 5))
        let data = AdjustmentData(try Recipe(filters: [Filter("CISepiaTone")])).data
        _ = try await bench.edit(
            asset,
            #"{"mode":"import","render":"E.png","adjustmentData":{"formatIdentifier":"org.minilab.recipe","#
                + #""formatVersion":"1.0","data":"\#(data.base64EncodedString())"}}"#)
        let report = try await verify(bench, asset)
        #expect(report.isSound && report.rendersCompared == 0, "\(report)")
        #expect(report.notes.map(\.subject) == [.invariant])
    }

    @Test func `a sample of renditions is made again, and one that has other bytes is reported`()
        async throws
    {
        let (bench, asset) = try bench()
        let font = try bench.putResource(
            Data(contentsOf: URL(filePath: TestFont.latin.path)))
        _ = try await bench.edit(
            asset,
            #"{"filters":[{"name":"CISepiaTone"}],"renditions":{"web":{"box":[32,32]},"proof":{"box":[40,40],"format":"png","marks":[{"text":"{name}","fonts":["\#(font)"],"size":0.5}]}}}"#
        )
        let sound = try await verify(bench, asset)
        #expect(sound.isSound && sound.renditionsCompared == 2, "\(sound)")
        #expect(sound.renditionsSkipped == 0)
        #expect(try await verify(bench, asset, renditions: 0).renditionsCompared == 0)
        #expect(try await verify(bench, asset, renders: false).renditionsCompared == 0)
        // List and file agree with each other, not with the edit; and another engine has made the other one.
        let current = try #require(try await bench.current(asset))
        let name = try #require(VersionName(current.version))
        let folder = bench.library.folder(of: asset).sizes(of: name)
        let list = try await bench.library.sizes(of: name, asset)
        let web = try #require(list.renditions["web"])
        let forged = Data("other".utf8)
        try forged.write(to: URL(filePath: folder.appending(web.file).string))
        let path = URL(filePath: folder.appending(SizeList.fileName).string)
        var text = try String(contentsOf: path, encoding: .utf8)
        text = text.replacing(web.made.sha256, with: SHA256.hash(data: forged).hex)
        text = text.replacing(
            "\"bytes\" : \(web.made.bytes)", with: "\"bytes\" : \(forged.count)")
        try Data(text.utf8).write(to: path)
        let report = try await verify(bench, asset)
        #expect(report.problems.map(\.subject) == [.rendition], "\(report)")
        #expect(report.problems.first?.sentence.contains("remake") == true)
        #expect(report.renditionsCompared == 2)
        try Data(
            text.replacing("\"render\" : \(Engine.render)", with: "\"render\" : 99").utf8
        ).write(to: path)
        let skipped = try await verify(bench, asset)
        #expect(skipped.isSound && skipped.renditionsCompared == 0, "\(skipped)")
        #expect(skipped.renditionsSkipped == 2)
        #expect(skipped.notRenderedAgain.counts["\(Engine.name), render 99"]?.renditions == 2)
    }

    /// Writes the current version's provenance anew, with another origin of its render.
    private func rewrite(
        _ bench: Workbench, _ asset: AssetPath, _ change: (inout [String: JSONValue]) -> Void
    ) async throws {
        let current = try #require(try await bench.current(asset))
        let path = URL(
            filePath: bench.library.folder(of: asset).folder(of: current)
                .appending(Provenance.fileName).string)
        guard
            case .object(var fields) = try JSONDecoder().decode(
                JSONValue.self, from: Data(contentsOf: path)),
            case .object(var content)? = fields["content"],
            case .object(var rendering)? = content["rendering"]
        else {
            Issue.record("no rendering")
            return
        }
        change(&rendering)
        content["rendering"] = .object(rendering)
        (fields["content"], fields["digest"]) = (.object(content), nil)
        fields["digest"] = .string(JSONValue.object(fields).digest)
        try JSONEncoder().encode(JSONValue.object(fields)).write(to: path, options: .atomic)
    }

    private func flipByte(_ bench: Workbench, _ asset: AssetPath) async throws {
        let current = try #require(try await bench.current(asset))
        let name = try #require(current.content).render.name
        let file = URL(
            filePath: bench.library.folder(of: asset).folder(of: current).appending(name).string)
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: file, options: .atomic)
    }

    @Test(arguments: [nil, 0, Engine.render - 1, Engine.render + 1])
    func
        `a render of another number is counted and not made again, and a changed byte of it is a fault`(
            number: Int?
        ) async throws
    {
        let (bench, asset) = try bench()
        _ = try await bench.edit(asset, Self.sepia)
        try await rewrite(bench, asset) { rendering in
            // As a release with other pixels would have made it; 0.4.0 recorded neither.
            rendering["engine"] = .string("minilab/0.4.0")
            rendering["render"] = number.map { .number(Double($0)) }
            if number == nil { rendering["libraries"] = nil }
        }
        let report = try await verify(bench, asset)
        #expect(report.isSound && report.rendersCompared == 0, "\(report)")
        let origin = "minilab/0.4.0" + (number.map { ", render \($0)" } ?? "")
        #expect(report.notRenderedAgain.counts.mapValues(\.renders) == [origin: 1])
        try await flipByte(bench, asset)
        #expect(try await verify(bench, asset).problems.map(\.subject) == [.render])
        #expect(try await verify(bench, asset, renders: false).problems.map(\.subject) == [.render])
    }

    @Test func `a render by another version of a library is counted and not made again`()
        async throws
    {
        let bench = try Workbench()
        let photo = Contract.folder.appending(path: "photos/live.jpg")
        let asset = try bench.put("live.jpg", Data(contentsOf: photo))
        _ = try await bench.edit(asset, Self.sepia)
        let rendering = try #require(try await bench.current(asset)?.content?.rendering)
        #expect(rendering.render == Engine.render && rendering.engine == Engine.name)
        var libraries = try #require(rendering.libraries)
        let version = try #require(libraries["libjpeg-turbo"])
        #expect(try await verify(bench, asset).rendersCompared == 1)
        try await rewrite(bench, asset) {
            libraries["libjpeg-turbo"] = "1.0"
            $0["libraries"] = .object(libraries.mapValues(JSONValue.string))
        }
        let report = try await verify(bench, asset)
        #expect(report.isSound && report.rendersCompared == 0, "\(report)")
        let origin = "render \(Engine.render) with libjpeg-turbo 1.0 (here \(version))"
        #expect(report.notRenderedAgain.counts.mapValues(\.renders) == [origin: 1])
        try await flipByte(bench, asset)
        #expect(try await verify(bench, asset).problems.map(\.subject) == [.render])
    }

    @Test func `a text that is drawn names the libraries that draw it`() async throws {
        let (bench, asset) = try bench()
        let font = try bench.putResource(Data(contentsOf: URL(filePath: TestFont.latin.path)))
        _ = try await bench.edit(
            asset,
            #"{"filters":[{"name":"CISepiaTone"}],"renditions":{"web":{"box":[32,32]},"proof":{"box":[40,40],"format":"png","marks":[{"text":"{name}","fonts":["\#(font)"],"size":0.5}]}}}"#
        )
        let current = try #require(try await bench.current(asset))
        let list = try await bench.library.sizes(
            of: try #require(VersionName(current.version)), asset)
        let proof = try #require(list.renditions["proof"]?.origin.libraries)
        #expect(proof["FreeType"] != nil && proof["HarfBuzz"] != nil && proof["libdeflate"] != nil)
        let web = try #require(list.renditions["web"]?.origin.libraries)
        #expect(web["FreeType"] == nil && web["libjpeg-turbo"] != nil)
        #expect(try #require(current.content?.rendering?.libraries)["libjpeg-turbo"] == nil)
    }

    @Test func `which renditions are sampled follows from their digests alone`() async throws {
        let version = PlanFixture.version("1-1", nil)
        let sampled = try (0..<1000).count { number in
            let rendition = try Rendition(.object([:]), at: "r")
            let made = MadeFile(
                mediaType: "image/jpeg", size: PixelSize(width: 1, height: 1), bytes: 1,
                sha256: SHA256.hash(data: Data("\(number)".utf8)).hex)
            let record = StoredRendition(
                "web", rendition,
                key: RenditionKey(
                    photo: "aa", filters: try Recipe(filters: []), rendition: rendition,
                    render: 1, owner: .operator),
                made: made,
                RenditionResult(size: PixelSize(width: 1, height: 1), quality: nil),
                by: version.author, of: RenderOrigin(engine: Engine.name))
            let one = RecordedRendition(version: version, name: "web", record: record, path: "")
            #expect(one.isSampled(ofHundred: 100) && !one.isSampled(ofHundred: 0))
            return one.isSampled(ofHundred: AssetVerifier.renditionsOfHundred)
        }
        #expect((15...45).contains(sampled), "\(sampled)")
    }

    @Test func `what is damaged is not rendered from`() async throws {
        let (bench, asset) = try bench()
        _ = try await bench.edit(asset, Self.sepia)
        try bench.put("a.png", SyntheticPhoto.png(width: 64, height: 48, seed: 1))
        let report = try await verify(bench, asset)
        #expect(report.problems.map(\.subject) == [.original] && report.rendersCompared == 0)
    }
}
