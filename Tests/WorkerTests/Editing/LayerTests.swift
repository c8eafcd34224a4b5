import Edits
import Editors
import Foundation
import Library
import MinilabTesting
import Synchronization
import SystemPackage
import Testing

@testable import Editing
@testable import RenderPool

/// The four layers of an asset, with real renders.
@Suite("Layers") struct LayerTests {
    private let bench: Workbench
    private let asset: AssetPath
    private let original: Data
    /// An editor that knows nothing but Minilab's own format.
    private let stranger = EditorRegistry([MinilabRecipe()])

    init() throws {
        bench = try Workbench()
        original = SyntheticPhoto.png(width: 40, height: 24)
        asset = try bench.put("IMG_0001.png", original)
    }

    private func provenance(_ outcome: AssetEditor.Outcome) throws -> Provenance {
        guard case .made(let version, _) = outcome else {
            throw Failure(.internalError, "expected a version, got \(outcome)")
        }
        return version
    }

    /// An edit of somebody else's app: sepia, as Apple's sample code writes it.
    private let foreign =
        #"{"mode": "import", "adjustmentData": {"formatIdentifier": "com.example.samplecode.SamplePhotosApp", "#
        + #""formatVersion": "1.0", "data": "Q0lTZXBpYVRvbmU="}, "output": {"format": "png"}}"#
    private let invert = #"{"filters": [{"name": "CIColorInvert"}], "output": {"format": "png"}}"#

    /// A edits; B cannot read A's edit and edits; B edits again; revert.
    @Test func `an editor that stacks its edit on another's keeps that at its next edit`()
        async throws
    {
        let first = try provenance(await bench.edit(asset, foreign))
        let afterA = try await bench.shown(asset)
        #expect(first.content?.base == nil)

        // B gets what A made, since it cannot read A's data.
        let second = try provenance(await bench.edit(asset, invert, editors: stranger))
        #expect(second.content?.opened?.canHandle == false)
        #expect(second.content?.opened?.input == .current)
        #expect(second.content?.base?.version == first.version)
        #expect(try await sidecar(second).base == .adjusted)

        // B reads its own data and gets the base, not the original: A's sepia is still there, once.
        let third = try provenance(
            await bench.edit(
                asset, #"{"filters": [], "output": {"format": "png", "strip": "all"}}"#,
                editors: stranger))
        #expect(third.content?.opened?.canHandle == true)
        #expect(third.content?.opened?.input == .base)
        #expect(third.content?.base?.version == first.version)
        let base = try #require(third.content?.base)
        #expect(base.input.sha256 == first.content?.render.sha256)
        #expect(try await pixels(bench.shown(asset)) == pixels(afterA))

        let fourth = try provenance(await bench.edit(asset, #"{"mode": "revert"}"#))
        #expect(fourth.content == nil)
        #expect(try await bench.shown(asset) == original)
    }

    /// A child may write to all of that folder, and a second name of a file is the file.
    @Test func `a render child's folder has no file of a version that is published`() async throws {
        _ = try await bench.edit(asset, foreign)
        let seen = Mutex<[String]?>(nil)
        var job = bench.job()
        let staging = bench.library.staging.folder(of: job.staged).string
        job.reach = { stage in
            guard stage == .rendering else { return }
            do {
                let names = try FileManager.default.subpathsOfDirectory(atPath: staging)
                seen.withLock { $0 = names }
            } catch { Issue.record(error) }
        }
        try await bench.run(Edit(json: invert), asset, job, editors: stranger)
        #expect(seen.withLock { $0 } == [])
        #expect(try await bench.current(asset)?.content?.base != nil)
    }

    @Test func `an editor that reads the edit gets the original, and the edit is replaced`()
        async throws
    {
        _ = try await bench.edit(asset, foreign)
        let second = try provenance(await bench.edit(asset, invert))
        #expect(second.content?.base == nil)
        #expect(
            second.content?.opened?.formatIdentifier == "com.example.samplecode.SamplePhotosApp")
        #expect(second.content?.opened?.input == .original)
        let alone = try bench.put("alone.png", original)
        _ = try await bench.edit(alone, invert)
        #expect(try await bench.shown(asset) == bench.shown(alone))
    }

    @Test func `the original is never written, and undo shows it byte by byte`() async throws {
        _ = try await bench.edit(asset, invert)
        #expect(try await bench.shown(asset) != original)
        let undone = try provenance(await bench.edit(asset, #"{"mode": "undo"}"#))
        #expect(undone.content == nil)
        #expect(undone.revision == 2)
        #expect(try await bench.shown(asset) == original)
        let redone = try provenance(await bench.edit(asset, #"{"mode": "redo"}"#))
        #expect(redone.content?.recipe?.filters.map(\.name) == ["CIColorInvert"])
    }

    @Test func `undo after revert brings the edit back`() async throws {
        _ = try await bench.edit(asset, invert)
        let edited = try await bench.shown(asset)
        _ = try await bench.edit(asset, #"{"mode": "revert"}"#)
        _ = try await bench.edit(asset, #"{"mode": "undo"}"#)
        #expect(try await bench.shown(asset) == edited)
        #expect(
            try await bench.library.history(of: asset).map(\.mode) == [.undo, .revert, .replace])
    }

    @Test func `undo needs no version but the one that it shows`() async throws {
        _ = try await bench.edit(asset, invert)
        let first = try await bench.shown(asset)
        _ = try await bench.edit(asset, foreign)
        _ = try await bench.edit(asset, #"{"mode": "undo"}"#)
        _ = try await bench.library.collect(
            asset, keeping: Retention(versions: 1, age: nil), now: Date(timeIntervalSince1970: 2e9))
        #expect(try await bench.shown(asset) == first)
        #expect(try await bench.library.history(of: asset).count == 1)
    }

    @Test func `a draft changes nothing until it is published`() async throws {
        _ = try await bench.edit(asset, invert)
        let before = try await bench.shown(asset)
        let draft = try provenance(
            await bench.edit(
                asset, #"{"mode": "append", "filters": [{"name": "CISepiaTone"}], "draft": true}"#))
        #expect(draft.isDraft)
        #expect(try await bench.shown(asset) == before)
        #expect(try await bench.library.state(of: asset).draft == draft)

        let published = try provenance(await bench.edit(asset, #"{"mode": "publish"}"#))
        #expect(published.content == draft.content)
        #expect(published.revision == 2)
        #expect(try await bench.library.state(of: asset).draft == nil)
        #expect(try await bench.shown(asset) != before)
        _ = try await bench.edit(asset, #"{"mode": "undo"}"#)
        #expect(try await bench.shown(asset) == before)
    }

    @Test func `a draft that is discarded leaves nothing behind`() async throws {
        _ = try await bench.edit(asset, #"{"filters": [{"name": "CISepiaTone"}], "draft": true}"#)
        let outcome = try await bench.edit(asset, #"{"mode": "discard"}"#)
        guard case .unchanged(let reason, nil) = outcome else {
            Issue.record("expected .unchanged, got \(outcome)")
            return
        }
        #expect(reason.contains("discarded"))
        #expect(try await bench.library.state(of: asset) == AssetState())
        for again in [#"{"mode": "discard"}"#, #"{"mode": "discard", "version": "9-9"}"#] {
            guard
                case .unchanged("there is no such draft", nil) = try await bench.edit(asset, again)
            else {
                Issue.record("expected .unchanged")
                continue
            }
        }
    }

    /// Edits that read no original by themselves, and one that would copy from the photo.
    private static let withoutOriginal = [
        #"{"mode": "undo"}"#, #"{"mode": "redo"}"#, #"{"mode": "revert"}"#,
        #"{"mode": "publish"}"#, #"{"mode": "discard"}"#, #"{"mode": "render"}"#,
        #"{"mode": "amend", "changes": [{"step": 0, "remove": true}]}"#, #"{"filters": []}"#,
        #"{"mode": "renditions", "renditions": {"web": {"box": [20, 20]}}}"#,
        #"{"mode": "copyEdit", "from": "no-such.png"}"#,
    ]

    @Test(arguments: withoutOriginal)
    func `no edit calls a photo that is not there one without edits`(edit: String) async throws {
        let none = try AssetPath("no-such.png")
        let failure = await #expect(throws: Failure.self) { try await bench.edit(none, edit) }
        #expect(failure?.code == .missingAsset)
        #expect(failure?.message.contains("no-such.png") == true)
        guard edit.contains("copyEdit") else { return }
        let source = await #expect(throws: Failure.self) { try await bench.edit(asset, edit) }
        #expect(source?.code == .missingAsset)
    }

    @Test func `an edited photo whose original is gone can still be undone`() async throws {
        let first = try provenance(await bench.edit(asset, invert))
        _ = try await bench.edit(asset, #"{"filters": [{"name": "CISepiaTone"}]}"#)
        try FileManager.default.removeItem(
            atPath: bench.library.originals.pushing(FilePath(asset.string)).string)
        let undone = try provenance(await bench.edit(asset, #"{"mode": "undo"}"#))
        #expect(undone.content == first.content)
        let failure = await #expect(throws: Failure.self) {
            try await bench.edit(asset, #"{"mode": "publish"}"#)
        }
        #expect(failure?.code == .missingDraft)
    }

    @Test func `a draft that another edit overtook is not published`() async throws {
        _ = try await bench.edit(asset, #"{"filters": [{"name": "CISepiaTone"}], "draft": true}"#)
        _ = try await bench.edit(asset, invert)
        let failure = await #expect(throws: Failure.self) {
            try await bench.edit(asset, #"{"mode": "publish"}"#)
        }
        #expect(failure?.code == .staleDraft)
    }

    @Test func `an import keeps data and render of the other editor byte by byte`() async throws {
        let render = SyntheticPhoto.png(width: 40, height: 24, seed: 9)
        try bench.put("IMG_E0001.png", render)
        let data = AdjustmentData(
            formatIdentifier: "com.example.other", formatVersion: "3", data: Data([1, 2, 3]))
        try bench.put("IMG_0001.AAE", AAESidecar(data, timestamp: .now).encoded())
        let json = #"{"mode": "import", "sidecar": "IMG_0001.AAE", "render": "IMG_E0001.png"}"#
        let version = try provenance(await bench.edit(asset, json))
        #expect(try await bench.shown(asset) == render)
        #expect(try await sidecar(version).adjustment == data)
        #expect(version.content?.recipe == nil)
        #expect(version.content?.rendering == nil)

        let again = try await bench.edit(asset, json)
        guard case .unchanged = again else {
            Issue.record("expected .unchanged, got \(again)")
            return
        }
        let previewed = try provenance(
            await bench.edit(
                asset, json.dropLast() + #", "output": {"previews": [16]}}"#))
        #expect(previewed.content?.previews.map(\.longestSide) == [16])
        #expect(previewed.content?.placeholder?.hasPrefix("data:image/jpeg;base64,") == true)
        #expect(try await bench.shown(asset) == render)
        let refused = await #expect(throws: Failure.self) {
            try await bench.edit(asset, json.dropLast() + #", "output": {"format": "png"}}"#)
        }
        #expect(refused?.code == .invalidValue)
        let stacked = try provenance(await bench.edit(asset, invert))
        #expect(stacked.content?.base?.input.sha256 == previewed.content?.render.sha256)
        #expect(stacked.content?.source.sha256 == version.content?.source.sha256)
    }

    @Test func `a render or a photo that is longer than a photo may be is not read at all`()
        async throws
    {
        let data = AdjustmentData(
            formatIdentifier: "com.example.other", formatVersion: "3", data: Data([1, 2, 3]))
        try bench.put("IMG_0001.AAE", AAESidecar(data, timestamp: .now).encoded())
        // Two terabytes, of which the disk has none: reading them would take a quarter of an hour.
        let long = try bench.put("long.png", SyntheticPhoto.png(width: 40, height: 24, seed: 9))
        #expect(truncate(bench.library.originals.appending("long.png").string, 2 << 40) == 0)
        for (asset, json) in [
            (asset, #"{"mode": "import", "sidecar": "IMG_0001.AAE", "render": "long.png"}"#),
            (long, #"{"mode": "import", "sidecar": "IMG_0001.AAE"}"#), (long, invert),
        ] {
            let failure = await #expect(throws: Failure.self) {
                try await bench.edit(asset, json)
            }
            #expect(failure?.code == .exceedsLimit)
        }
    }

    @Test func `a sidecar that is none, or is too large, is told apart from a missing one`()
        async throws
    {
        try bench.put("text.AAE", Data("hello".utf8))
        try bench.put("large.AAE", Data(count: 4 << 20))
        for (name, code) in [
            ("text.AAE", FailureCode.badSidecar), ("large.AAE", .badSidecar),
            ("none.AAE", .missingAsset),
        ] {
            let failure = await #expect(throws: Failure.self) {
                try await bench.edit(asset, #"{"mode": "import", "sidecar": "\#(name)"}"#)
            }
            #expect(failure?.code == code, "\(name)")
        }
    }

    @Test func `an edit is copied to other photos, and copied again it changes nothing`()
        async throws
    {
        _ = try await bench.edit(
            asset,
            #"{"filters": [{"name": "CIGaussianBlur", "radius": 2}], "output": {"format": "png"}}"#)
        let large = try bench.put("large.png", SyntheticPhoto.png(width: 80, height: 48))
        let json = #"{"mode": "copyEdit", "from": "IMG_0001.png"}"#
        let copied = try provenance(await bench.edit(large, json))
        #expect(
            copied.content?.recipe?.filters == [try Filter("CIGaussianBlur", ["radius": 4])])
        #expect(copied.content?.copiedFrom?.hasPrefix("IMG_0001.png@1-") == true)
        let again = try await bench.edit(large, json)
        guard case .unchanged = again else {
            Issue.record("expected .unchanged, got \(again)")
            return
        }
        let nobody = try bench.put("nobody.png", original)
        for from in [#""nobody.png""#, #""IMG_0001.png", "version": "7-7""#] {
            let failure = await #expect(throws: Failure.self) {
                try await bench.edit(nobody, #"{"mode": "copyEdit", "from": \#(from)}"#)
            }
            #expect(failure?.code == .missingVersion)
        }
    }

    @Test func `what long edits come to is read again, until it is too long to be recorded`()
        async throws
    {
        let table = Array(repeating: "0.5", count: 15 * 15 * 15 * 4).joined(separator: ",")
        let append =
            #"{"mode": "append", "filters": [{"name": "CIColorCube", "cubeDimension": 15, "#
            + #""cubeData": [\#(table)]}]}"#
        for count in 1...4 {
            let version = try provenance(await bench.edit(asset, append))
            #expect(version.content?.recipe?.filters.count == count)
            #expect(version.content?.base == nil)
        }
        let failure = await #expect(throws: Failure.self) { try await bench.edit(asset, append) }
        #expect(failure?.code == .oversizedField)
        _ = try await bench.edit(asset, #"{"mode": "undo"}"#)
        #expect(try await bench.current(asset)?.content?.recipe?.filters.count == 3)
    }

    @Test func `two edits of one asset at once both end well, one after the other`() async throws {
        _ = try await bench.edit(asset, invert)
        try await withThrowingTaskGroup { group in
            for _ in 0..<6 {
                group.addTask {
                    _ = try await bench.edit(
                        asset, #"{"mode": "append", "filters": [{"name": "CIColorInvert"}]}"#)
                }
            }
            try await group.waitForAll()
        }
        let history = try await bench.library.history(of: asset)
        #expect(history.map(\.revision) == [7, 6, 5, 4, 3, 2, 1])
        #expect(history.map { $0.content?.recipe?.filters.count } == [7, 6, 5, 4, 3, 2, 1])
    }

    private func sidecar(_ version: Provenance) async throws -> AAESidecar {
        try await bench.library.sidecar(of: #require(version.content), in: version, asset)
    }

    /// A PNG's pixels as libvips' own tool sees them.
    private func pixels(_ png: Data) throws -> Data {
        let file = bench.folder.file("pixels.png")
        try png.write(to: URL(filePath: file))
        let script =
            "import sys, zlib, struct; d = open(sys.argv[1], 'rb').read(); i = 8; out = b''\n"
            + "while i < len(d):\n"
            + "    n, = struct.unpack('>I', d[i:i + 4]); out += d[i + 8:i + 8 + n] if d[i + 4:i + 8] == b'IDAT' else b''; i += 12 + n\n"
            + "sys.stdout.buffer.write(zlib.decompress(out))"
        return try Tool.run("/usr/bin/python3", ["-c", script, file])
    }
}
