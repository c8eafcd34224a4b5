import Edits
import Files
import Foundation
import MinilabTesting
import RenderProtocol
import SystemPackage
import Testing

@testable import Editing
@testable import Library
@testable import RenderPool

@Suite("Renditions of a version") struct RenditionTests {
    private static let sepia = #""filters":[{"name":"CISepiaTone","intensity":0.8}]"#
    private static let asked =
        #""renditions":{"square":{"box":[64,64],"fit":"cover"},"web":{"box":[200,200],"format":"webp","quality":0.7}}"#

    private func photo(_ bench: Workbench, _ name: String = "a.jpg") throws -> AssetPath {
        try bench.put(
            name, Data(contentsOf: Contract.folder.appending(path: "photos/waterfall.jpg")))
    }

    /// The renditions of a version, each compared with its file: sizes and SHA-256.
    private func found(
        _ bench: Workbench, _ asset: AssetPath, _ version: Provenance? = nil
    ) async throws -> [String: StoredRendition] {
        var shown = version
        if shown == nil { shown = try await bench.current(asset) }
        let there = try #require(shown)
        let name = try #require(VersionName(there.version))
        let list = try await bench.library.sizes(of: name, asset)
        for (_, rendition) in list.renditions {
            let file = try await bench.library.open(
                .rendition(asset, version: name, file: rendition.file))
            #expect(try FileDigest.hex(of: file) == rendition.made.sha256)
            #expect(try file.length() == rendition.made.bytes)
        }
        return list.renditions
    }

    private func digests(_ renditions: [String: StoredRendition]) -> [String: String] {
        renditions.mapValues { $0.made.sha256 }
    }

    @Test func `are forecast with the render, and alone where the render is there`() async throws {
        let bench = try Workbench()
        let asset = try photo(bench)
        _ = try bench.putResource(SyntheticPhoto.png(width: 20, height: 10))
        var settings = bench.settings
        settings.resources = bench.resources
        let forecaster = EditForecaster(
            library: bench.library, pool: bench.pool, settings: settings)
        func bytes(_ json: String) async throws -> Int? {
            guard
                case .render(let inspection) = try await forecaster.forecast(
                    Edit(json: json), of: asset)
            else { return nil }
            return inspection.memoryBytes
        }
        let plain = try #require(try await bytes("{\(Self.sepia)}"))
        let whole = try #require(try await bytes("{\(Self.sepia),\(Self.asked)}"))
        #expect(whole > plain)
        _ = try await bench.edit(asset, "{\(Self.sepia)}")
        #expect(try await bytes("{\(Self.sepia)}") == nil)
        #expect(try await bytes("{\(Self.sepia),\(Self.asked)}") != nil)
        #expect(try await bytes(#"{"mode":"renditions",\#(Self.asked)}"#) != nil)
        let absent = "sha256:" + String(repeating: "0", count: 64)
        let font = try bench.putResource(Data(contentsOf: URL(filePath: TestFont.latin.path)))
        for (mark, code) in [
            (#""image":"\#(absent)","width":0.1"#, FailureCode.missingResource),
            (#""text":"a","fonts":["\#(absent)"],"size":0.1"#, .missingResource),
            (#""text":"中","fonts":["\#(font)"],"size":0.1"#, .missingGlyph),
            (#""text":"{field:who}","fonts":["\#(font)"],"size":0.1"#, .missingValue),
        ] {
            let failure = await #expect(throws: Failure.self) {
                try await bytes(
                    #"{"mode":"renditions","renditions":{"a":{"marks":[{\#(mark)}]}}}"#)
            }
            #expect(failure?.code == code, "\(failure?.message ?? mark)")
        }
        await bench.pool.close()
    }

    /// Bytes that the photo says of a person, a camera and a place.
    private static let said = ["Secret", "SECRET1"]

    @Test(arguments: [
        (#""output":{"strip":"all"}"#, "", false), (#""output":{"strip":"gps"}"#, "", true),
        (#""output":{"strip":"all"}"#, #","strip":"none""#, true), ("", "", true),
        ("", #","strip":"all""#, false),
    ])
    func `lose the metadata that their render loses, now and later`(
        output: String, own: String, keeps: Bool
    ) async throws {
        let bench = try Workbench()
        let asset = try bench.put(
            "a.jpg", Data(contentsOf: Repository.fixture("Cases/full.jpg")))
        func rendition(_ name: String) -> String {
            #""renditions":{"\#(name)":{"box":[64,64]\#(own)},"\#(name)-w":{"box":[64,64],"format":"webp"\#(own)}}"#
        }
        let with = output.isEmpty ? "" : "," + output
        _ = try await bench.edit(asset, #"{"filters":[]\#(with),\#(rendition("now"))}"#)
        _ = try await bench.edit(asset, #"{"mode":"renditions",\#(rendition("later"))}"#)
        let version = try #require(VersionName(try await bench.current(asset)?.version ?? ""))
        let made = try await found(bench, asset)
        #expect(made.count == 4)
        for (name, rendition) in made {
            let file = try await bench.library.open(
                .rendition(asset, version: version, file: rendition.file))
            let bytes = Data(file.bytes(from: 0, count: try file.length()))
            let isSaid = Self.said.contains { bytes.range(of: Data($0.utf8)) != nil }
            #expect(isSaid == keeps, "\(name)")
            if output.contains("gps") {
                let path = bench.library.root.string + "/\(name)"
                try bytes.write(to: URL(filePath: path))
                let places = try Tool.run("exiftool", ["-s", "-GPS*", path])
                #expect(places.isEmpty, "\(name)")
            }
        }
        // The same ones again cost nothing.
        _ = try await bench.edit(asset, #"{"mode":"renditions",\#(rendition("later"))}"#)
        let again = try await found(bench, asset)
        #expect(digests(made) == digests(again))
        await bench.pool.close()
    }

    @Test func `have a text whose stroke vanishes when it is reduced to fit`() async throws {
        let bench = try Workbench()
        let font = try bench.putResource(Data(contentsOf: URL(filePath: TestFont.latin.path)))
        let asset = try photo(bench)
        let text = String(repeating: "x", count: 200)
        _ = try await bench.edit(
            asset,
            """
            {"filters":[],"renditions":{"web":{"box":[50,50],"marks":[
              {"text":"\(text)","fonts":["\(font)"],"unit":"px","size":100,"stroke":{"width":0.2}}]}}}
            """)
        #expect(try await found(bench, asset).keys.sorted() == ["web"])
        await bench.pool.close()
    }

    @Test func `are made anew if the list of the asset whose render is reused cannot be read`()
        async throws
    {
        let bench = try Workbench()
        let edit = "{\(Self.sepia),\(Self.asked)}"
        let (one, other) = (try photo(bench), try photo(bench, "b.jpg"))
        _ = try await bench.edit(one, edit)
        let version = try #require(try await bench.current(one)?.version)
        let list = bench.library.root.string + "/edits/a.jpg/sizes/\(version)/list.json"
        try Data(#"{"formatVersion":99,"renditions":{}}"#.utf8).write(to: URL(filePath: list))
        _ = try await bench.edit(other, edit)
        #expect(try await found(bench, other).keys.sorted() == ["square", "web"])
        await bench.pool.close()
    }

    @Test func `have pictures and texts over them, filled in for each photo`() async throws {
        let bench = try Workbench()
        let font = try bench.putResource(
            Data(contentsOf: URL(filePath: TestFont.latin.path)))
        let logo = try bench.putResource(SyntheticPhoto.png(width: 20, height: 10))
        let (one, other) = (try photo(bench), try photo(bench, "b.jpg"))
        func edit(_ text: String) -> String {
            """
            {"filters":[],"renditions":{"bare":{"box":[200,200],"format":"png"},"proof":{"box":[200,200],"format":"png","marks":[
              {"text":"\(text)","fonts":["\(font)"],"size":0.2,"at":"southeast","margin":0.02},
              {"image":"\(logo)","width":0.2,"at":"northwest"}]}}}
            """
        }
        _ = try await bench.edit(one, edit("{name} {rendition}"))
        _ = try await bench.edit(other, edit("{name} {rendition}"))
        let (first, second) = (try await found(bench, one), try await found(bench, other))
        #expect(first["bare"]?.made.sha256 == second["bare"]?.made.sha256)
        #expect(first["proof"]?.made.sha256 != first["bare"]?.made.sha256)
        // The names of the photos differ.
        #expect(first["proof"]?.made.sha256 != second["proof"]?.made.sha256)
        #expect(first["proof"]?.key != second["proof"]?.key)
        let third = try photo(bench, "sub-a.jpg")
        _ = try await bench.edit(third, edit("a proof"))
        #expect(try await found(bench, third)["proof"]?.made.sha256 == first["proof"]?.made.sha256)
        await bench.pool.close()
    }

    @Test(arguments: [
        ("中", #""missing":"fail""#, FailureCode.missingGlyph, "U+4E2D"),
        ("{creator}", #""missing":"skip""#, .missingValue, "{creator}"),
        ("FONT", #""missing":"skip""#, .missingResource, "sha256:"),
        ("BAD", #""missing":"skip""#, .badResource, "sha256:"),
    ])
    func `fail with their text, and make nothing`(
        _ text: String, _ rule: String, _ code: FailureCode, _ part: String
    ) async throws {
        let bench = try Workbench()
        var font = try bench.putResource(Data(contentsOf: URL(filePath: TestFont.latin.path)))
        if text == "FONT" { font = "sha256:" + String(repeating: "0", count: 64) }
        if text == "BAD" { font = try bench.putResource(Data("%!PS-AdobeFont-1.0".utf8)) }
        let asset = try photo(bench)
        let failure = await #expect(throws: Failure.self) {
            _ = try await bench.edit(
                asset,
                """
                {"filters":[],"renditions":{"web":{"box":[200,200],"marks":[
                  {"text":"\(text)","fonts":["\(font)"],"size":0.2,\(rule)}]}}}
                """)
        }
        #expect(failure?.code == code)
        #expect(failure?.message.contains(part) == true, "\(failure?.message ?? "")")
        #expect(
            failure?.message.hasPrefix("edit.renditions.web.marks[0]") == true,
            "\(failure?.message ?? "")")
        #expect(try await bench.current(asset) == nil)
        await bench.pool.close()
    }

    @Test(arguments: [
        ("中", "", FailureCode.missingGlyph, "edit.renditions.proof.marks[0]"),
        ("{creator}", "", .missingValue, "edit.renditions.proof.marks[0].text"),
        (
            "a", #","metadata":{"creator":["{field:name}"]}"#, .missingValue,
            "edit.renditions.proof.metadata"
        ),
    ])
    func `that are not required and have no text are missed, and the others made`(
        _ text: String, _ more: String, _ code: FailureCode, _ part: String
    ) async throws {
        let bench = try Workbench()
        let font = try bench.putResource(
            Data(contentsOf: URL(filePath: TestFont.latin.path)))
        func renditions(_ isRequired: Bool) -> String {
            """
            "renditions":{"label":{"box":[150,150],"marks":[{"text":"ok","fonts":["\(font)"],"size":0.2}]},
              "proof":{"box":[200,200],"required":\(isRequired),
                "marks":[{"text":"\(text)","fonts":["\(font)"],"size":0.2}]\(more)},
              "web":{"box":[100,100]}}
            """
        }
        // With the render and previews, whose places follow the renditions'.
        let asset = try photo(bench)
        guard
            case .made(let version, let made) = try await bench.edit(
                asset,
                #"{"filters":[{"name":"CISepiaTone"}],"output":{"previews":[64]},\#(renditions(false))}"#
            )
        else { throw Failure(.internalError, "nothing was made") }
        #expect(made.failures.mapValues(\.code) == ["proof": code])
        #expect(
            made.failures["proof"]?.message.contains(part) == true,
            "\(made.failures["proof"]?.message ?? "")")
        let there = try await found(bench, asset)
        #expect(there.mapValues(\.made.size.width) == ["label": 150, "web": 100])
        #expect(version.content?.previews.map(\.longestSide) == [64])

        // The other ways: the render is reused, the version is there, another editor's render, all are missed.
        let other = try photo(bench, "b.jpg")
        guard
            case .made(_, let reused) = try await bench.edit(
                other,
                #"{"filters":[{"name":"CISepiaTone"}],"output":{"previews":[64]},\#(renditions(false))}"#
            )
        else { throw Failure(.internalError, "nothing was made") }
        #expect(reused.failures.mapValues(\.code) == ["proof": code])
        #expect(Set(reused.list.renditions.keys) == ["label", "web"])
        guard
            case .rendered(_, let later, _) = try await bench.edit(
                asset, #"{"mode":"renditions",\#(renditions(false))}"#)
        else { throw Failure(.internalError, "nothing was made") }
        #expect(later.failures.mapValues(\.code) == ["proof": code])
        let failure = await #expect(throws: Failure.self) {
            try await bench.edit(asset, #"{"mode":"renditions",\#(renditions(true))}"#)
        }
        #expect(failure?.code == code)
        await bench.pool.close()
    }

    @Test func `that alone are asked for, and missed, are an outcome and no failure`() async throws
    {
        let bench = try Workbench()
        let font = try bench.putResource(
            Data(contentsOf: URL(filePath: TestFont.latin.path)))
        let asset = try photo(bench)
        for text in ["中", "{creator}"] {
            let one =
                #""renditions":{"proof":{"required":false,"box":[200,200],"marks":[{"text":"\#(text)","fonts":["\#(font)"],"size":0.2}]}}"#
            switch try await bench.edit(asset, #"{"filters":[{"name":"CISepiaTone"}],\#(one)}"#) {
            case .made(_, let made), .rendered(_, let made, _):
                #expect(Set(made.failures.keys) == ["proof"] && made.list.renditions.isEmpty)
            case let outcome: Issue.record("\(outcome)")
            }
            guard
                case .rendered(_, let later, _) = try await bench.edit(
                    asset, #"{"mode":"renditions",\#(one)}"#)
            else { throw Failure(.internalError, "nothing was made") }
            #expect(Set(later.failures.keys) == ["proof"])
        }
        await bench.pool.close()
    }

    @Test(arguments: [
        ("MISSING", FailureCode.missingResource, "edit.renditions.web.marks[1].image"),
        ("TEXT", .badResource, "edit.renditions.web.marks[1].image"),
        ("TILE", .invalidValue, "edit.renditions.web.marks[1].tile.step"),
    ])
    func `fail with the path of their picture`(
        _ picture: String, _ code: FailureCode, _ path: String
    ) async throws {
        let bench = try Workbench()
        let logo = try bench.putResource(SyntheticPhoto.png(width: 20, height: 10))
        let digest =
            switch picture {
            case "MISSING": "sha256:" + String(repeating: "0", count: 64)
            case "TEXT": try bench.putResource(Data("a logo".utf8))
            default: logo
            }
        let tile = picture == "TILE" ? #","tile":{"step":[0.01,0.01]}"# : ""
        let asset = try photo(bench)
        let failure = await #expect(throws: Failure.self) {
            try await bench.edit(
                asset,
                """
                {"filters":[],"renditions":{"web":{"box":[200,200],"marks":[{"image":"\(logo)","width":0.1},
                  {"image":"\(digest)","width":0.1\(tile)}]}}}
                """)
        }
        #expect(failure?.code == code)
        #expect(failure?.message.hasPrefix(path) == true, "\(failure?.message ?? "")")
        await bench.pool.close()
    }

    @Test func `are made beside the render, of the sizes that follow from the box`() async throws {
        let bench = try Workbench()
        let asset = try photo(bench)
        guard
            case .made(let version, let made) = try await bench.edit(
                asset, "{\(Self.sepia),\(Self.asked)}")
        else { throw Failure(.internalError, "nothing was made") }
        let renditions = try await found(bench, asset)
        #expect(made.list.renditions == renditions && made.failures.isEmpty)
        #expect(renditions["square"]?.made.size == PixelSize(width: 64, height: 64))
        #expect(renditions["web"]?.made.size == PixelSize(width: 200, height: 133))
        #expect(renditions["web"]?.made.mediaType == "image/webp")
        #expect(renditions["web"]?.quality == 0.7)
        #expect(version.content?.render.size == PixelSize(width: 1800, height: 1200))
        let stable = bench.library.folder(of: asset).path.appending("current/sizes/web.webp")
        #expect(
            try FileDigest.sha256(of: stable.string).hex == renditions["web"]?.made.sha256)
        await bench.pool.close()
    }

    @Test func `have the same bytes whether they are made with the render, later, or again`()
        async throws
    {
        let bench = try Workbench()
        let (one, other) = (try photo(bench), try photo(bench, "b.jpg"))
        _ = try await bench.edit(one, "{\(Self.sepia),\(Self.asked)}")
        let first = digests(try await found(bench, one))
        _ = try await bench.edit(other, "{\(Self.sepia)}")
        #expect(try await found(bench, other).isEmpty)
        let later = #"{"mode":"renditions",\#(Self.asked)}"#
        guard case .rendered(let version, let made, nil) = try await bench.edit(other, later) else {
            throw Failure(.internalError, "no renditions were made")
        }
        #expect(try await bench.current(other) == version)
        #expect(version.revision == 1 && made.use.wallMilliseconds > 0)
        #expect(digests(try await found(bench, other)) == first)
        // The same ones are there.
        guard case .rendered(_, let again, nil) = try await bench.edit(other, later) else {
            throw Failure(.internalError, "they are not found")
        }
        #expect(again.use == RenderUse() && digests(again.list.renditions) == first)
        let folder = bench.library.folder(of: other).path.appending("sizes").string
        try FileManager.default.removeItem(atPath: folder)
        _ = try await bench.edit(other, later)
        #expect(digests(try await found(bench, other)) == first)
        await bench.pool.close()
    }

    @Test func `that an edit lacks are made by the same edit sent again, and once`() async throws {
        let bench = try Workbench()
        let asset = try photo(bench)
        _ = try await bench.edit(asset, "{\(Self.sepia)}")
        let edit = "{\(Self.sepia),\(Self.asked)}"
        guard case .rendered(_, let made, let reason?) = try await bench.edit(asset, edit) else {
            throw Failure(.internalError, "the edit did not make renditions")
        }
        #expect(Set(made.list.renditions.keys) == ["square", "web"])
        #expect(reason == EditPlan.alreadyThere)
        guard case .unchanged = try await bench.edit(asset, edit) else {
            throw Failure(.internalError, "the same renditions were made twice")
        }
        #expect(try await bench.current(asset)?.revision == 1)
        await bench.pool.close()
    }

    @Test func `of a photo that nobody edited make its first version`() async throws {
        let bench = try Workbench()
        let asset = try photo(bench)
        let missing = await #expect(throws: Failure.self) {
            try await bench.edit(asset, #"{"mode":"renditions",\#(Self.asked)}"#)
        }
        #expect(missing?.code == .missingVersion)
        guard case .made = try await bench.edit(asset, #"{"filters":[],\#(Self.asked)}"#) else {
            throw Failure(.internalError, "no version was made")
        }
        #expect(try await found(bench, asset).count == 2)
        await bench.pool.close()
    }

    @Test func `are shown again by undo, and by publishing the draft that has them`() async throws {
        let bench = try Workbench()
        let asset = try photo(bench)
        _ = try await bench.edit(asset, "{\(Self.sepia),\(Self.asked)}")
        let first = digests(try await found(bench, asset))
        _ = try await bench.edit(asset, #"{"mode":"append","filters":[{"name":"CIColorInvert"}]}"#)
        #expect(try await found(bench, asset).isEmpty)
        guard case .made(_, let made) = try await bench.edit(asset, #"{"mode":"undo"}"#) else {
            throw Failure(.internalError, "nothing was undone")
        }
        #expect(digests(made.list.renditions) == first)
        #expect(digests(try await found(bench, asset)) == first)
        _ = try await bench.edit(
            asset,
            #"{"mode":"append","draft":true,"filters":[{"name":"CIColorInvert"}],\#(Self.asked)}"#)
        let draft = try #require(try await bench.library.state(of: asset).draft)
        let drafted = digests(try await found(bench, asset, draft))
        #expect(drafted.count == 2 && drafted != first)
        let more =
            #"{"mode":"renditions","version":"\#(draft.version)","renditions":{"s":{"box":[9,9]}}}"#
        guard case .rendered(draft, _, nil) = try await bench.edit(asset, more) else {
            throw Failure(.internalError, "the draft got none")
        }
        _ = try await bench.edit(asset, #"{"mode":"publish"}"#)
        let published = digests(try await found(bench, asset))
        #expect(published.count == 3 && published["web"] == drafted["web"])
        await bench.pool.close()
    }

    @Test func `that retention has removed are named by undo, and made again on demand`()
        async throws
    {
        let bench = try Workbench()
        let font = try bench.putResource(
            Data(contentsOf: URL(filePath: TestFont.latin.path)))
        let asset = try photo(bench)
        let mark = #"{"text":"{name} {{x","fonts":["\#(font)"],"size":0.2,"missing":"skip"}"#
        _ = try await bench.edit(
            asset,
            #"{\#(Self.sepia),"renditions":{"square":{"box":[64,64],"fit":"cover"},"proof":{"box":[200,200],"format":"webp","marks":[\#(mark)]}}}"#
        )
        let one = try #require(try await bench.current(asset))
        let first = try await found(bench, asset)
        let invert = #"{"mode":"append","filters":[{"name":"CIColorInvert"}]}"#
        _ = try await bench.edit(asset, invert)
        let collected = try await bench.library.collect(
            asset, keeping: Retention(versions: 9, age: nil, renditions: .current),
            now: .now.addingTimeInterval(3 * 86_400))
        #expect(collected.renditions == [one.version])
        guard case .made(let undone, let without) = try await bench.edit(asset, #"{"mode":"undo"}"#)
        else { throw Failure(.internalError, "nothing was undone") }
        #expect(without.list.renditions.isEmpty && without.use == RenderUse())
        #expect(without.list.gone.mapValues(\.key) == first.mapValues(\.key))
        // Of the version that was removed from, of the one that shows it again, and by a redo.
        func check(_ made: [String: StoredRendition]) {
            #expect(digests(made) == digests(first))
            #expect(made.mapValues(\.key) == first.mapValues(\.key))
            #expect(made.mapValues(\.spec) == first.mapValues(\.spec))
        }
        _ = try await bench.edit(asset, #"{"mode":"redo"}"#)
        guard
            case .made(let again, let made) = try await bench.edit(
                asset, #"{"mode":"undo","remake":true}"#)
        else { throw Failure(.internalError, "nothing was undone") }
        #expect(made.list.gone.isEmpty && made.use.wallMilliseconds > 0)
        check(try await found(bench, asset, again))
        guard
            case .rendered(_, _, nil) = try await bench.edit(
                asset, #"{"mode":"renditions","remake":true,"version":"\#(one.version)"}"#),
            case .rendered(_, let last, nil) = try await bench.edit(
                asset,
                #"{"mode":"renditions","remake":true,"renditions":{"s":{"box":[9,9]}},"version":"\#(undone.version)"}"#
            )
        else { throw Failure(.internalError, "no renditions were made") }
        check(try await found(bench, asset, one))
        // Nothing is gone now; a job that is run again tells what it has made.
        let remake = try Edit(
            json: #"{"mode":"renditions","remake":true,"version":"\#(one.version)"}"#)
        guard case .unchanged? = try await bench.run(remake, asset, bench.job("other")) else {
            throw Failure(.internalError, "renditions were made twice")
        }
        let folder = bench.library.folder(of: asset).path.appending("sizes/\(one.version)")
        try FileManager.default.removeItem(atPath: folder.appending("square.jpg").string)
        for _ in 0..<2 {
            guard
                case .rendered(_, let told, nil)? = try await bench.run(
                    remake, asset, bench.job("remake"))
            else { throw Failure(.internalError, "no renditions were told") }
            #expect(told.list.names == ["square"])
        }
        check(try await found(bench, asset, one))
        #expect(last.list.names == ["proof", "s", "square"])
        check(try await found(bench, asset, undone).filter { $0.key != "s" })
        await bench.pool.close()
    }

    @Test func `that are gone and cannot be made again fail the undo, which changes nothing`()
        async throws
    {
        let bench = try Workbench()
        let logo = try bench.putResource(SyntheticPhoto.png(width: 20, height: 10))
        let asset = try photo(bench)
        _ = try await bench.edit(
            asset,
            #"{"filters":[],"renditions":{"web":{"box":[200,200],"marks":[{"image":"\#(logo)","width":0.2}]}}}"#
        )
        let folder = bench.library.folder(of: asset).path
        _ = try await bench.edit(asset, "{\(Self.sepia)}")
        let current = try await bench.current(asset)
        let file = try #require(
            FileManager.default.enumerator(atPath: folder.appending("sizes").string)?
                .compactMap { $0 as? String }.first { $0.hasSuffix("web.jpg") })
        try FileManager.default.removeItem(
            atPath: folder.appending("sizes").pushing(FilePath(file)).string)
        try FileManager.default.removeItem(atPath: bench.resources)
        let failure = await #expect(throws: Failure.self) {
            try await bench.edit(asset, #"{"mode":"undo","remake":true}"#)
        }
        #expect(failure?.code == .missingResource)
        #expect(try await bench.current(asset) == current)
        guard case .made(_, let made) = try await bench.edit(asset, #"{"mode":"undo"}"#) else {
            throw Failure(.internalError, "nothing was undone")
        }
        #expect(Array(made.list.gone.keys) == ["web"])
        await bench.pool.close()
    }

    @Test func `of a render that is reused tell what they took`() async throws {
        let bench = try Workbench()
        let (one, other) = (try photo(bench), try photo(bench, "b.jpg"))
        _ = try await bench.edit(one, "{\(Self.sepia)}")
        guard
            case .made(let version, let made) = try await bench.edit(
                other, "{\(Self.sepia),\(Self.asked)}")
        else { throw Failure(.internalError, "nothing was made") }
        #expect(version.content?.reusedFrom?.hasPrefix("a.jpg@") == true)
        #expect(made.use.wallMilliseconds > 0 && made.use.peakMemoryBytes > 0)
        await bench.pool.close()
    }

    @Test func `that a later job has replaced are told as overtaken`() async throws {
        let bench = try Workbench()
        let asset = try photo(bench)
        _ = try await bench.edit(asset, "{\(Self.sepia)}")
        func edit(_ side: Int) throws -> Edit {
            try Edit(
                json: #"{"mode":"renditions","renditions":{"web":{"box":[\#(side),\#(side)]}}}"#)
        }
        _ = try await bench.run(edit(90), asset, bench.job("late", arrival: 9))
        guard
            case .rendered(_, let made, nil)? = try await bench.run(
                edit(50), asset, bench.job("early", arrival: 5))
        else { throw Failure(.internalError, "nothing was made") }
        #expect(made.list.renditions.isEmpty)
        let failure = try #require(made.failures["web"])
        #expect(failure.code == .overtaken && failure.message.contains("late"), "\(failure)")
        #expect(try await found(bench, asset)["web"]?.made.size.width == 90)
        await bench.pool.close()
    }

    @Test func `of an import with a render are made of that render, now and later`() async throws {
        let bench = try Workbench()
        let asset = try photo(bench)
        try bench.put(
            "theirs.jpg", Data(contentsOf: Contract.folder.appending(path: "photos/tulips.jpg")))
        let data =
            #""adjustmentData":{"formatIdentifier":"com.example","formatVersion":"1","data":"eA=="},"render":"theirs.jpg""#
        _ = try await bench.edit(asset, #"{"mode":"import",\#(data),\#(Self.asked)}"#)
        let first = digests(try await found(bench, asset))
        #expect(first.count == 2)
        let folder = bench.library.folder(of: asset).path.appending("sizes").string
        try FileManager.default.removeItem(atPath: folder)
        _ = try await bench.edit(asset, #"{"mode":"renditions",\#(Self.asked)}"#)
        #expect(digests(try await found(bench, asset)) == first)
        await bench.pool.close()
    }

    @Test func `are linked from the version whose render is reused`() async throws {
        let bench = try Workbench()
        let (one, other) = (try photo(bench), try photo(bench, "b.jpg"))
        _ = try await bench.edit(one, "{\(Self.sepia),\(Self.asked)}")
        guard
            case .made(let version, let made) = try await bench.edit(
                other, "{\(Self.sepia),\(Self.asked)}")
        else { throw Failure(.internalError, "nothing was made") }
        #expect(version.content?.reusedFrom?.hasPrefix("a.jpg@") == true)
        #expect(made.use == RenderUse())
        let (first, second) = (try await found(bench, one), try await found(bench, other))
        #expect(digests(first) == digests(second))
        // Other ones are made of the photo.
        _ = try await bench.edit(
            one, #"{"mode":"append","filters":[{"name":"CIColorInvert"}]}"#)
        _ = try await bench.edit(
            other, #"{"mode":"append","filters":[{"name":"CIColorInvert"}],\#(Self.asked)}"#)
        #expect(try await found(bench, other).count == 2)
        await bench.pool.close()
    }

    @Test func `of a version that is gone are refused, and no version is made of them`()
        async throws
    {
        let bench = try Workbench()
        let asset = try photo(bench)
        _ = try await bench.edit(asset, "{\(Self.sepia)}")
        let old = try #require(try await bench.current(asset)).version
        _ = try await bench.edit(asset, #"{"mode":"append","filters":[{"name":"CIColorInvert"}]}"#)
        _ = try await bench.library.collect(
            asset, keeping: Retention(versions: 1, age: nil), now: .now)
        let failure = await #expect(throws: Failure.self) {
            try await bench.edit(
                asset, #"{"mode":"renditions","version":"\#(old)",\#(Self.asked)}"#)
        }
        #expect(failure?.code == .missingVersion)
        #expect(failure?.message.contains(old) == true)
        #expect(try await bench.current(asset)?.revision == 2)
        await bench.pool.close()
    }

    @Test func `are all made, or none, except those that are not required`() async throws {
        let bench = try Workbench()
        let asset = try bench.put("wide.png", SyntheticPhoto.png(width: 17_000, height: 2, seed: 3))
        func edit(_ isRequired: String) -> String {
            #"{"filters":[{"name":"CIColorInvert"}],"renditions":{"wide":{"format":"webp"\#(isRequired)},"web":{"box":[64,64]}}}"#
        }
        let failure = await #expect(throws: Failure.self) {
            try await bench.edit(asset, edit(""))
        }
        #expect(failure?.message.contains("wide") == true, "\(failure?.message ?? "")")
        #expect(try await bench.current(asset) == nil)
        guard
            case .made(_, let made) = try await bench.edit(asset, edit(#","required":false"#))
        else { throw Failure(.internalError, "nothing was made") }
        #expect(made.failures["wide"]?.code == failure?.code)
        #expect(Set(try await found(bench, asset).keys) == ["web"])
        await bench.pool.close()
    }
}
