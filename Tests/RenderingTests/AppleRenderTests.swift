import Edits
import Editors
import Foundation
import Testing
import Codecs

@testable import Rendering

/// Edits of Apple's Photos, read from their sidecars and rendered here, beside what Photos made of them.
@Suite("Apple's renders") struct AppleRenderTests {
    /// A photo, its sidecar and Apple's render.
    struct Pair: Sendable, CustomTestStringConvertible {
        let photo, sidecar, render: String
        let size: PixelSize
        /// What was measured, and half a code.
        let rmsMax: Double
        var testDescription: String { photo }

        init(
            _ photo: String, _ sidecar: String, _ render: String, _ size: (Int, Int), rmsMax: Double
        ) {
            self.photo = photo
            self.sidecar = sidecar
            self.render = render
            self.size = PixelSize(width: size.0, height: size.1)
            self.rmsMax = rmsMax
        }
    }

    private static let side = 256

    @Test(arguments: [
        // Black and white 0.65. The photo as it is would be off by 33.
        Pair("sunset.jpg", "sunset.AAE", "sunset_rendered.jpg", (1080, 601), rmsMax: 6.7),
        // Black and white -0.59, colour -0.85, light 0.22. As it is: 43.
        Pair("palm.jpg", "palm.AAE", "palm_rendered.jpg", (256, 192), rmsMax: 5.1),
        // The effect 3DDramaticCool. As it is: 19.
        Pair("tulips.jpg", "tulips.AAE", "tulips_rendered.jpg", (256, 171), rmsMax: 7.6),
    ])
    func `a look-alike is as near to Apple's render as it is said to be`(_ pair: Pair) throws {
        try compare(pair, in: Studio.fixture("AAE"))
    }

    /// Columns 1392 to 1519 of a photo that Photos cut to rows 41 to 1365, and the same columns of its render.
    @Test func `a crop is Apple's to the pixel`() throws {
        let photo = EditedPhoto(
            storedSize: PixelSize(width: 128, height: 1367), orientation: .upright)
        let codec = ApplePhoto(lookAlikes: false)
        let pair = Pair("wall.jpg", "", "wall_rendered.jpg", (128, 1325), rmsMax: 1.6)
        for bottom in 0...2 {
            let crop = try Filter("CICrop", ["rectangle": .vector([0, Double(bottom), 128, 1325])])
            let data = try codec.write(try Recipe(filters: [crop]), for: photo)
            let rms = try rms(of: pair, data: data, codec: codec, in: Studio.fixture("AAE"))
            #expect((rms <= pair.rmsMax) == (bottom == 1), "\(rms)")
        }
    }

    @Test(
        .enabled(if: Studio.corpus != nil),
        arguments: [
            Pair(
                "wedding/wedding.jpg", "wedding/wedding.AAE", "wedding/wedding_edited.jpg",
                (1526, 1325), rmsMax: 1.4),
            Pair(
                "IMG_1994/IMG_1994.JPG", "IMG_1994/IMG_1994.AAE", "IMG_1994/IMG_1994_edited.jpeg",
                (4416, 3312), rmsMax: 6.2),
            Pair(
                "effect-6191423D/6191423D.jpeg", "effect-6191423D/6191423D.plist",
                "effect-6191423D/6191423D_rendered.jpeg", (2047, 1365), rmsMax: 6.5),
        ])
    func `whole photos agree as well as the small ones`(_ pair: Pair) throws {
        try compare(pair, in: try #require(Studio.corpus) + "/photos/aae")
    }

    private func compare(_ pair: Pair, in folder: String) throws {
        let file = URL(fileURLWithPath: folder + "/" + pair.sidecar)
        let data = try AAESidecar(bytes: Data(contentsOf: file)).adjustmentData
        let rms = try rms(of: pair, data: data, codec: ApplePhoto(lookAlikes: true), in: folder)
        #expect(rms <= pair.rmsMax)
    }

    private func rms(
        of pair: Pair, data: Data, codec: ApplePhoto, in folder: String
    ) throws -> Double {
        let studio = try Studio()
        let source = folder + "/" + pair.photo
        let stored = try Picture(source, loader: "jpegload")
        let photo = EditedPhoto(
            storedSize: PixelSize(width: stored.width, height: stored.height), orientation: .upright
        )
        guard case .recipe(let recipe) = try codec.read(data, of: photo) else {
            Issue.record("\(try codec.read(data, of: photo))")
            return .infinity
        }
        let ours = try studio.pixels(of: source, recipe.filters)
        let apples = try Picture(folder + "/" + pair.render, loader: "jpegload")
        #expect(PixelSize(width: ours.width, height: ours.height) == pair.size)
        #expect(PixelSize(width: apples.width, height: apples.height) == pair.size)
        return try small(ours).difference(from: small(apples)).rms
    }

    /// In sRGB, its longer side 256 pixels or what it has.
    private func small(_ picture: Picture) throws -> Picture {
        let longer = max(picture.width, picture.height)
        let factor = min(1, Double(Self.side) / Double(longer))
        return try .of(
            picture.image.convertedToSRGB(fallback: "srgb", bits: 8).resized(
                width: Int((Double(picture.width) * factor).rounded()),
                height: Int((Double(picture.height) * factor).rounded())))
    }
}
