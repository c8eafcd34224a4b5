import Edits
import Editors
import Foundation
import MinilabTesting
import SystemPackage
import Testing

@testable import Editing
@testable import Library
@testable import RenderPool

/// What PhotoKit promises, or demands, of who edits an asset, and what its tutorials get wrong.
@Suite("What PhotoKit promises") struct PromiseTests {
    private let bench: Workbench
    private let asset: AssetPath
    private let original = SyntheticPhoto.png(width: 40, height: 24)

    init() throws {
        bench = try Workbench()
        asset = try bench.put("IMG_0001.png", original)
    }

    @discardableResult
    private func edit(
        _ json: String, _ asset: AssetPath? = nil, editors: EditorRegistry? = nil
    ) async throws -> Provenance {
        let outcome = try await bench.edit(asset ?? self.asset, json, editors: editors)
        guard case .made(let version, _) = outcome else {
            throw Failure(.internalError, "expected a version of \(json), got \(outcome)")
        }
        return version
    }

    private func sepia(_ intensity: Double) -> String {
        #"{"filters": [{"name": "CISepiaTone", "intensity": \#(intensity)}]}"#
    }

    private func inline(_ identifier: String, _ data: Data) -> String {
        #"{"mode": "import", "adjustmentData": {"formatIdentifier": "\#(identifier)", "#
            + #""formatVersion": "1.0", "data": "\#(data.base64EncodedString())"}"#
    }

    private func sidecar(_ version: Provenance) throws -> FilePath {
        try bench.library.folder(of: asset).folder(of: version)
            .appending(#require(version.content).adjustment.sidecar)
    }

    @Test func `a filter whose strength is chosen anew is applied once`() async throws {
        try await edit(sepia(0.3))
        try await edit(sepia(0.8))
        let once = try bench.put("once.png", original)
        try await edit(sepia(0.8), once)
        #expect(try await bench.shown(asset) == bench.shown(once))
    }

    @Test func `an editor that cannot read what it writes stacks each edit on its last render`()
        async throws
    {
        let writer = EditorRegistry([])
        let first = try await edit(sepia(0.3), editors: writer)
        let second = try await edit(sepia(0.3), editors: writer)
        #expect(second.content?.opened?.input == .current)
        #expect(second.content?.base?.input.sha256 == first.content?.render.sha256)
        #expect(second.content?.render.sha256 != first.content?.render.sha256)
    }

    /// An editor that says yes to all data and then cannot decode them would lose what somebody made.
    @Test func `data of a known format that cannot be decoded leave their render as the input`()
        async throws
    {
        let render = SyntheticPhoto.png(width: 40, height: 24, seed: 9)
        try bench.put("IMG_E0001.png", render)
        let theirs = try await edit(
            inline("com.apple.photo", Data("CISepiaTone".utf8)) + #", "render": "IMG_E0001.png"}"#)
        let mine = try await edit(sepia(0.8))
        #expect(mine.content?.opened?.canHandle == false)
        #expect(mine.content?.base?.input.sha256 == theirs.content?.render.sha256)
    }

    @Test func `each render comes with adjustment data that are new and not empty`() async throws {
        var seen: Set<Data> = []
        for json in [
            sepia(0.3), #"{"mode": "append", "filters": [{"name": "CIColorInvert"}]}"#,
            #"{"mode": "amend", "changes": [{"step": 0, "set": {"intensity": 0.5}}]}"#,
            inline("com.example.samplecode.SamplePhotosApp", Data("CIColorInvert".utf8)) + "}",
            #"{"mode": "append", "filters": [{"name": "CISepiaTone"}], "draft": true}"#,
        ] {
            let version = try await edit(json)
            let content = try #require(version.content)
            let data = try await bench.library.sidecar(of: content, in: version, asset)
                .adjustmentData
            #expect(!data.isEmpty)
            #expect(seen.insert(data).inserted, "\(json)")
        }
    }

    @Test func `a render has every pixel of the upright original, whatever preview it was made on`()
        async throws
    {
        let turned = try bench.put(
            "IMG_0002.JPG",
            Data(contentsOf: Contract.folder.appending(path: "photos/waterfall.jpg")))
        let json =
            #"{"filters": [{"name": "CISepiaTone"}], "referenceSize": [20, 12]}"#
        let small = try await edit(json)
        #expect(small.content?.render.size == PixelSize(width: 40, height: 24))
        let large = try await edit(json, turned)
        #expect(large.content?.source.size == PixelSize(width: 1200, height: 1800))
        #expect(large.content?.source.orientation == 6)
        #expect(large.content?.render.size == PixelSize(width: 1800, height: 1200))
    }

    @Test func `a JPEG has quality 90, as the tutorials write it, unless the edit says another`()
        async throws
    {
        for (output, quality) in [("", "90"), (#", "quality": 0.5"#, "50")] {
            let version = try await edit(
                #"{"filters": [{"name": "CISepiaTone"}], "output": {"format": "jpeg"\#(output)}}"#)
            let content = try #require(version.content)
            let file = bench.library.folder(of: asset).folder(of: version).appending(
                content.render.name)
            let estimate = try Tool.run(
                "/usr/bin/exiftool", ["-s3", "-JPEGQualityEstimate", file.string])
            #expect(String(decoding: estimate, as: UTF8.self) == quality + "\n")
        }
    }

    @Test func `a new draft takes the place of the last, and that is what is published`()
        async throws
    {
        func draft(_ intensity: Double) -> String {
            sepia(intensity).dropLast() + #", "draft": true}"#
        }
        let first = try await edit(draft(0.3))
        let second = try await edit(draft(0.8))
        #expect(try await bench.library.state(of: asset).draft == second)
        let folder = bench.library.folder(of: asset).folder(of: first)
        #expect(!FileManager.default.fileExists(atPath: folder.string))
        #expect(try await edit(#"{"mode": "publish"}"#).content == second.content)
    }

    @Test func `a filter that nobody knows leaves asset and staging as they were`() async throws {
        let first = try await edit(sepia(0.3))
        for (json, code) in [
            (#"{"filters": [{"name": "CINope"}]}"#, FailureCode.unknownFilter),
            (
                inline("com.example.samplecode.SamplePhotosApp", Data("CINope".utf8)) + "}",
                .cannotHandleAdjustmentData
            ),
        ] {
            let failure = await #expect(throws: Failure.self) { try await edit(json) }
            #expect(failure?.code == code)
        }
        #expect(try await bench.current(asset) == first)
        #expect(try bench.library.staging.staged(in: "photos").isEmpty)
    }

    @Test(arguments: ["revert", "undo"])
    func `an edit is taken back though nobody can read it and its sidecar is damaged`(
        mode: String
    ) async throws {
        try bench.put("IMG_E0001.png", SyntheticPhoto.png(width: 40, height: 24, seed: 9))
        let theirs = try await edit(
            inline("com.example.unheard.of", Data([1, 2, 3])) + #", "render": "IMG_E0001.png"}"#)
        try Data("damaged".utf8).write(to: URL(filePath: sidecar(theirs).string))
        let back = try await edit(#"{"mode": "\#(mode)"}"#)
        #expect(back.content == nil)
        #expect(try await bench.shown(asset) == original)
    }
}
