import Edits
import Foundation
@testable import Library
import MinilabTesting
import RenderProtocol
import SystemPackage
import Testing

@testable import Editing
@testable import RenderPool

@Suite("Placeholders in metadata") struct MetadataFillingTests {
    private func tags(_ bench: Workbench, _ asset: AssetPath) async throws -> [String: Any] {
        let path = bench.folder.path + "/shown.jpg"
        try await bench.shown(asset).write(to: URL(filePath: path))
        let json = try Tool.run("exiftool", ["-j", "-n", "-G1", path])
        let list = try #require(JSONSerialization.jsonObject(with: json) as? [[String: Any]])
        return list[0]
    }

    private func tulips(_ bench: Workbench) throws -> AssetPath {
        try bench.put(
            "a.b.jpg",
            Data(contentsOf: Contract.folder.appending(path: "photos/tulips.jpg")))
    }

    @Test func `are filled in from photo, job and batch, and the recipe records what was written`()
        async throws
    {
        let bench = try Workbench()
        let asset = try tulips(bench)
        var edit = try Edit(
            json: #"""
                {"filters":[],"output":{"metadata":{"creator":["{field:who}"],"rights":"© {creator} {batch} {index:3}",
                "headline":"{title}","city":"{name}","title":"{caption}"}}}
                """#)
        edit.fields = try AssetFields(json: #"{"who":"José {1}"}"#)
        let job = bench.job("wedding:7", arrival: 1_800_000_000_000_000)
        let outcome = try #require(try await bench.run(edit, asset, job))
        guard case .made(let version, _) = outcome else {
            Issue.record("nothing was made")
            return
        }
        let shown = try await tags(bench, asset)
        #expect(shown["XMP-dc:Creator"] as? String == "José {1}")
        #expect(shown["IFD0:Artist"] as? String == "José {1}")
        #expect(shown["XMP-dc:Rights"] as? String == "© José {1} wedding 007")
        #expect(shown["XMP-photoshop:City"] as? String == "a.b")
        // The title is the caption, and the headline the title that is written.
        #expect(shown["XMP-dc:Title"] as? String == "Wedding tulips")
        #expect(shown["XMP-photoshop:Headline"] as? String == "Wedding tulips")
        let recorded = try #require(version.content?.recipe?.output.metadata)
        #expect(recorded.isFilled && recorded[.rights]?.literal == "© José {1} wedding 007")

        // What is rendered again has the same bytes.
        let first = try await bench.shown(asset)
        _ = try await bench.run(
            try Edit(json: #"{"mode":"append","filters":[]}"#), asset, bench.job())
        #expect(try await bench.shown(asset) == first)
        await bench.pool.close()
    }

    @Test func `are not copied with an edit: what was written is about the other photo`()
        async throws
    {
        let bench = try Workbench()
        let (one, other) = (
            try tulips(bench),
            try bench.put(
                "c.jpg", Data(contentsOf: Contract.folder.appending(path: "photos/dandelion.jpg")))
        )
        var edit = try Edit(
            json:
                #"{"filters":[{"name":"CISepiaTone"}],"output":{"strip":"gps","metadata":{"creator":["{field:who}"],"title":"{name}"}}}"#
        )
        edit.fields = try AssetFields(json: #"{"who":"Ada"}"#)
        _ = try #require(try await bench.run(edit, one, bench.job()))
        #expect(try await tags(bench, one)["XMP-dc:Creator"] as? String == "Ada")
        _ = try await bench.edit(other, #"{"mode":"copyEdit","from":"a.b.jpg"}"#)
        let recipe = try #require(try await bench.current(other)?.content?.recipe)
        #expect(recipe.filters.count == 1 && recipe.output.strip == .gps)
        #expect(recipe.output.metadata == nil)
        #expect(try await tags(bench, other)["XMP-dc:Creator"] == nil)
        await bench.pool.close()
    }

    @Test(arguments: [#""2001-01-01T00:00:00Z""#, "null"])
    func `cannot be the time of the last change, which is the edit's arrival`(
        _ modified: String
    ) async throws {
        let bench = try Workbench()
        let asset = try bench.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        let edit = try Edit(
            json:
                #"{"filters":[{"name":"CISepiaTone"}],"output":{"metadata":{"modified":\#(modified)}}}"#
        )
        _ = try #require(
            try await bench.run(edit, asset, bench.job("a", arrival: 1_700_000_000_000_000)))
        #expect(try await bench.current(asset)?.content?.recipe?.output.metadata == nil)
        await bench.pool.close()
    }

    @Test func `of a render that is sent again change nothing`() async throws {
        let bench = try Workbench()
        let asset = try tulips(bench)
        _ = try await bench.edit(asset, #"{"filters":[{"name":"CISepiaTone"}]}"#)
        var edit = try Edit(
            json:
                #"{"mode":"render","output":{"metadata":{"creator":["{field:who}"],"title":"{name}"}}}"#
        )
        edit.fields = try AssetFields(json: #"{"who":"Ada"}"#)
        _ = try #require(try await bench.run(edit, asset, bench.job()))
        let version = try await bench.current(asset)?.version
        for fields in [#"{"who":"Ada"}"#, #"{"who":"Bob"}"#] {
            edit.fields = try AssetFields(json: fields)
            _ = try #require(try await bench.run(edit, asset, bench.job()))
            let isSame = try await bench.current(asset)?.version == version
            #expect(isSame == fields.contains("Ada"))
        }
        await bench.pool.close()
    }

    @Test func `without a value fail the job by the field and the placeholder`() async throws {
        let bench = try Workbench()
        let asset = try tulips(bench)
        let failure = await #expect(throws: Failure.self) {
            try await bench.edit(
                asset, #"{"filters":[],"output":{"metadata":{"rights":"© {field:who}"}}}"#)
        }
        #expect(failure?.code == .missingValue && failure?.code.isPermanent == true)
        #expect(
            failure?.message.hasPrefix("edit.output.metadata.rights has {field:who}") == true)
        #expect(try await bench.current(asset) == nil)
        await bench.pool.close()
    }

    @Test func `a photo that tells its last change tells the edit's arrival`() async throws {
        let bench = try Workbench()
        let asset = try tulips(bench)
        let dated = bench.folder.path + "/dated.jpg"
        try Data(contentsOf: URL(filePath: bench.library.original(of: asset).string))
            .write(to: URL(filePath: dated))
        _ = try Tool.run(
            "exiftool",
            ["-q", "-overwrite_original", "-XMP-xmp:ModifyDate=2020:01:01 00:00:00", dated])
        let other = try bench.put("dated.jpg", Data(contentsOf: URL(filePath: dated)))
        for asset in [asset, other] {
            let edit = try Edit(json: #"{"filters":[],"output":{"metadata":{"rating":5}}}"#)
            _ = try await bench.run(
                edit, asset, bench.job(arrival: 1_800_000_000_000_000))
        }
        #expect(
            try await tags(bench, other)["XMP-xmp:ModifyDate"] as? String == "2027:01:15 08:00:00Z")
        #expect(try await tags(bench, asset)["XMP-xmp:ModifyDate"] == nil)
        await bench.pool.close()
    }
}
