import Edits
@testable import Rendering
import RenderProtocol
import Testing
import Codecs

@testable import Filters

@Suite("Gaussian blur") struct GaussianBlurTests {
    private static func filter(_ radius: Double, _ edge: String = "clamp") throws -> CIGaussianBlur
    {
        CIGaussianBlur(
            try Filter("CIGaussianBlur", ["radius": .number(radius), "edge": .text(edge)]))
    }

    /// White, black and coloured fields with sharp corners, and noise: what errors show on.
    private static func codes(_ width: Int, _ height: Int) -> [UInt8] {
        let noise = TestPicture.codes(width: width, height: height)
        return (0..<width * height * 3).map { i in
            let (x, y) = (i / 3 % width, i / 3 / width)
            if x > width / 2, y < height / 3 { return 255 }
            if x < width / 3, y > height / 2 { return x == y % 7 ? 255 : 0 }
            return noise[i]
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let radius: Double
        let width: Int, height: Int
        var testDescription: String { "radius \(radius) on \(width)×\(height)" }
    }

    static let cases: [Case] =
        [0.4, 1, 2.9, 3, 6, 8].map { Case(radius: $0, width: 53, height: 41) }
        + [2, 3, 8, 200].flatMap { radius in
            [(1, 1), (1, 30), (44, 1)].map { Case(radius: radius, width: $0.0, height: $0.1) }
        } + [Case(radius: 60, width: 13, height: 11)]

    @Test(arguments: cases)
    func `it is within a code of the exact sum, also beyond the photo's size`(_ given: Case) throws
    {
        let (radius, width, height) = (given.radius, given.width, given.height)
        let codes = Self.codes(width, height)
        let picture = try Image.of(codes, width, height).filtered(Self.filter(radius)).pixels()
        let exact = Plane(width: width, height: height, codes: codes).blurred(radius)
        #expect(exact.greatestDifference(from: picture) <= 1)
    }

    @Test(arguments: [0, 2, 5, 77, 500.0])
    func `what is even stays to the code`(_ radius: Double) throws {
        let codes = [UInt8](repeating: 137, count: 40 * 30 * 3)
        let picture = try Image.of(codes, 40, 30).filtered(Self.filter(radius))
        #expect(try picture.pixels() == codes)
    }

    @Test(arguments: [2.0, 9, 60]) func `the bytes are the same whatever threads and regions ask`(
        _ radius: Double
    ) throws {
        let studio = try Studio()
        let (width, height) = (300, 210)
        let source = studio.path("in.png")
        let image = try Image.of(Self.codes(width, height), width, height)
        try image.writePNG(to: source)
        let filters = [
            try Filter("CIGaussianBlur", ["radius": .number(radius)]),
            try Filter("CIMotionBlur", ["radius": .number(radius), "angle": 0.5]),
        ]
        let once = try studio.pixels(of: source, filters, stem: "1", threads: 1).bytes
        #expect(try studio.pixels(of: source, filters, stem: "2", threads: 2).bytes == once)
        #expect(try studio.pixels(of: source, filters, stem: "4", threads: 4).bytes == once)

        let blurred = try image.filtered(Self.filter(radius))
        let squares = try image.filtered(Self.filter(radius)).computing(
            RegionPicture(
                width: width, height: height, bands: 3, format: .uchar, interpretation: "srgb",
                shape: .squares)
        ) { input, output in
            for row in 0..<output.area.height {
                output.row(row).copyMemory(
                    from: input.row(row), byteCount: output.area.width * 3)
            }
        }
        #expect(try squares.pixels() == blurred.pixels())
    }

    @Test func `the work does not grow with the radius`() {
        let work = [3.0, 8, 20, 100, 500].map {
            GaussianBlur(columns: $0, rows: $0).multiplications
        }
        // 4 for each direction there and back, and what is done on the grid.
        #expect(work.allSatisfy { $0 < 18 } && work[4] < 9)
        #expect(GaussianBlur(columns: 2.9, rows: 2.9).multiplications < 26)
    }

    @Test(arguments: [3.0, 8, 100, 500])
    func `it reads no further ahead than it says, and keeps two rows of the photo`(_ radius: Double)
        throws
    {
        let blur = GaussianBlur(columns: radius, rows: radius)
        let source = CountedRows(RowFormat(width: 8, height: 6000, planes: 1))
        let rows = blur.rows(from: source)
        let out = ScratchRow(width: 8, planes: 1)
        var furthest = 0
        for y in 0..<1200 {
            rows.next(into: out.row)
            furthest = max(furthest, source.made - 1 - y)
        }
        #expect(blur.windowRows == 2)
        #expect(furthest <= blur.ahead && Double(blur.ahead) < 7 * radius + 16)
    }

    @Test
    func `a photo combined with its blur keeps little more of its rows than the blur reaches`() {
        for radius in [1.0, 2.5, 10, 40, 100, 200] {
            let blur = BlurParameters.combined(radius)
            // What the kernel reaches, rounded up to a cell, and four cells to shrink and enlarge.
            #expect(Double(blur.ahead) <= 3.75 * radius + 5 * 16 && blur.ahead <= 816)
        }
    }

    @Test func `with a transparent edge it fades out and the picture grows by three radii`() throws
    {
        let codes = [UInt8](repeating: 255, count: 60 * 50 * 3)
        let blur = try Self.filter(5, "transparent")
        let picture = try Image.of(codes, 60, 50).filtered(blur, alpha: true)
        #expect(picture.width == 90 && picture.height == 80)
        let bytes = try picture.pixels()
        func alpha(_ x: Int, _ y: Int) -> Int { Int(bytes[(y * 90 + x) * 4 + 3]) }
        #expect(alpha(45, 40) == 255 && alpha(0, 40) == 0)
        // On the edge itself half of the light is the photo's.
        #expect((126...129).contains((alpha(14, 40) + alpha(15, 40)) / 2))
        // White stays white where there is anything at all.
        #expect(bytes[(40 * 90 + 15) * 4] >= 254)
    }

    @Test func `a transparent edge is laid on white where the format has no alpha`() throws {
        let studio = try Studio()
        let source = studio.path("in.png")
        try Image.of([UInt8](repeating: 0, count: 60 * 50 * 3), 60, 50).writePNG(to: source)
        let filter = try Filter("CIGaussianBlur", ["radius": 5, "edge": "transparent"])
        let report = try studio.render(source, [filter], format: .jpeg, quality: 1)
        #expect(report.output.size == PixelSize(width: 90, height: 80))
        let picture = try Picture(studio.path(report.output.name))
        #expect(picture.pixel(0, 0).allSatisfy { $0 > 250 })
        #expect(picture.pixel(45, 40).allSatisfy { $0 < 5 })
    }

    @Test func `colour does not bleed out of what is transparent`() throws {
        // Red that is there beside green that is not.
        let codes = (0..<20 * 4).flatMap { i -> [UInt8] in
            i % 20 < 10 ? [255, 0, 0, 255] : [0, 255, 0, 0]
        }
        let bytes = try Image.of(codes, 20, 4, bands: 4).filtered(Self.filter(2)).pixels()
        for i in 0..<20 * 4 where bytes[4 * i + 3] > 0 {
            #expect(bytes[4 * i] == 255 && bytes[4 * i + 1] == 0)
        }
        #expect((126...129).contains((Int(bytes[9 * 4 + 3]) + Int(bytes[10 * 4 + 3])) / 2))
    }

    @Test(arguments: [-1.0, 500.5, 1e6, .infinity])
    func `a radius outside of the catalogue's range is refused`(_ radius: Double) {
        for name in ["CIGaussianBlur", "CIMotionBlur", "CIBoxBlur", "CIDiscBlur", "CIBloom"] {
            let error = #expect(throws: Failure.self) {
                try Filter(name, ["radius": .number(radius)])
            }
            #expect(error?.code == .parameterOutOfRange)
        }
    }
}

/// Rows of zeros that are counted.
private final class CountedRows: RowSource {
    let format: RowFormat
    var made = 0
    init(_ format: RowFormat) { self.format = format }
    func next(into row: PlanarRow) {
        made += 1
        row[0].update(repeating: 0, count: format.width)
    }
}
