import Edits
import Foundation
@testable import Library
import MinilabTesting
import RenderProtocol
import Synchronization
import SystemPackage
import Testing

@testable import Editing
@testable import RenderPool

@Suite("Previews") struct PreviewTests {
    private func photo(_ name: String) throws -> Data {
        try Data(contentsOf: Contract.folder.appending(path: "photos/\(name)"))
    }

    /// An edit's version, and where its files are.
    private func edited(
        _ bench: Workbench, _ asset: AssetPath, _ json: String
    ) async throws -> (content: Content, folder: FilePath) {
        guard case .made(let version, _) = try await bench.edit(asset, json) else {
            throw Failure(.internalError, "nothing was made of \(json)")
        }
        return (
            try #require(version.content), bench.library.folder(of: asset).folder(of: version)
        )
    }

    private func exiftool(_ path: FilePath, _ tags: String...) throws -> [String: Any] {
        let json = try Tool.run("exiftool", ["-j", "-n", "-G1"] + tags + [path.string])
        let list = try #require(JSONSerialization.jsonObject(with: json) as? [[String: Any]])
        return list[0].filter { $0.key != "SourceFile" }
    }

    @Test func `are made of a photo that is longer than their own format allows`() async throws {
        let bench = try Workbench()
        let asset = try bench.put("a", SyntheticPhoto.png(width: 70_000, height: 1, seed: 3))
        let (content, _) = try await edited(
            bench, asset,
            #"{"filters":[{"name":"CIColorInvert"}],"output":{"format":"png","previews":[256]}}"#)
        #expect(content.render.size == PixelSize(width: 70_000, height: 1))
        #expect(content.previews.map(\.image.size) == [PixelSize(width: 256, height: 1)])
    }

    @Test(arguments: [
        ("photos/waterfall.jpg", 1800, 1200), ("photos/sketch.png", 1024, 768),
        ("../Tests/Fixtures/L_8__128x128.heif", 128, 128),
    ])
    func `are upright JPEGs of the sizes asked for, beside a render of full size`(
        path: String, width: Int, height: Int
    ) async throws {
        let bench = try Workbench()
        let asset = try bench.put(
            "a", Data(contentsOf: Contract.folder.appending(path: path)))
        let (content, folder) = try await edited(
            bench, asset,
            #"{"filters":[{"name":"CISepiaTone"}],"output":{"format":"jpeg","previews":[64,100]}}"#)
        let full = PixelSize(width: width, height: height)
        #expect(content.render.size == full)
        #expect(content.previews.map(\.longestSide) == [64, 100])
        for preview in content.previews {
            let size = preview.image.size
            #expect(max(size.width, size.height) == preview.longestSide)
            let ratio = Double(full.width) / Double(full.height)
            #expect(abs(Double(size.width) - Double(size.height) * ratio) <= max(1, ratio))
            let file = folder.pushing(FilePath(preview.image.name))
            let facts = try exiftool(
                file, "-ImageWidth", "-ImageHeight", "-FileType", "-Orientation")
            #expect(facts["File:ImageWidth"] as? Int == size.width)
            #expect(facts["File:ImageHeight"] as? Int == size.height)
            #expect(facts["File:FileType"] as? String == "JPEG")
            #expect([nil, 1].contains(facts["IFD0:Orientation"] as? Int))
        }
        await bench.pool.close()
    }

    @Test func `are never enlarged`() async throws {
        let bench = try Workbench()
        let asset = try bench.put("small.png", SyntheticPhoto.png(width: 40, height: 30))
        let (content, _) = try await edited(
            bench, asset, #"{"filters":[{"name":"CISepiaTone"}],"output":{"previews":[16,1024]}}"#)
        #expect(
            content.previews.map(\.image.size) == [
                PixelSize(width: 16, height: 12), PixelSize(width: 40, height: 30),
            ])
        await bench.pool.close()
    }

    @Test func `say nothing of where and with what the photo was taken`() async throws {
        let bench = try Workbench()
        let asset = try bench.put("IMG_1.JPG", SyntheticLivePhoto.still(of: photo("tulips.jpg")))
        let (content, folder) = try await edited(
            bench, asset, #"{"filters":[{"name":"CISepiaTone"}],"output":{"previews":[64]}}"#)
        let preview = folder.pushing(FilePath(content.previews[0].image.name))
        let render = folder.pushing(FilePath(content.render.name))
        let tags = ["-Apple:all", "-GPS:all", "-XMP:all", "-IPTC:all", "-ExifIFD:all"]
        #expect(!(try exiftool(render, tags[0], tags[1], tags[2], tags[3], tags[4])).isEmpty)
        let said = try exiftool(preview, "-Apple:all", "-GPS:all", "-XMP:all", "-IPTC:all")
        #expect(said.isEmpty, "\(said)")
        await bench.pool.close()
    }

    @Test func `a placeholder is told before the render, and is small`() async throws {
        let bench = try Workbench()
        let asset = try bench.put("a.jpg", photo("waterfall.jpg"))
        let told = Mutex<[String]>([])
        let editor = AssetEditor(
            library: bench.library, pool: bench.pool, editors: bench.editors,
            limits: RenderLimits(), resources: nil)
        let staged = StagedVersion(queue: "photos", job: "job", fence: "1")
        var job = AssetEditor.Job(
            staged: staged,
            author: Provenance.Author(
                queue: "photos", job: "job", generation: 1, attempt: 1, worker: "w",
                at: "2026-01-01T00:00:00Z"), borrower: Borrower(.operator))
        job.desk.placeholder = { placeholder in
            let path = bench.library.staging.folder(of: staged).appending("a.jpg").string
            #expect(!FileManager.default.fileExists(atPath: path), "the render is there already")
            told.withLock { $0.append(placeholder) }
        }
        let edit = try Edit(
            json:
                #"{"filters":[{"name":"CISepiaTone"}],"output":{"format":"jpeg","previews":[64]}}"#)
        let outcome = try await editor.make(edit, of: asset, job)
        guard case .made(let version, _) = outcome else {
            Issue.record("nothing was made")
            return
        }
        let placeholder = try #require(told.withLock { $0 }.first)
        #expect(told.withLock { $0.count } == 1)
        #expect(placeholder == version.content?.placeholder)
        #expect(placeholder.hasPrefix("data:image/jpeg;base64,"))
        let bytes = try #require(
            Data(base64Encoded: String(placeholder.dropFirst("data:image/jpeg;base64,".count))))
        #expect(bytes.starts(with: [0xFF, 0xD8]))
        #expect(bytes.count <= 2048 && bytes.count <= SmallPictures.placeholderBytesMax)
        await bench.pool.close()
    }

    @Test func `asked for otherwise they make another edit`() async throws {
        let bench = try Workbench()
        let asset = try bench.put("a.png", SyntheticPhoto.png(width: 40, height: 30))
        let edits = ["[16]", "[16,20]"].map {
            #"{"filters":[{"name":"CISepiaTone"}],"output":{"previews":\#($0)}}"#
        }
        for (number, edit) in edits.enumerated() {
            let (content, _) = try await edited(bench, asset, edit)
            #expect(content.previews.count == number + 1)
            guard case .unchanged = try await bench.edit(asset, edit) else {
                Issue.record("the same edit was made twice")
                return
            }
        }
        await bench.pool.close()
    }
}
