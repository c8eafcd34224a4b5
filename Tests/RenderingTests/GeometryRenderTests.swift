import Edits
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@testable import Rendering
@testable import Codecs

/// Geometry filters, rendered.
@Suite("Geometry, rendered") struct GeometryRenderTests {
    private func write(_ grid: PixelGrid, orientation: Int, in studio: Studio) throws -> String {
        let path = studio.path("in.tif")
        let image = try grid.stored(orientation).image().changing([
            .setInt("orientation", orientation)
        ])
        try Operation.perform(
            "tiffsave", [("in", .image(image)), ("filename", .string(path))])
        return path
    }

    @Test(arguments: 1...8)
    func `turns, mirrorings and crops of any orientation are the photo's own pixels`(
        _ orientation: Int
    ) throws {
        let studio = try Studio()
        let upright = PixelGrid(width: 61, height: 43)
        let source = try write(upright, orientation: orientation, in: studio)
        let turn = try Filter("turn")
        let half = try Filter("turn", ["degrees": 180])
        let left = try Filter("turn", ["degrees": -90])
        let mirror = try Filter("flip")
        let flip = try Filter("flip", ["axis": "vertical"])
        let crop = try Filter("CICrop", ["rectangle": [5, 9, 40, 21]])
        let narrow = try Filter("CICrop", ["rectangle": [3, 7, 20, 33]])
        let chains: [([Filter], PixelGrid)] = [
            ([crop], upright.cropped(5, 9, 40, 21)),
            ([turn], upright.turned(1)), ([half], upright.turned(2)), ([left], upright.turned(3)),
            ([mirror], upright.mirrored()), ([flip], upright.flipped()),
            ([crop, turn], upright.cropped(5, 9, 40, 21).turned(1)),
            ([turn, narrow], upright.turned(1).cropped(3, 7, 20, 33)),
            ([mirror, narrow, left], upright.mirrored().cropped(3, 7, 20, 33).turned(3)),
            (
                [crop, flip, turn, mirror],
                upright.cropped(5, 9, 40, 21).flipped().turned(1).mirrored()
            ),
            ([turn, left], upright),
        ]
        for (index, (filters, expected)) in chains.enumerated() {
            let report = try studio.render(source, filters, format: .png, stem: "\(index)")
            let picture = try Picture(studio.path(report.output.name))
            #expect(report.output.size == PixelSize(width: picture.width, height: picture.height))
            #expect(PixelGrid(picture) == expected, "\(filters)")
        }
    }

    @Test func `a crop at the bottom left is the bottom left`() throws {
        let studio = try Studio()
        let source = studio.path("in.png")
        var codes: [UInt8] = []
        for y in 0..<4 { for x in 0..<6 { codes += [UInt8(10 * x), UInt8(10 * y), 0] } }
        try Image.fromPixels(codes, width: 6, height: 4, bands: 3).writePNG(to: source)
        let picture = try studio.pixels(
            of: source, [Filter("CICrop", ["rectangle": [0, 0, 2, 1]])])
        #expect(picture.width == 2 && picture.height == 1)
        #expect(picture.pixel(0, 0) == [0, 30, 0] && picture.pixel(1, 0) == [10, 30, 0])
    }

    @Test(arguments: [1, 6, 7])
    func `a filter of single pixels is the same before and after a crop and a turn`(
        _ orientation: Int
    ) throws {
        let studio = try Studio()
        let source = try write(
            PixelGrid(width: 61, height: 43), orientation: orientation, in: studio)
        let sepia = try Filter("CISepiaTone")
        let geometry = [try Filter("CICrop", ["rectangle": [3, 7, 20, 33]]), try Filter("turn")]
        let before = try studio.pixels(of: source, [sepia] + geometry, stem: "before")
        let after = try studio.pixels(of: source, geometry + [sepia], stem: "after")
        let between = try studio.pixels(
            of: source, [geometry[0], sepia, geometry[1]], stem: "between")
        #expect(before.bytes == after.bytes && before.bytes == between.bytes)
    }

    @Test func `a blur after a crop sees nothing of what is cut off`() throws {
        let studio = try Studio()
        let grid = PixelGrid(width: 61, height: 43)
        let blur = try Filter("CIMotionBlur", ["radius": 4, "angle": 0.4])
        try grid.image().writePNG(to: studio.path("whole.png"))
        try grid.cropped(5, 9, 40, 21).image().writePNG(to: studio.path("part.png"))
        let crop = try Filter("CICrop", ["rectangle": [5, 9, 40, 21]])
        let picture = try studio.pixels(of: studio.path("whole.png"), [crop, blur], stem: "a")
        let expected = try studio.pixels(of: studio.path("part.png"), [blur], stem: "b")
        #expect(picture.bytes == expected.bytes)
    }

    private static let resamplings: [[Filter]] = {
        // A filter that is refused would be found by the test that runs over an empty list.
        let made = try? [
            [Filter("CIStraightenFilter", ["angle": 0.05])],
            [Filter("CIStraightenFilter", ["angle": -0.6])],
            [Filter("CIAffineTransform", ["transform": [0.8, 0.5, -0.7, 0.9, 3.3, 1.7]])],
            [Filter("CIAffineTransform", ["transform": [-0.05, 0.02, -0.03, 0.06, 0, 0]])],
            [
                Filter(
                    "CIPerspectiveTransform",
                    [
                        "topLeft": [20, 150], "topRight": [190, 170], "bottomRight": [220, 10],
                        "bottomLeft": [0, 0],
                    ])
            ],
            [
                Filter("CICrop", ["rectangle": [30, 40, 200, 120]]), Filter("turn"),
                Filter("CIStraightenFilter", ["angle": 0.2]), Filter("flip"),
            ],
            [
                Filter(
                    "CIPerspectiveCorrection",
                    [
                        "topLeft": [40, 190], "topRight": [240, 180], "bottomRight": [220, 30],
                        "bottomLeft": [-10, 5],
                    ]), Filter("CILanczosScaleTransform", ["scale": 0.7]),
            ],
        ]
        return made ?? []
    }()

    @Test(arguments: 0..<7, [1, 6])
    func `a resampling is the definition's, once, whatever is folded into it`(
        _ index: Int, _ orientation: Int
    ) throws {
        let filters = Self.resamplings[index]
        let studio = try Studio()
        let grid = PixelGrid(width: 260, height: 200)
        let source = try write(grid, orientation: orientation, in: studio)
        let picture = try studio.pixels(of: source, filters)
        var geometry = Geometry(of: PixelSize(width: 260, height: 200), turn: .upright)
        for filter in filters {
            guard case .geometry(let make) = filter.definition.kernel else { continue }
            geometry = geometry.then(try make(filter, FilterContext(size: geometry.size)))
        }
        #expect(picture.width == geometry.size.width && picture.height == geometry.size.height)
        let (mean, worst) = ReferenceWarp(grid.rows, geometry).difference(from: picture)
        #expect(mean < 0.5 && worst <= 3, "\(mean), \(worst) of 255")
    }

    @Test func `threads and the way of reading change no byte`() throws {
        let studio = try Studio()
        let source = studio.path("in.png")
        try TestPicture.image(width: 900, height: 1300).writePNG(to: source)
        for angle in [0.01, 0.5] {
            let filters = [try Filter("CIStraightenFilter", ["angle": .number(angle)])]
            let one = try studio.pixels(of: source, filters, stem: "one")
            let four = try studio.pixels(of: source, filters, stem: "four", threads: 4)
            #expect(one.bytes == four.bytes)
        }
    }

    @Test func `a fine pattern made small becomes even grey`() throws {
        let studio = try Studio()
        let source = studio.path("in.png")
        let side = 512
        let codes = (0..<side * side).flatMap { index -> [UInt8] in
            let code: UInt8 = (index % side + index / side) % 2 == 0 ? 0 : 255
            return [code, code, code]
        }
        try Image.fromPixels(codes, width: side, height: side, bands: 3).writePNG(to: source)
        // Half of the light is code 188.
        let small = try studio.pixels(
            of: source, [Filter("CILanczosScaleTransform", ["scale": 0.13])], stem: "scaled")
        let aslant = try studio.pixels(
            of: source,
            [
                Filter("CIAffineTransform", ["transform": [0.13, 0.05, -0.05, 0.13, 0, 0]]),
                Filter("CICrop", ["rectangle": [30, 30, 40, 40]]),
            ], stem: "aslant")
        for picture in [small, aslant] {
            let (x, y) = (picture.width / 2, picture.height / 2)
            for dx in -10...10 { #expect(abs(picture.pixel(x + dx, y)[0] - 188) <= 2) }
        }
    }

    @Test func `what the photo does not cover is transparent, and white in a JPEG`() throws {
        let studio = try Studio()
        let source = studio.path("in.png")
        try Image.fromPixels(
            [UInt8](repeating: 0, count: 100 * 100 * 3), width: 100, height: 100, bands: 3
        ).writePNG(to: source)
        let turned = try Filter("CIAffineTransform", ["transform": [0.7, 0.7, -0.7, 0.7, 0, 0]])
        let picture = try studio.pixels(of: source, [turned])
        #expect(picture.bands == 4 && picture.width == 140)
        #expect(picture.pixel(0, 0)[3] == 0 && picture.pixel(70, 70) == [0, 0, 0, 255])
        let report = try studio.render(source, [turned], format: .jpeg, stem: "jpeg")
        let jpeg = try Picture(studio.path(report.output.name))
        #expect(jpeg.pixel(0, 0).allSatisfy { $0 > 250 })
        // A last row that is covered in part: as Core Image has it, and without a bright line in a JPEG.
        let half = try Filter("CILanczosScaleTransform", ["scale": 0.505])
        let small = try studio.pixels(of: source, [half], stem: "half")
        #expect(small.height == 51 && abs(small.pixel(20, 0)[3] - 128) <= 1)
        let whole = try studio.render(source, [half], format: .jpeg, stem: "half")
        #expect(try Picture(studio.path(whole.output.name)).bytes.allSatisfy { $0 < 3 })
    }

    @Test func `Lanczos agrees with Core Image's own pixels`() throws {
        let studio = try Studio()
        let ours = try studio.pixels(
            of: Studio.fixture("heron.jpg"), [Filter("CILanczosScaleTransform", ["scale": 0.5])])
        let golden = try Picture(Studio.fixture("lanczos_scale_transform.png"))
        #expect(ours.width == golden.width && ours.height == golden.height)
        // The document's figure is 0.83; the top row is half covered in both.
        #expect(ours.difference(from: golden).rms <= 0.83 + 0.5)
        #expect(abs(ours.pixel(100, 0)[3] - golden.pixel(100, 0)[3]) <= 1)
    }

    @Test func `a perspective lies where Core Image's own pixels lie`() throws {
        let studio = try Studio()
        let filter = try Filter("CIPerspectiveTransform")
        let source = try Picture(Studio.fixture("heron.jpg"))
        let golden = try Picture(Studio.fixture("perspective_transform.png"))
        let ours = try studio.pixels(of: Studio.fixture("heron.jpg"), [filter])
        #expect(ours.width == golden.width && ours.height == golden.height)
        // Core Image took four pixels' mean of encoded values there, which is softer than ours: 3.1. With
        // that, at the points that are compared, its pixels come out within 0.3.
        #expect(ours.difference(from: golden).rms < 3.5)
        guard case .geometry(let make) = filter.definition.kernel else { return }
        let geometry = try make(
            filter, FilterContext(size: PixelSize(width: source.width, height: source.height)))
        var (sum, count) = (0.0, 0)
        for y in stride(from: 0, to: golden.height, by: 3) {
            for x in stride(from: 0, to: golden.width, by: 3) where golden.pixel(x, y)[3] == 255 {
                let point = geometry.toSource(
                    Point(Double(x) + 0.5, Double(golden.height - y) - 0.5))
                let (u, v) = (point.x - 0.5, Double(source.height) - point.y - 0.5)
                for band in 0..<3 {
                    let d = Self.between(source, u, v, band) - Double(golden.pixel(x, y)[band])
                    sum += d * d
                    count += 1
                }
            }
        }
        #expect((sum / Double(count)).squareRoot() < 0.5)
    }

    private static func between(_ picture: Picture, _ x: Double, _ y: Double, _ band: Int) -> Double
    {
        let (column, row) = (x.rounded(.down), y.rounded(.down))
        let (fx, fy) = (x - column, y - row)
        func at(_ dx: Int, _ dy: Int) -> Double {
            let x = min(max(Int(column) + dx, 0), picture.width - 1)
            let y = min(max(Int(row) + dy, 0), picture.height - 1)
            return Double(picture.bytes[(y * picture.width + x) * picture.bands + band])
        }
        return (at(0, 0) * (1 - fx) + at(1, 0) * fx) * (1 - fy)
            + (at(0, 1) * (1 - fx) + at(1, 1) * fx) * fy
    }

    @Test(arguments: [
        ("CILanczosScaleTransform:scale=100", FailureCode.tooManyPixels),
        ("CIAffineTransform:transform=[300,0,0,300,0,0]", .tooManyPixels),
        ("CICrop:rectangle=[0,0,3000,10]", .parameterOutOfRange),
        ("CICrop:rectangle=[10,10,0,0]", .invalidValue),
        ("CIAffineTransform:transform=[1,1,1,1,0,0]", .invalidValue),
        (
            "CIPerspectiveTransform:topLeft=[0,0],topRight=[9,9],bottomLeft=[0,9],bottomRight=[9,0]",
            .invalidValue
        ),
    ])
    func `what cannot be is refused before a pixel is read`(_ text: String, _ code: FailureCode)
        throws
    {
        let studio = try Studio()
        try TestPicture.image(width: 2400, height: 1600).writeJPEG(
            to: studio.path("whole.jpg"), quality: 50, chroma: .on)
        // Only its header is there: reading a pixel would tell of a damaged photo.
        let bytes = try Picture.file(studio.path("whole.jpg")).prefix(800)
        let source = try studio.write(Array(bytes), as: "header.jpg")
        let failure = #expect(throws: Failure.self) {
            try studio.render(source, [Filter(text: text, at: "filter")])
        }
        #expect(failure?.code == code, "\(String(describing: failure))")
    }

    @Test(arguments: [8, 12, 20])
    func `a picture that is flipped and much enlarged is not read from the top`(_ scale: Double)
        throws
    {
        let studio = try Studio()
        let source = studio.path("in.png")
        try TestPicture.image(width: 40, height: 30).writePNG(to: source)
        // Strips of the result then lie less than a row of the source apart, each above the one before.
        let flip = try Filter(
            "CIAffineTransform",
            ["transform": .vector([scale, scale / 40, scale / 40, -scale, 0, 0])])
        let report = try studio.render(source, [flip], format: .png)
        #expect(report.plan.lane == .spool)
        let picture = try Picture(studio.path(report.output.name))
        #expect(picture.width > 39 * Int(scale))
    }

    @Test func `wild geometry is rendered or refused, and nothing worse`() throws {
        var random = SeededGenerator()
        random.printSeed()
        let studio = try Studio()
        let source = studio.path("in.png")
        try TestPicture.image(width: 40, height: 30).writePNG(to: source)
        var rendered = 0
        for _ in 0..<150 {
            func wild() -> Double {
                let size = pow(10, Double.random(in: -3...5, using: &random))
                return Bool.random(using: &random) ? size : -size
            }
            func point(_ x: Double, _ y: Double) -> FilterValue {
                let spread = Double.random(in: 0...40, using: &random)
                return .vector([
                    x + .random(in: -spread...spread, using: &random),
                    y + .random(in: -spread...spread, using: &random),
                ])
            }
            var filters: [Filter] = []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let corners: [String: FilterValue] = [
                    "topLeft": point(5, 25), "topRight": point(35, 25),
                    "bottomRight": point(35, 5), "bottomLeft": point(5, 5),
                ]
                let choices = [
                    try Filter("CIPerspectiveTransform", corners),
                    try Filter("CIPerspectiveCorrection", corners),
                    try Filter(
                        "CIAffineTransform",
                        ["transform": .vector((0..<6).map { _ in wild() })]),
                    try Filter("CIStraightenFilter", ["angle": .number(min(1.5, abs(wild())))]),
                    try Filter("turn"),
                    try Filter("CICrop", ["rectangle": [3, 2, 20, 15]]),
                ]
                filters.append(choices.randomElement(using: &random) ?? choices[0])
            }
            do {
                _ = try studio.render(source, filters, format: .png, pixelsMax: 300_000)
                rendered += 1
            } catch let failure as Failure {
                #expect(
                    [.invalidValue, .parameterOutOfRange, .tooManyPixels, .exceedsLimit]
                        .contains(failure.code), "\(filters): \(failure)")
            }
        }
        #expect(rendered > 30)
    }
}
