import Edits
import Editors
import Foundation
import Library
import MinilabTesting
import SystemPackage
import Testing

@testable import Editing
@testable import RenderPool

/// Edits in units relative to the photo, with real renders: what is recorded, and what is copied.
@Suite("Relative edits") struct RelativeEditTests {
    private let bench: Workbench
    private let asset: AssetPath

    init() throws {
        bench = try Workbench()
        asset = try bench.put("wide.png", SyntheticPhoto.png(width: 60, height: 40))
    }

    private static let square = """
        {"units": "relative", "filters": [{"name": "crop", "aspect": [1, 1]},
          {"name": "CIVignetteEffect", "center": [0.5, 0.5], "radius": 0.5}], "output": {"format": "png"}}
        """

    private func content(_ asset: AssetPath, _ edit: String) async throws -> Content {
        guard case .made(let version, _) = try await bench.edit(asset, edit) else {
            throw Failure(.internalError, "expected a version")
        }
        return try #require(version.content)
    }

    private func crop(_ content: Content) -> [Double]? {
        content.recipe?.filters.first { $0.name == "CICrop" }?.vector("inputRectangle")
    }

    @Test func `pixels are recorded, and the edit as it was sent beside them`() async throws {
        let content = try await content(asset, Self.square)
        #expect(content.render.size == PixelSize(width: 40, height: 40))
        #expect(crop(content) == [10, 0, 40, 40])
        #expect(content.recipe?.filters[1].vector("inputCenter") == [20, 20])
        #expect(content.recipe?.filters[1].number("inputRadius") == 20)
        #expect(content.sent?.filters.map(\.name) == ["crop", "CIVignetteEffect"])
        #expect(content.sent?.filters[1].units == .relative)

        // The sidecar says the same as a job in pixels would.
        let version = try #require(try await bench.current(asset))
        let sidecar = try await bench.library.sidecar(of: content, in: version, asset)
        let text = try #require(String(validating: sidecar.adjustment.data, as: UTF8.self))
        #expect(text == content.recipe?.json.canonical)
        #expect(!text.contains("units") && !text.contains(#""crop""#))
        #expect(sidecar.adjustment.formatVersion == "1.0")
        await bench.pool.close()
    }

    @Test func `the same edit again changes nothing, and in pixels neither`() async throws {
        _ = try await content(asset, Self.square)
        let pixels = """
            {"filters": [{"name": "CICrop", "rectangle": [10, 0, 40, 40]},
              {"name": "CIVignetteEffect", "center": [20, 20], "radius": 20}], "output": {"format": "png"}}
            """
        for edit in [Self.square, pixels] {
            guard case .unchanged = try await bench.edit(asset, edit) else {
                Issue.record("expected .unchanged of \(edit)")
                continue
            }
        }
        // The other way round it is kept: a copy would be another one.
        let other = try bench.put("other.png", SyntheticPhoto.png(width: 60, height: 40))
        #expect(try await content(other, pixels).sent == nil)
        #expect(try await content(other, Self.square).sent != nil)
        await bench.pool.close()
    }

    @Test func `a square stays a square where it is copied to`() async throws {
        _ = try await content(asset, Self.square)
        let tall = try bench.put("tall.png", SyntheticPhoto.png(width: 50, height: 90))
        let copy = #"{"mode": "copyEdit", "from": "wide.png"}"#
        let copied = try await content(tall, copy)
        #expect(crop(copied) == [0, 20, 50, 50])
        #expect(copied.recipe?.filters[1].number("inputRadius") == 25)
        #expect(copied.sent?.filters == (try await bench.current(asset))?.content?.sent?.filters)
        guard case .unchanged = try await bench.edit(tall, copy) else {
            Issue.record("expected .unchanged")
            return
        }
        await bench.pool.close()
    }

    @Test func `appended values count parts of what is current, and are copied with the rest`()
        async throws
    {
        _ = try await content(asset, Self.square)
        let appended = try await content(
            asset,
            """
            {"mode": "append", "filters": [{"name": "CIGaussianBlur", "radius": 0.05, "units": "relative"},
              {"name": "CIGaussianBlur", "radius": 3}, {"name": "resize", "box": [20, 20]}]}
            """)
        #expect(
            appended.recipe?.filters.map(\.name) == [
                "CICrop", "CIVignetteEffect", "CIGaussianBlur", "CIGaussianBlur",
                "CILanczosScaleTransform",
            ])
        #expect(appended.recipe?.filters[2].number("inputRadius") == 2)
        #expect(appended.render.size == PixelSize(width: 20, height: 20))
        let large = try bench.put("large.png", SyntheticPhoto.png(width: 80, height: 120))
        let copied = try await content(large, #"{"mode": "copyEdit", "from": "wide.png"}"#)
        #expect(copied.render.size == PixelSize(width: 20, height: 20))
        #expect(crop(copied) == [0, 20, 80, 80])
        #expect(copied.recipe?.filters[2].number("inputRadius") == 4)
        await bench.pool.close()
    }

    @Test func `an amended step is copied in pixels, and the others as they were sent`()
        async throws
    {
        _ = try await content(asset, Self.square)
        let amended = try await content(
            asset,
            #"{"mode": "amend", "changes": [{"step": 1, "set": {"units": "relative", "radius": 0.25}}]}"#
        )
        #expect(amended.recipe?.filters[1].number("inputRadius") == 10)
        #expect(amended.sent?.filters.map(\.name) == ["crop", "CIVignetteEffect"])
        #expect(amended.sent?.filters.map(\.units) == [.pixels, .pixels])
        let cropless = try await content(
            asset, #"{"mode": "amend", "changes": [{"step": "CICrop", "remove": true}]}"#)
        #expect(cropless.render.size == PixelSize(width: 60, height: 40))
        #expect(cropless.sent == nil)
        await bench.pool.close()
    }

    @Test func `an edit that does not fit this photo names its size, and publishes nothing`()
        async throws
    {
        let failure = await #expect(throws: Failure.self) {
            try await bench.edit(
                asset,
                #"{"units": "relative", "filters": [{"name": "CIBoxBlur", "radius": 0.01}]}"#)
        }
        #expect(failure?.code == .parameterOutOfRange)
        #expect(failure?.message.contains("60×40") == true, "\(failure?.message ?? "")")
        #expect(try await bench.current(asset) == nil)
        await bench.pool.close()
    }

    @Test func `adjustment data with relative values are none of ours`() throws {
        let photo = EditedPhoto(storedSize: PixelSize(width: 60, height: 40), orientation: .upright)
        for recipe in [
            #"{"filters": [{"name": "CIGaussianBlur", "units": "relative", "radius": 0.1}]}"#,
            #"{"filters": [{"name": "crop", "aspect": [1, 1]}]}"#,
        ] {
            let failure = #expect(throws: Failure.self) {
                try MinilabRecipe().read(Data(recipe.utf8), of: photo)
            }
            #expect(failure?.code == .adjustmentDataUndecodable)
        }
    }

    // MARK: Orientations, movies

    private static func movie() throws -> Data {
        try Data(contentsOf: Repository.fixture("Movies/bt601.mp4"))
    }

    /// A JPEG whose stored pixels are to be shown as an EXIF orientation says.
    static func jpeg(_ orientation: UInt8) throws -> Data {
        let photo = try Data(contentsOf: Contract.folder.appending(path: "photos/tulips.jpg"))
        let exif: [UInt8] =
            Array("Exif\0\0II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0]
            + [orientation, 0, 0, 0, 0, 0, 0, 0]
        var bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif
        var index = photo.startIndex + 2
        // Segments up to the first that is not of an application, without its own EXIF.
        while photo[index + 1] & 0xF0 == 0xE0 {
            let length = 2 + Int(photo[index + 2]) << 8 + Int(photo[index + 3])
            if photo[index + 1] != 0xE1 { bytes += photo[index..<index + length] }
            index += length
        }
        return Data(bytes + photo[index...])
    }

    @Test(arguments: 1...8)
    func `values count the upright photo, however it is stored`(orientation: Int) async throws {
        let photo = try bench.put("stored.jpg", Self.jpeg(UInt8(orientation)))
        let content = try await content(
            photo,
            """
            {"units": "relative", "filters": [{"name": "crop", "aspect": [3, 5], "at": "northeast"},
              {"name": "CIVignetteEffect", "center": [0.25, 1], "radius": 0.5},
              {"name": "resize", "box": [60, 100], "fit": "cover"}]}
            """)
        let stored = content.input.size
        let upright = try #require(Orientation(rawValue: orientation)).size(of: stored)
        #expect(content.input.orientation == orientation && stored.width > stored.height)
        let (w, h) = (upright.width, upright.height)
        let (width, height) = 3 * h <= 5 * w ? ((6 * h + 5) / 10, h) : (w, (10 * w + 3) / 6)
        let expected = [w - width, h - height, width, height].map(Double.init)
        #expect(crop(content) == expected)
        #expect(
            content.recipe?.filters[1].vector("inputCenter") == [Double(width) / 4, Double(height)])
        #expect(content.render.size == PixelSize(width: 60, height: 100))
        await bench.pool.close()
    }

    @Test func `both halves of a Live Photo have the same part of the scene`() async throws {
        let photo = try Data(contentsOf: Contract.folder.appending(path: "photos/tulips.jpg"))
        let asset = try bench.put("IMG_1.JPG", SyntheticLivePhoto.still(of: photo))
        try bench.put(
            "IMG_1.MOV", SyntheticLivePhoto.movie(of: Self.movie()))
        let content = try await content(
            asset,
            #"{"units": "relative", "filters": [{"name": "crop", "aspect": [1, 1]}, {"name": "CIGaussianBlur", "radius": 0.01}]}"#
        )
        #expect(content.render.size.width == content.render.size.height)
        let movie = try #require(content.pairedVideo)
        // The movie's frame has another aspect than the still; it shows the same part of its own sides.
        #expect(movie.size.width > 0 && movie.size != content.render.size)
        #expect(content.sent?.filters.first?.name == "crop")
        await bench.pool.close()
    }

    @Test func `a movie is cropped and resized as a photo is`() async throws {
        let asset = try bench.put("clip.mp4", Self.movie())
        let content = try await content(
            asset,
            """
            {"units": "relative", "filters": [{"name": "crop", "aspect": [1, 1]},
              {"name": "CIVignetteEffect", "center": [0.5, 0.5], "radius": 0.5},
              {"name": "resize", "box": [32, 32], "fit": "cover"}]}
            """)
        #expect(content.render.size == PixelSize(width: 32, height: 32))
        let upright = content.input.photo.uprightSize
        let side = Double(min(upright.width, upright.height))
        #expect(content.recipe?.filters[1].number("inputRadius") == side / 2)
        await bench.pool.close()
    }
}
