import Edits
import Editors
import Files
import FoundationEssentials
import MinilabTesting
import SystemPackage
import Testing

@testable import Editing
@testable import Library
@testable import RenderPool

@Suite("The invariant: an asset shows what its edit makes of its input") struct AssetVerifierTests {
    private static let sepia = #"{"filters":[{"name":"CISepiaTone","inputIntensity":0.8}]}"#

    private func verify(
        _ bench: Workbench, _ asset: AssetPath, allVersions: Bool = false, renders: Bool = true
    ) async throws -> Verification {
        var settings = EditingSettings()
        settings.editors = bench.editors
        let verifier = AssetVerifier(library: bench.library, pool: bench.pool, settings: settings)
        return try await verifier.verify(
            asset, allVersions: allVersions, scratch: renders ? bench.scratch : nil)
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

    @Test func `what is damaged is not rendered from`() async throws {
        let (bench, asset) = try bench()
        _ = try await bench.edit(asset, Self.sepia)
        try bench.put("a.png", SyntheticPhoto.png(width: 64, height: 48, seed: 1))
        let report = try await verify(bench, asset)
        #expect(report.problems.map(\.subject) == [.original] && report.rendersCompared == 0)
    }
}
