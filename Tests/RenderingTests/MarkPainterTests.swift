import Codecs
import Edits
import Files
import Foundation
import RenderProtocol
import Testing

@testable import Filters
@testable import Rendering

@Suite("Marks on rows") struct MarkPainterTests {
    private let studio: Studio

    init() throws { studio = try Studio() }

    private static func length(_ pixels: Double) -> Mark.Length {
        Mark.Length(millionths: Int((pixels * 1e6).rounded()))
    }

    /// A picture among the resources; its digest and file.
    private func picture(
        _ width: Int, _ height: Int, _ pixel: (Int, Int) -> [UInt8]
    ) throws -> (digest: String, resources: Resources) {
        var codes: [UInt8] = []
        for y in 0..<height { for x in 0..<width { codes += pixel(x, y) } }
        let path = studio.path("mark.png")
        try Image.fromPixels(codes, width: width, height: height, bands: 4).writePNG(to: path)
        let file = try OpenFile(reading: path)
        let hex = try FileDigest.sha256(of: file).hex
        _ = try studio.write([UInt8](Data(contentsOf: URL(filePath: path))), as: hex)
        return ("sha256:" + hex, Resources(files: ["sha256:" + hex: file]))
    }

    /// The light of a picture of one light after marks, by row and column: red, green, blue.
    private func painted(
        _ marks: [Mark], _ size: PixelSize, light: Float = 0.25, alpha: Float? = nil,
        _ resources: Resources = .none, texts: [PlacedText] = [], coverage: OpenFile? = nil
    ) throws -> [[[Float]]] {
        let planes = alpha == nil ? 3 : 4
        let painter = try MarkPainter(
            marks, in: size, hasAlpha: alpha != nil, resources: resources, texts: texts,
            coverage: coverage, path: "marks")
        let scratch = ScratchRow(width: size.width, planes: planes)
        var rows: [[[Float]]] = []
        for y in 0..<size.height {
            for plane in 0..<planes {
                scratch.row[plane].update(
                    repeating: plane == 3 ? alpha ?? 1 : light, count: size.width)
            }
            painter.draw(on: scratch.row, y: y)
            rows.append((0..<size.width).map { x in (0..<planes).map { scratch.row[$0][x] } })
        }
        return rows
    }

    @Test("The memory of a picture over the whole rendition is estimated, whatever its size")
    func estimatesLargePictures() {
        let mark = Mark(
            .image(
                "sha256:" + String(repeating: "0", count: 64),
                width: Mark.Length(millionths: Focus.scale)))
        let size = PixelSize(width: 9_000, height: 6_000)
        #expect(MarkPainter.bytes(of: [mark], in: size) >= 4 * size.pixels)
    }

    @Test("A picture is drawn at its place with its opacity, and nothing else changes")
    func drawsPicture() throws {
        let (digest, resources) = try picture(10, 5) { _, _ in [255, 0, 0, 255] }
        let mark = Mark(
            .image(digest, width: Self.length(10)), at: Focus(x: Focus.scale, y: 0),
            margin: Self.length(2), isInPixels: true, opacity: 0.5)
        let rows = try painted([mark], PixelSize(width: 40, height: 30), resources)
        for (y, row) in rows.enumerated() {
            for (x, pixel) in row.enumerated() {
                let isInside = (28..<38).contains(x) && (23..<28).contains(y)
                let expected: [Float] = isInside ? [0.625, 0.125, 0.125] : [0.25, 0.25, 0.25]
                for (found, wanted) in zip(pixel, expected) { #expect(abs(found - wanted) < 1e-5) }
            }
        }
    }

    @Test("A mark makes what is clear below it as opaque as itself, and keeps its colour")
    func drawsOverAlpha() throws {
        let (digest, resources) = try picture(4, 4) { _, _ in [255, 0, 0, 255] }
        let mark = Mark(.image(digest, width: Self.length(4)), isInPixels: true, opacity: 0.5)
        // Premultiplied: a light of 0.4 behind an alpha of a half.
        let size = PixelSize(width: 4, height: 4)
        let half = try painted([mark], size, light: 0.2, alpha: 0.5, resources)
        for (found, wanted) in zip(half[1][1], [0.6, 0.1, 0.1, 0.75] as [Float]) {
            #expect(abs(found - wanted) < 1e-5)
        }
        let clear = try painted([mark], size, light: 0, alpha: 0, resources)
        for (found, wanted) in zip(clear[1][1], [0.5, 0, 0, 0.5] as [Float]) {
            #expect(abs(found - wanted) < 1e-5)
        }
    }

    @Test("A mark is mixed as its filter mixes", arguments: Mark.Blend.allCases)
    func mixesAsFilter(blend: Mark.Blend) throws {
        let (digest, resources) = try picture(4, 4) { x, y in
            [UInt8(60 * x), UInt8(60 * y), 200, UInt8(255 - 20 * x)]
        }
        let mark = Mark(
            .image(digest, width: Self.length(4)), at: Focus(x: 0, y: Focus.scale),
            isInPixels: true, blend: blend)
        let rows = try painted([mark], PixelSize(width: 4, height: 4), resources)
        let source = studio.path("grey.png")
        let code = UInt8(Reference.encode(0.25))
        try Image.fromPixels(
            [UInt8](repeating: code, count: 4 * 4 * 3), width: 4, height: 4, bands: 3
        ).writePNG(to: source)
        let filter = try Filter(blend.filterName, ["inputImage": .text(digest)])
        let picture = try studio.pixels(of: source, [filter], resources: studio.folder)
        for y in 0..<4 {
            for x in 0..<4 {
                for band in 0..<3 {
                    let wanted = picture.pixel(x, y)[band]
                    let found = Reference.encode(Double(rows[y][x][band]))
                    #expect(abs(found - wanted) <= 1, "\(blend) \(x) \(y) \(band)")
                }
            }
        }
    }

    @Test("Scaling keeps a colour under any alpha, and means light, not codes")
    func scalesInLight() throws {
        let (digest, resources) = try picture(64, 64) { x, _ in
            x % 2 == 0 ? [255, 255, 255, 255] : [0, 0, 0, 255]
        }
        let mark = Mark(.image(digest, width: Self.length(8)), isInPixels: true)
        let rows = try painted([mark], PixelSize(width: 8, height: 8), light: 0, resources)
        #expect(abs(rows[4][4][0] - 0.5) < 0.01)
        let (clear, others) = try picture(64, 64) { x, y in
            (x / 8 + y / 8) % 2 == 0 ? [200, 100, 50, 255] : [0, 0, 0, 0]
        }
        let layer = try painted(
            [Mark(.image(clear, width: Self.length(13)), isInPixels: true)],
            PixelSize(width: 13, height: 13), light: 0, others)
        let ratio = Reference.decode(100) / Reference.decode(200)
        for pixel in layer.joined() where pixel[0] > 0.1 {
            #expect(abs(Double(pixel[1] / pixel[0]) - ratio) < 0.02)
        }
    }

    @Test("A quarter turn moves pixels, counter-clockwise")
    func turnsPicture() throws {
        let (digest, resources) = try picture(3, 1) { x, _ in
            x == 2 ? [255, 255, 255, 255] : [0, 0, 0, 255]
        }
        let mark = Mark(.image(digest, width: Self.length(3)), isInPixels: true, turn: 90)
        let rows = try painted([mark], PixelSize(width: 3, height: 3), light: 0.5, resources)
        #expect(rows.map { $0[1][0] } == [1, 0, 0])
        #expect(rows.map { $0[0][0] } == [0.5, 0.5, 0.5])
    }

    @Test("Copies of a lattice are all drawn")
    func tiles() throws {
        let (digest, resources) = try picture(2, 2) { _, _ in [255, 255, 255, 255] }
        let mark = Mark(
            .image(digest, width: Self.length(2)), at: Focus(x: 0, y: Focus.scale),
            isInPixels: true, tile: Mark.Tile(stepX: Self.length(4), stepY: Self.length(5)))
        let rows = try painted([mark], PixelSize(width: 12, height: 10), light: 0, resources)
        for (y, row) in rows.enumerated() {
            for (x, pixel) in row.enumerated() {
                #expect(pixel[0] == (x % 4 < 2 && y % 5 < 2 ? 1 : 0), "\(x) \(y)")
            }
        }
    }

    /// A text of one letter: a block of full coverage, with a stroke of a pixel.
    private func text(strokes: Bool) throws -> (Mark, PlacedText, OpenFile) {
        let file = try OpenFile.inMemory(name: "coverage")
        let fill: [UInt8] = [0, 0, 0, 0, 0, 255, 128, 0, 0, 0, 0, 0]
        let outer = [UInt8](repeating: 255, count: 12)
        try file.write([7, 7] + fill + (strokes ? outer : []), at: 0)
        let coverage = TextCoverage(
            box: PixelSize(width: 2, height: 1), left: -1, top: -1,
            size: PixelSize(width: 4, height: 3), planes: strokes ? 2 : 1)
        let own = Mark.Text(
            "i", fonts: ["sha256:"], size: Self.length(3),
            color: Recipe.Background(red: 1, green: 0, blue: 0))
        let mark = Mark(
            .text(own), isInPixels: true,
            stroke: strokes
                ? Mark.Stroke(
                    width: Self.length(1), color: Recipe.Background(red: 0, green: 0, blue: 1))
                : nil)
        return (mark, PlacedText(coverage, offset: 2), file)
    }

    @Test("A text is drawn in its colour by its coverage, with a stroke below")
    func drawsText() throws {
        for strokes in [false, true] {
            let (mark, placed, file) = try text(strokes: strokes)
            let rows = try painted(
                [mark], PixelSize(width: 8, height: 5), light: 0, texts: [placed], coverage: file)
            // The box lies at 3, 2; the coverage a pixel further up and to the left.
            #expect(rows[2][3] == [1, 0, 0])
            #expect(abs(rows[2][4][0] - 128.0 / 255) < 0.01)
            #expect(rows[1][2] == (strokes ? [0, 0, 1] : [0, 0, 0]))
            #expect(rows[0][0] == [0, 0, 0])
        }
    }

    @Test("A shadow lies where it is moved to, in its colour and opacity, below the mark")
    func castsShadow() throws {
        let (digest, resources) = try picture(4, 4) { _, _ in [255, 255, 255, 255] }
        let mark = Mark(
            .image(digest, width: Self.length(4)), at: Focus(x: 0, y: Focus.scale),
            isInPixels: true,
            shadow: Mark.Shadow(
                right: Self.length(6), up: Self.length(-2), blur: .zero, opacity: 0.5))
        let rows = try painted([mark], PixelSize(width: 20, height: 12), light: 0.5, resources)
        #expect(rows[0][0] == [1, 1, 1])
        #expect(abs(rows[3][7][0] - 0.25) < 0.005)
        #expect(rows[3][5] == [0.5, 0.5, 0.5])
        #expect(rows[7][7] == [0.5, 0.5, 0.5])
    }

    @Test(
        "A blurred shadow keeps its weight and has the deviation of half its radius",
        arguments: [
            2.0, 5, 12, 40,
        ]) func blursShadow(radius: Double)
    {
        let side = 301
        var plane = [UInt8](repeating: 0, count: side * side)
        for y in 100..<201 { for x in 150..<151 { plane[y * side + x] = 255 } }
        let blur = BoxBlur(radius: radius)
        blur.run(on: &plane, PixelSize(width: side, height: side))
        let row = plane[150 * side..<151 * side]
        let weights = row.map(Double.init)
        let sum = weights.reduce(0, +)
        let variance =
            weights.enumerated().map { pow(Double($0.offset) - 150, 2) * $0.element }.reduce(0, +)
            / sum
        // Codes are whole numbers: the tails of a wide blur are lost.
        if radius <= 12 {
            #expect(abs(variance.squareRoot() - radius / 2) <= 0.12 * radius / 2 + 0.3)
        }
        #expect(blur.reach <= Int(2 * radius) + 3)
    }

    @Test("A shadow reaches into a rendition from a copy of a lattice that lies outside")
    func drawsShadowsFromOutside() throws {
        let (digest, resources) = try picture(10, 10) { _, _ in [255, 255, 255, 255] }
        // Copies at 5, 45, 85; the one at −35 has its shadow from 0 to 10.
        let mark = Mark(
            .image(digest, width: Self.length(10)), at: Focus(x: 0, y: Focus.scale),
            margin: Self.length(5), isInPixels: true,
            tile: Mark.Tile(stepX: Self.length(40), stepY: Self.length(40)),
            shadow: Mark.Shadow(right: Self.length(35), up: .zero, blur: .zero, opacity: 1))
        let rows = try painted([mark], PixelSize(width: 90, height: 30), resources)
        for period in [0, 40] {
            #expect(rows[7][period][0] == 0 && rows[7][period + 4][0] == 0)
            #expect(abs(rows[7][period + 30][0] - 0.25) < 1e-5)
            #expect(abs(rows[7][period + 10][0] - 1) < 1e-5)
        }
        let bottom = Mark(
            .image(digest, width: Self.length(10)), at: Focus(x: 0, y: Focus.scale),
            isInPixels: true,
            tile: Mark.Tile(stepX: Self.length(40), stepY: Self.length(40)),
            shadow: Mark.Shadow(right: .zero, up: Self.length(25), blur: .zero, opacity: 1))
        let below = try painted([bottom], PixelSize(width: 20, height: 30), resources)
        // The copy at row 40 casts its shadow on the rows 15 to 24.
        #expect(below[14][5][0] == 0.25 && below[15][5][0] == 0 && below[24][5][0] == 0)
    }

    @Test("A lattice that does not fit its rendition is refused by the mark's name")
    func refusesLattice() throws {
        let (digest, resources) = try picture(10, 10) { _, _ in [255, 255, 255, 255] }
        let mark = Mark(
            .image(digest, width: Self.length(10)), isInPixels: true,
            tile: Mark.Tile(stepX: Self.length(4), stepY: Self.length(20)))
        let failure = #expect(throws: Failure.self) {
            try MarkPainter(
                [mark], in: PixelSize(width: 50, height: 50), hasAlpha: false,
                resources: resources, path: "marks")
        }
        #expect(failure?.code == .invalidValue)
        #expect(failure?.message.hasPrefix("marks[0].tile.step") == true)
    }

    @Test("A shadow that covers more pixels than a picture may have is refused, and not left out")
    func refusesLargeShadow() throws {
        let (digest, resources) = try picture(2, 2) { _, _ in [255, 255, 255, 255] }
        func painter(blur: Double) throws {
            _ = try MarkPainter(
                [
                    Mark(
                        .image(digest, width: Self.length(2)), isInPixels: true,
                        shadow: Mark.Shadow(right: .zero, up: .zero, blur: Self.length(blur)))
                ], in: PixelSize(width: 600, height: 600), hasAlpha: false, resources: resources,
                path: "marks")
        }
        try painter(blur: 40)
        let failure = #expect(throws: Failure.self) { try painter(blur: 20_000) }
        #expect(failure?.code == .invalidValue)
        #expect(failure?.message.hasPrefix("marks[0].shadow covers") == true)
    }

    @Test("Shadows of thousands of copies that overlap without end are refused")
    func refusesShadows() throws {
        let (digest, resources) = try picture(2, 2) { _, _ in [255, 255, 255, 255] }
        let mark = Mark(
            .image(digest, width: Self.length(2)), isInPixels: true,
            tile: Mark.Tile(stepX: Self.length(10), stepY: Self.length(10)),
            shadow: Mark.Shadow(right: .zero, up: .zero, blur: Self.length(400)))
        let failure = #expect(throws: Failure.self) {
            try MarkPainter(
                [mark], in: PixelSize(width: 600, height: 600), hasAlpha: false,
                resources: resources, path: "marks")
        }
        #expect(failure?.message.hasPrefix("marks[0].shadow") == true)
    }
}
