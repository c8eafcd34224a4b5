import Edits
import Codecs
import MinilabTesting
@testable import Rendering
import Testing

@Suite("A small copy taken from planes") struct PlaneCopyTests {
    /// Sides of photo and copy: whole parts, parts that differ, the size of the planes of chroma.
    @Test(arguments: [
        (PixelSize(width: 64, height: 48), PixelSize(width: 16, height: 12)),
        (PixelSize(width: 61, height: 47), PixelSize(width: 13, height: 9)),
        (PixelSize(width: 62, height: 46), PixelSize(width: 31, height: 23)),
        (PixelSize(width: 70, height: 33), PixelSize(width: 10, height: 3)),
    ])
    func `has the means of the codes`(_ photo: PixelSize, _ size: PixelSize) throws {
        let layout = JPEGLayout(
            width: photo.width, height: photo.height, colour: .ycbcr,
            sampling: [.init(2, 2), .init(1, 1), .init(1, 1)])
        var random = SeededGenerator()
        random.printSeed()
        let planes = JPEGPlanes(layout, mcuRows: layout.mcuRows)
        for plane in planes.planes {
            for index in 0..<plane.stride * plane.mcuHeight * layout.mcuRows {
                plane.start[index] = .random(in: 90...160, using: &random)
            }
        }
        let copy = try #require(PlaneCopy(of: layout, .sRGB, size))
        for row in 0..<layout.mcuRows { copy.add(planes, mcuRow: row, photoRow: row) }
        let pixels = try VipsTurn.shared { try copy.image().image.pixels() }
        for y in 0..<size.height {
            for x in 0..<size.width {
                let mean = (0..<3).map { component in
                    let whole = layout.size(of: component)
                    let plane = planes.planes[component]
                    var (sum, count) = (0.0, 0.0)
                    for row in y * whole.height / size.height..<(y + 1) * whole.height / size.height
                    {
                        for column in x * whole.width / size.width..<(x + 1) * whole.width
                            / size.width
                        {
                            sum += Double(plane.start[row * plane.stride + column])
                            count += 1
                        }
                    }
                    return sum / count
                }
                let (blue, red) = (mean[1] - 128, mean[2] - 128)
                let expected = [
                    mean[0] + 1.402 * red, mean[0] - 0.344136 * blue - 0.714136 * red,
                    mean[0] + 1.772 * blue,
                ]
                let index = 3 * (y * size.width + x)
                for band in 0..<3 {
                    // Means of luma and blue are rounded before the matrix, and the result is: 0.5 · (1 + 1.772 + 1).
                    #expect(abs(Double(pixels[index + band]) - expected[band]) <= 1.9)
                }
            }
        }
    }

    @Test func `is none where a plane has fewer samples`() {
        let layout = JPEGLayout(
            width: 64, height: 48, colour: .ycbcr,
            sampling: [.init(2, 2), .init(1, 1), .init(1, 1)])
        #expect(PlaneCopy(of: layout, .sRGB, PixelSize(width: 33, height: 24)) == nil)
        #expect(PlaneCopy(of: layout, .sRGB, PixelSize(width: 32, height: 25)) == nil)
        #expect(PlaneCopy(of: layout, .sRGB, PixelSize(width: 32, height: 24)) != nil)
    }
}
