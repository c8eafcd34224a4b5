import Edits
import Files
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@testable import Rendering
@testable import Codecs

@Suite("Orientation") struct OrientationTests {
    /// The stored form of an upright picture: the turn that the tag asks for, undone.
    private func stored(_ upright: Image, _ orientation: Int) throws -> Image {
        switch orientation {
        case 2: try upright.mirrored()
        case 3: try upright.turned(.d180)
        case 4: try upright.flipped()
        case 5: try upright.mirrored().turned(.d270)
        case 6: try upright.turned(.d270)
        case 7: try upright.mirrored().turned(.d90)
        case 8: try upright.turned(.d90)
        default: upright
        }
    }

    @Test(arguments: 1...8)
    func `every orientation comes out as the same upright bytes`(_ orientation: Int) throws {
        let studio = try Studio()
        let upright = try TestPicture.image(width: 61, height: 43)
        let source = studio.path("in.tif")
        try Operation.perform(
            "tiffsave",
            [
                (
                    "in",
                    .image(
                        try stored(upright, orientation).inMemory().changing([
                            .setInt("orientation", orientation)
                        ]))
                ),
                ("filename", .string(source)),
            ])
        let sepia = try Filter("CISepiaTone", ["intensity": 0.8])
        let blur = try Filter("CIMotionBlur", ["radius": 3, "angle": 0.5])
        try upright.writePNG(to: studio.path("upright.png"))
        for (name, filters) in [("pixels", [sepia]), ("blur", [blur, sepia])] {
            let expected = try studio.pixels(
                of: studio.path("upright.png"), filters, stem: name + "-expected")
            let report = try studio.render(source, filters, format: .png, stem: name)
            #expect(report.header.orientation == orientation)
            #expect(report.output.size.width == 61 && report.output.size.height == 43)
            let picture = try Picture(studio.path(report.output.name))
            #expect(picture.bytes == expected.bytes)
            #expect(picture.image.int("orientation") ?? 1 == 1)
        }
    }

    @Test(arguments: 1...8)
    func `a mark lies where it lies on the upright photo`(_ orientation: Int) throws {
        let studio = try Studio()
        let upright = try TestPicture.image(width: 61, height: 43)
        let source = studio.path("in.tif")
        let turned = try stored(upright, orientation).inMemory().changing([
            .setInt("orientation", orientation)
        ])
        try Operation.perform(
            "tiffsave", [("in", .image(turned)), ("filename", .string(source))])
        try upright.writePNG(to: studio.path("upright.png"))
        let logo = SyntheticPhoto.png(width: 12, height: 8)
        let digest = "sha256:" + SHA256.hash(data: logo).hex
        _ = try studio.write([UInt8](logo), as: String(digest.dropFirst(7)))
        let mark = try Filter(
            "mark",
            [
                "image": .text(digest), "width": 0.2, "margin": 0.1,
                "focus": .focus(Focus(x: Focus.scale, y: 0)),
            ])
        // 12.2 of 61 wide, 8 high, 4.3 from the edges.
        let blended = try Filter(
            "CISourceOverCompositing", ["inputImage": .text(digest), "position": [45, 4]])
        let expected = try studio.pixels(
            of: studio.path("upright.png"), [blended], stem: "expected", resources: studio.folder)
        let bare = try studio.pixels(of: studio.path("upright.png"), [], stem: "bare")
        #expect(expected.bytes != bare.bytes)
        let report = try studio.render(
            source, [mark], format: .png, stem: "mark", resources: studio.folder)
        #expect(report.recipe.filters == [blended])
        #expect(try Picture(studio.path(report.output.name)).bytes == expected.bytes)
    }

    @Test func `a HEIC that is turned by irot and by EXIF is turned once`() throws {
        let studio = try Studio()
        let report = try studio.render(Studio.fixture("arrow.heic"), [Filter("CIColorInvert")])
        #expect(report.header.orientation == 1)
        #expect(report.output.size.width == 3024 && report.output.size.height == 4032)
        let picture = try Picture(studio.path(report.output.name))
        #expect(picture.image.int("orientation") ?? 1 == 1)
        #expect(picture.image.data("icc-profile-data") != nil)
    }

    @Test(.enabled(if: Studio.corpus != nil), arguments: 1...8)
    func `the eight landscapes of the corpus come out alike`(_ orientation: Int) throws {
        let studio = try Studio()
        let folder = try #require(Studio.corpus) + "/photos/orientation/"
        let sepia = try Filter("CISepiaTone", ["intensity": 0.8])
        let first = try studio.pixels(of: folder + "Landscape_1.jpg", [sepia], stem: "first")
        let other = try studio.pixels(of: folder + "Landscape_\(orientation).jpg", [sepia])
        #expect(other.width == 1800 && other.height == 1200)
        // The files themselves, turned upright by Pillow, differ by 7.0 to 9.2 (each was compressed
        // by itself); a wrong turn differs by 95.
        #expect(first.difference(from: other).rms < 12)
    }
}
