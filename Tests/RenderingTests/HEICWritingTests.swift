import Edits
import PhotoFiles
import Foundation
@testable import Codecs
import MinilabTesting
import RenderProtocol
import Testing

@testable import Rendering

/// HEICs of our own, judged by libheif, exiftool and our own reader.
@Suite("HEIC that is written") struct HEICWritingTests {
    private static func recipe() throws -> [Filter] {
        [try Filter("CISepiaTone", ["intensity": 0.3])]
    }

    /// Mean difference of two pictures of 8 bits, in codes.
    private static func difference(_ a: Image, _ b: Image) throws -> Double {
        try #require(a.width == b.width && a.height == b.height && a.bands == b.bands)
        let (x, y) = (try a.pixels(), try b.pixels())
        try #require(x.count == y.count)
        return zip(x, y).reduce(0) { $0 + Double(abs(Int($1.0) - Int($1.1))) } / Double(x.count)
    }

    @Test(arguments: [1_040, 512, 333, 64, 3])
    func `is the same picture to libheif as to us, and the one that was made`(width: Int) throws {
        let studio = try Studio()
        try TestPicture.image(width: width, height: max(1, width * 3 / 4)).writePNG(
            to: studio.path("in.png"))
        let exact = try studio.pixels(of: studio.path("in.png"), Self.recipe(), stem: "exact")
        let report = try studio.render(
            studio.path("in.png"), Self.recipe(), output: .init(format: .heic, quality: 0.95))
        let path = studio.path(report.output.name)
        try VipsTurn.shared {
            // Its rows are made once.
            func ours() throws -> Image { try PhotoFile(at: path).image(failOn: .error) }
            let theirs = try Image.open(path, loader: "heifload", streaming: false, failOn: .error)
            // Three columns have two samples of chroma, which libheif does not interpolate.
            #expect(try Self.difference(ours(), theirs) < (width > 8 ? 1 : 16))
            #expect(try Self.difference(ours(), exact.image) < (width > 8 ? 4 : 32))
        }
    }

    @Test func `is a grid of hidden tiles with a thumbnail, profile and words, as phones write it`()
        throws
    {
        let studio = try Studio()
        let report = try studio.render(
            Studio.fixture("arrow.heic"), Self.recipe(), output: .init(format: .heic))
        let path = studio.path(report.output.name)
        let bytes = try Picture.file(path)
        var window = FileWindow(length: bytes.count) { Array(bytes.dropFirst($0).prefix($1)) }
        let boxes = window.boxes(in: 0..<bytes.count)
        #expect(boxes.map(\.type) == ["ftyp", "meta", "mdat"] && !boxes[2].isCutOff)
        let meta = try #require(HEIFMeta(of: &window))
        #expect(meta.isWhole)
        let primary = try #require(meta.primary)
        #expect(meta.items[primary]?.type == "grid")
        let tiles = meta.items(from: primary, by: "dimg")
        #expect(tiles.allSatisfy { meta.items[$0]?.isHidden == true })
        let thumbnail = try #require(meta.items(to: primary, by: "thmb").first)
        #expect(meta.items[thumbnail]?.type == "hvc1")
        let still = try HEIFStill(meta, in: &window)
        #expect(still.picture.tileWidth == 512 && still.picture.tileHeight == 512)
        #expect(still.pictures == 1)
        let original = try PhotoFile(at: Studio.fixture("arrow.heic"))
        #expect(still.profile == (try original.image(failOn: .error).data("icc-profile-data")))
        #expect(still.exif != nil)
        let tags = try Exiftool.tags(of: path, "-validate", "-Orientation#", "-n")
        #expect(tags["Orientation"] == "1")
        #expect(tags["Validate"]?.hasPrefix("0 0") != false, "\(tags)")
    }

    @Test func `has alpha of its own`() throws {
        let studio = try Studio()
        let bytes = (0..<600 * 40).flatMap { index -> [UInt8] in
            [90, 120, 60, UInt8(index % 600 * 255 / 599)]
        }
        try Image.fromPixels(bytes, width: 600, height: 40, bands: 4).writePNG(
            to: studio.path("in.png"))
        let report = try studio.render(
            studio.path("in.png"), Self.recipe(), output: .init(format: .heic, quality: 0.95))
        let path = studio.path(report.output.name)
        try VipsTurn.shared {
            func ours() throws -> Image { try PhotoFile(at: path).image(failOn: .error) }
            let theirs = try Image.open(path, loader: "heifload", streaming: false, failOn: .error)
            #expect(theirs.bands == 4)
            #expect(try Self.difference(ours(), theirs) < 1)
            let pixels = try ours().pixels()
            let errors = stride(from: 3, to: bytes.count, by: 4).map {
                abs(Int(pixels[$0]) - Int(bytes[$0]))
            }
            #expect(errors.max() ?? 255 < 12)
        }
    }

    @Test func `has the same bytes for any threads and heights of tiles`() throws {
        let studio = try Studio()
        let results = try [1, 4].map { threads -> [UInt8] in
            let report = try studio.render(
                Studio.fixture("heron.jpg"), Self.recipe(), output: .init(format: .heic),
                stem: "threads-\(threads)", threads: threads)
            return try Picture.file(studio.path(report.output.name))
        }
        #expect(results[0] == results[1])
    }

    @Test func `that is written again keeps its colours`() throws {
        let studio = try Studio()
        let first = try studio.render(
            Studio.fixture("heron.jpg"), Self.recipe(), output: .init(format: .heic), stem: "first")
        let path = studio.path(first.output.name)
        let second = try studio.render(
            path, [Filter("CISepiaTone", ["intensity": 0.001])], output: .init(format: .heic),
            stem: "second")
        #expect(second.plan.output.chroma == first.plan.output.chroma)
        try VipsTurn.shared {
            let a = try PhotoFile(at: path).image(failOn: .error)
            let b = try PhotoFile(at: studio.path(second.output.name)).image(failOn: .error)
            #expect(try Self.difference(a, b) < 4)
        }
    }
}
