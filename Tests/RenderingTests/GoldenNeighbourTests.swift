import Edits
import Testing
import Codecs

@testable import Filters
@testable import Rendering

/// Comparison of neighbourhood filters with pixels that Core Image rendered, in iOS 5 to 8.
///
/// Those blurred, convolved and interpolated encoded values, and mixed linear light; later ones, and our filters,
/// take linear light throughout. So the same mathematics is run on encoded values here, which is what tells whether
/// radius, weights and mixing are right. The golden pictures lie on a transparent ground, which reaches into the photo at its
/// edges: compared is what lies further inside.
///
/// The photos that are JPEGs were decoded by Apple's decoder, which smooths colour in another way than libjpeg;
/// what sharpens shows that.
@Suite("Golden pixels of neighbourhood filters") struct GoldenNeighbourTests {
    private struct Difference {
        var rms = 0.0
        var most = 0
    }

    /// - Parameters:
    ///   - growth: by how much the golden picture is larger on each side.
    ///   - margin: pixels of the photo that are left out on each side.
    private func difference(
        _ source: String, _ filter: (PixelSize) throws -> any NeighbourhoodFilter,
        from golden: String, growth: Int, margin: Int
    ) throws -> Difference {
        let photo = try Picture(Studio.fixture(source))
        // The upper left part of it, so that the test is quick.
        let (width, height) = (min(240, photo.width), min(200, photo.height))
        let codes = (0..<width * height).flatMap { i in
            photo.pixel(i % width, i / width)[0..<3].map { UInt8($0) }
        }
        let size = PixelSize(width: photo.width, height: photo.height)
        let ours = try Image.of(codes, width, height).filtered(filter(size)).pixels()
        let theirs = try Picture(Studio.fixture(golden))
        #expect(theirs.width == photo.width + 2 * growth)
        var (sum, count, most) = (0, 0, 0)
        for y in margin..<height - margin {
            for x in margin..<width - margin {
                let golden = theirs.pixel(x + growth, y + growth)
                for band in 0..<3 {
                    let d = abs(Int(ours[(y * width + x) * 3 + band]) - golden[band])
                    sum += d * d
                    most = max(most, d)
                    count += 1
                }
            }
        }
        return Difference(rms: (Double(sum) / Double(count)).squareRoot(), most: most)
    }

    @Test func `a Gaussian blur of radius 3`() throws {
        let d = try difference(
            "clouds.jpg", { _ in CSSBlur(try Filter("css:blur", ["radius": 3])) },
            from: "gaussian_blur.png", growth: 9, margin: 10)
        #expect(d.rms <= 0.39 + 0.5 && d.most <= 3, "\(d)")
    }

    @Test func `an unsharp mask with its defaults`() throws {
        // Radii inside of other filters were a little larger on that system: 2.64, not 2.5.
        let d = try difference(
            "heron.jpg",
            { _ in CIUnsharpMask(try Filter("CIUnsharpMask", ["radius": 2.64]), space: .encoded) },
            from: "unsharp_mask.png", growth: 0, margin: 10)
        #expect(d.rms <= 0.6 + 0.5 && d.most <= 30, "\(d)")
    }

    @Test func `a convolution that sharpens`() throws {
        let weights: [Double] = [0, -1, 0, -1, 5, -1, 0, -1, 0]
        let d = try difference(
            "heron.jpg",
            { _ in
                OnEncodedValues(
                    filter: Convolution(
                        try Filter("CIConvolution3X3", ["weights": .vector(weights)]), columns: 3,
                        rows: 3))
            }, from: "convolution_3X3.png", growth: 1, margin: 1)
        #expect(d.rms <= 1.3 + 0.5 && d.most <= 20, "\(d)")
    }

    @Test func `a gloom with its defaults`() throws {
        let d = try difference(
            "flower.png",
            { _ in Glow(try Filter("CIGloom", ["radius": 10.4]), brightens: false, space: .encoded)
            },
            from: "gloom.png", growth: 30, margin: 35)
        #expect(d.rms <= 0.27 + 0.5 && d.most <= 3, "\(d)")
    }

    @Test func `a pixellated photo with the defaults`() throws {
        let d = try difference(
            "flower.png",
            { size in OnEncodedValues(filter: CIPixellate(try Filter("CIPixellate"), size)) },
            from: "pixellate.png", growth: 4, margin: 8)
        #expect(d.rms <= 0.3 + 0.5 && d.most <= 3, "\(d)")
    }
}
