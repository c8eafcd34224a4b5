import Edits
import Foundation
import MinilabTesting
import SystemPackage
import Testing

@testable import Editing
@testable import Library
@testable import RenderPool

/// What the worker looks for in results, an honest child never lacks.
@Suite("A render child that does not lie", .timeLimit(.minutes(20))) struct HonestChildTests {
    private static let corpus = ProcessInfo.processInfo.environment["MINILAB_CORPUS"]

    /// - Returns: nil when it was made.
    private func failure(
        _ bench: Workbench, _ asset: AssetPath, _ edit: String
    ) async throws -> FailureCode? {
        do {
            _ = try await bench.edit(asset, edit)
            return nil
        } catch let failure as Failure {
            return failure.code
        }
    }

    @Test(arguments: ["jpeg", "png", "tiff", "webp", "heic", "avif", "jxl"])
    func `is believed for photos that are smaller than a placeholder`(format: String) async throws {
        let bench = try Workbench(inMemory: true)
        let photo = try bench.put("a.png", SyntheticPhoto.png(width: 20, height: 15))
        let sepia =
            #"{"filters":[{"name":"CISepiaTone"}],"output":{"format":"\#(format)","previews":[16,64]}}"#
        #expect(try await failure(bench, photo, sepia) == nil)
        let content = try #require(try await bench.current(photo)?.content)
        #expect(content.render.size == PixelSize(width: 20, height: 15))
        #expect(
            content.render.name == "a." + (Recipe.Format(rawValue: format)?.fileExtension ?? ""))
        // A crop of a large photo is as small.
        let large = try bench.put("b.png", SyntheticPhoto.png(width: 200, height: 150))
        let crop =
            #"{"filters":[{"name":"CICrop","inputRectangle":[10,10,9,7]}],"output":{"format":"\#(format)","previews":[16]}}"#
        #expect(try await failure(bench, large, crop) == nil)
        await bench.pool.close()
    }

    @Test(.enabled(if: Self.corpus != nil))
    func `is believed for each photo of the corpus in each format`() async throws {
        let folder = URL(filePath: try #require(Self.corpus)).appending(path: "photos")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        let formats = ["jpeg", "png", "tiff", "webp", "heic", "avif", "jxl"]
        let bench = try Workbench()
        for (index, name) in names.enumerated() {
            let url = folder.appending(path: name)
            guard
                [
                    "jpg", "jpeg", "heic", "heif", "png", "tif", "tiff", "webp", "gif", "jxl",
                    "avif", "dng",
                ]
                .contains(url.pathExtension.lowercased()),
                let bytes = try url.resourceValues(forKeys: [.fileSizeKey]).fileSize,
                bytes < 400_000
            else { continue }
            let asset = try bench.put(
                "\(index)." + url.pathExtension, Data(contentsOf: url))
            // Copied, cut as it is stored, and written in another format.
            let next = formats[index % formats.count]
            for edit in [
                #"{"filters":[],"output":{"previews":[16,300]}}"#,
                #"{"filters":[{"name":"CICrop","inputRectangle":[1,1,24,16]}]}"#,
                #"{"filters":[],"output":{"format":"\#(next)","previews":[300]}}"#,
            ] {
                let code = try await failure(bench, asset, edit)
                #expect(code != .untrustedRender, "\(url.lastPathComponent): \(edit)")
            }
        }
        await bench.pool.close()
    }
}
