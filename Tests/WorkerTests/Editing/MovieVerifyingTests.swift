import Edits
import Foundation
import MinilabTesting
import SystemPackage
import Testing

@testable import Editing
@testable import Library
@testable import RenderPool

/// Versions of movies and Live Photos as `minilab verify` sees them, and imports of the wrong kind.
@Suite("Versions of movies") struct MovieVerifyingTests {
    private static let sepia = #"{"filters":[{"name":"CISepiaTone"}]}"#

    private static func movie() throws -> Data {
        return try Data(contentsOf: Repository.fixture("Movies/bt601.mp4"))
    }

    private static func still() throws -> Data {
        SyntheticLivePhoto.still(
            of: try Data(contentsOf: Contract.folder.appending(path: "photos/tulips.jpg")))
    }

    private func verify(_ bench: Workbench, _ asset: AssetPath) async throws -> Verification {
        var settings = EditingSettings()
        settings.editors = bench.editors
        let verifier = AssetVerifier(library: bench.library, pool: bench.pool, settings: settings)
        return try await verifier.verify(asset, allVersions: true, scratch: bench.scratch)
    }

    @Test func `of Live Photos are rendered again to the same bytes, mark and all`() async throws {
        let bench = try Workbench()
        let asset = try bench.put("IMG_1.JPG", Self.still())
        try bench.put("IMG_1.MOV", SyntheticLivePhoto.movie(of: Self.movie()))
        for edit in [
            Self.sepia, #"{"mode":"append","filters":[{"name":"CIColorInvert"}]}"#,
            #"{"mode":"undo"}"#, #"{"mode":"redo"}"#,
        ] { _ = try await bench.edit(asset, edit) }
        let report = try await verify(bench, asset)
        #expect(report.isSound && report.rendersCompared == 2, "\(report)")
        // Of the movie the bytes count.
        let current = try #require(try await bench.current(asset))
        let video = try #require(current.content?.pairedVideo)
        let file = bench.library.folder(of: asset).folder(of: current).appending(video.name)
        try Self.movie().write(to: URL(filePath: file.string), options: .atomic)
        #expect(try await verify(bench, asset).isSound == false)
        await bench.pool.close()
    }

    /// A still to which nothing is done is a copy, byte for byte: it cannot get another mark, so the movie must not either.
    @Test(arguments: ["false", "true"])
    func `of Live Photos whose still is copied have the mark of before in both halves`(
        mute: String
    ) async throws {
        let bench = try Workbench()
        let asset = try bench.put("IMG_1.JPG", Self.still())
        try bench.put("IMG_1.MOV", SyntheticLivePhoto.movie(of: Self.movie()))
        _ = try await bench.edit(
            asset,
            """
            {"filters":[{"name":"CISepiaTone","inputIntensity":0}],"output":{"movie":{"mute":\(mute)}}}
            """)
        let version = try #require(try await bench.current(asset))
        let content = try #require(version.content)
        for half in [content.render, try #require(content.pairedVideo)] {
            let file = bench.library.folder(of: asset).folder(of: version).appending(half.name)
            let bytes = try Data(contentsOf: URL(filePath: file.string))
            #expect(
                bytes.firstRange(of: Data(SyntheticLivePhoto.identifier.utf8)) != nil,
                "\(half.name)")
        }
        #expect(try await verify(bench, asset).isSound)
        await bench.pool.close()
    }

    @Test func `of movies are rendered again to the same bytes`() async throws {
        let bench = try Workbench()
        let asset = try bench.put("clip.mp4", Self.movie())
        for edit in [Self.sepia, #"{"mode":"append","filters":[{"name":"turn","degrees":90}]}"#] {
            _ = try await bench.edit(asset, edit)
        }
        let report = try await verify(bench, asset)
        #expect(report.isSound && report.rendersCompared == 2, "\(report)")
        await bench.pool.close()
    }

    @Test(arguments: [("IMG_1.JPG", "IMG_E1.MOV"), ("IMG_1.MOV", "IMG_E1.JPG")])
    func `are not made by an import of the other kind`(asset: String, render: String) async throws {
        let bench = try Workbench()
        for name in [asset, render] {
            try bench.put(name, name.hasSuffix("MOV") ? Self.movie() : Self.still())
        }
        let path = try AssetPath(asset)
        let failure = await #expect(throws: Failure.self) {
            try await bench.edit(
                path,
                """
                {"mode":"import","render":"\(render)","adjustmentData":\
                {"formatIdentifier":"com.example.editor","formatVersion":"1.0","data":"AAAA"}}
                """)
        }
        #expect(failure?.code == .invalidValue)
        #expect(try await bench.current(path) == nil)
        await bench.pool.close()
    }
}
