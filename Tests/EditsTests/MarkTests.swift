import Foundation
import Testing

@testable import Edits

@Suite("Marks") struct MarkTests {
    private static let digest = "sha256:" + String(repeating: "a", count: 64)

    private static func mark(_ json: String) throws -> Mark {
        try Mark(
            JSONValue(
                parsing: json.replacingOccurrences(of: "DIGEST", with: "\"\(digest)\""), as: "mark"),
            at: "marks[0]")
    }

    @Test(
        "A mark is read and written with its values and without its defaults",
        arguments: [
            #"{"image":DIGEST,"width":0.12}"#,
            #"{"blend":"multiply","focus":[1,0],"image":DIGEST,"margin":0.02,"opacity":0.5,"tile":{"stagger":true,"step":[0.3,0.2],"turn":30},"turn":-45,"width":0.12}"#,
            #"{"fonts":[DIGEST],"size":0.03,"text":"© {creator}"}"#,
            #"{"axes":{"wght":700},"color":[1,0,0],"focus":[0,1],"fonts":[DIGEST,DIGEST],"index":2,"lang":"de","maxWidth":0.5,"missing":"skip","overflow":"fail","shadow":{"blur":2,"color":[0,0,0],"offset":[1,-1],"opacity":0.5},"size":40,"stroke":{"color":[0,0,0],"width":1.5},"text":"a\nb","unit":"px"}"#,
        ]) func survivesWriting(json: String) throws
    {
        let expected = json.replacingOccurrences(of: "DIGEST", with: "\"\(Self.digest)\"")
        #expect(try Self.mark(json).json.canonical == expected)
    }

    @Test("Places of the compass are points of the rendition")
    func readsPlaces() throws {
        let mark = try Self.mark(#"{"image":DIGEST,"width":0.1,"at":"southeast"}"#)
        #expect(mark.at == Focus(x: Focus.scale, y: 0))
    }

    @Test(
        "A rule that is broken is reported with the field's name",
        arguments: [
            (#"{"width":0.1}"#, FailureCode.missingField, "marks[0]"),
            (#"{"image":DIGEST,"text":"a","width":0.1}"#, .invalidValue, "marks[0]"),
            (#"{"image":DIGEST}"#, .missingField, "marks[0].width"),
            (#"{"image":"logo.png","width":0.1}"#, .invalidValue, "marks[0].image"),
            (#"{"image":DIGEST,"width":0}"#, .invalidValue, "marks[0].width"),
            (#"{"image":DIGEST,"width":5}"#, .invalidValue, "marks[0].width"),
            (#"{"image":DIGEST,"width":0.1,"size":0.1}"#, .unknownField, "marks[0].size"),
            (
                #"{"image":DIGEST,"width":0.1,"stroke":{"width":0.1}}"#, .unknownField,
                "marks[0].stroke"
            ),
            (#"{"image":DIGEST,"width":0.1,"at":"top"}"#, .invalidValue, "marks[0].at"),
            (#"{"image":DIGEST,"width":0.1,"margin":-1}"#, .invalidValue, "marks[0].margin"),
            (#"{"image":DIGEST,"width":0.1,"unit":"em"}"#, .invalidValue, "marks[0].unit"),
            (#"{"image":DIGEST,"width":0.1,"blend":"hue"}"#, .invalidValue, "marks[0].blend"),
            (#"{"image":DIGEST,"width":0.1,"opacity":1.1}"#, .invalidValue, "marks[0].opacity"),
            (#"{"image":DIGEST,"width":0.1,"turn":400}"#, .invalidValue, "marks[0].turn"),
            (#"{"image":DIGEST,"width":0.1,"tile":{}}"#, .missingField, "marks[0].tile.step"),
            (
                #"{"image":DIGEST,"width":0.1,"tile":{"step":[0,1]}}"#, .invalidValue,
                "marks[0].tile.step"
            ),
            (
                #"{"image":DIGEST,"width":0.1,"tile":{"step":[1]}}"#, .invalidValue,
                "marks[0].tile.step"
            ),
            (
                #"{"image":DIGEST,"width":0.1,"shadow":{"offset":[0,0]}}"#, .missingField,
                "marks[0].shadow.blur"
            ),
            (
                #"{"image":DIGEST,"width":0.1,"shadow":{"offset":[0,9],"blur":0}}"#, .invalidValue,
                "marks[0].shadow.offset"
            ),
            (#"{"text":"a","size":0.1}"#, .missingField, "marks[0].fonts"),
            (#"{"text":"a","fonts":[],"size":0.1}"#, .invalidValue, "marks[0].fonts"),
            (#"{"text":"a","fonts":["x.ttf"],"size":0.1}"#, .invalidValue, "marks[0].fonts[0]"),
            (#"{"text":"a","fonts":[DIGEST]}"#, .missingField, "marks[0].size"),
            (#"{"text":"","fonts":[DIGEST],"size":0.1}"#, .invalidValue, "marks[0].text"),
            (#"{"text":"a\tb","fonts":[DIGEST],"size":0.1}"#, .invalidValue, "marks[0].text"),
            (
                #"{"text":"Anna\u009Bgpj","fonts":[DIGEST],"size":0.1}"#, .invalidValue,
                "marks[0].text"
            ),
            (
                #"{"text":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11","fonts":[DIGEST],"size":0.1}"#,
                .oversizedField, "marks[0].text"
            ),
            (
                #"{"text":"a","fonts":[DIGEST],"size":0.1,"color":[1,1]}"#, .invalidValue,
                "marks[0].color"
            ),
            (
                #"{"text":"a","fonts":[DIGEST],"size":0.1,"lang":"d_e"}"#, .invalidValue,
                "marks[0].lang"
            ),
            (
                #"{"text":"a","fonts":[DIGEST],"size":0.1,"axes":{"weight":7}}"#, .invalidValue,
                "marks[0].axes"
            ),
            (
                #"{"text":"a","fonts":[DIGEST],"size":0.1,"index":-1}"#, .invalidValue,
                "marks[0].index"
            ),
            (
                #"{"text":"a","fonts":[DIGEST],"size":0.1,"maxWidth":0}"#, .invalidValue,
                "marks[0].maxWidth"
            ),
            (
                #"{"text":"a","fonts":[DIGEST],"size":0.1,"missing":"box"}"#, .invalidValue,
                "marks[0].missing"
            ),
            (
                #"{"text":"a","fonts":[DIGEST],"size":0.1,"stroke":{"color":[0,0,0]}}"#,
                .missingField, "marks[0].stroke.width"
            ),
        ]) func refuses(json: String, code: FailureCode, field: String) throws
    {
        let failure = #expect(throws: Failure.self) { try Self.mark(json) }
        #expect(failure?.code == code)
        #expect(failure?.message.hasPrefix(field) == true, "\(failure?.message ?? "")")
    }

    @Test("A text of 10,000 emoji is refused before a font is read")
    func refusesLongText() {
        let text = String(repeating: "😀", count: 10_000)
        let failure = #expect(throws: Failure.self) {
            try Self.mark(#"{"text":"\#(text)","fonts":[DIGEST],"size":0.1}"#)
        }
        #expect(failure?.code == .oversizedField)
    }

    @Test("A rendition has at most eight marks")
    func refusesNineMarks() throws {
        let mark = #"{"image":"\#(Self.digest)","width":0.1}"#
        func read(_ count: Int) throws -> Rendition {
            let marks = [String](repeating: mark, count: count).joined(separator: ",")
            return try Rendition(
                JSONValue(parsing: "{\"marks\":[\(marks)]}", as: "rendition"), at: "web")
        }
        #expect(try read(8).marks.count == 8)
        let failure = #expect(throws: Failure.self) { try read(9) }
        #expect(failure?.code == .oversizedField)
    }

    @Test("Each blend mode is a filter of the catalogue", arguments: Mark.Blend.allCases)
    func namesFilters(blend: Mark.Blend) {
        #expect(FilterCatalogue.definition(named: blend.filterName) != nil)
    }
}

@Suite("Places of marks") struct MarkPlacementTests {
    private static func image(
        _ at: String, width: Double = 0.1, margin: Double = 0, turn: Double = 0,
        tile: Mark.Tile? = nil
    ) -> Mark {
        Mark(
            .image("sha256:", width: length(width)), at: Focus.named[at] ?? .center,
            margin: length(margin), turn: turn, tile: tile)
    }

    private static func length(_ value: Double) -> Mark.Length {
        Mark.Length(millionths: Int((value * 1e6).rounded()))
    }

    private static func size(_ width: Int, _ height: Int) -> PixelSize {
        PixelSize(width: width, height: height)
    }

    @Test(
        "A picture's width is a fraction of the rendition's, rounded half up; its height follows",
        arguments: [
            (
                PixelSize(width: 400, height: 100), 0.12, PixelSize(width: 2048, height: 1365),
                PixelSize(width: 246, height: 62)
            ),
            (
                PixelSize(width: 400, height: 100), 0.125, PixelSize(width: 100, height: 100),
                PixelSize(width: 13, height: 3)
            ),
            (
                PixelSize(width: 3, height: 2), 0.5, PixelSize(width: 6, height: 6),
                PixelSize(width: 3, height: 2)
            ),
            (
                PixelSize(width: 1000, height: 1), 0.01, PixelSize(width: 300, height: 200),
                PixelSize(width: 3, height: 1)
            ),
            (
                PixelSize(width: 100, height: 100), 0.0001, PixelSize(width: 300, height: 200),
                PixelSize(width: 1, height: 1)
            ),
        ]) func scales(picture: PixelSize, width: Double, rendition: PixelSize, expected: PixelSize)
    {
        let scaled = Self.image("center").size(
            of: picture, width: Self.length(width), in: rendition)
        #expect(scaled.size == expected)
        #expect(!scaled.isReduced)
    }

    @Test(
        "A mark that is larger than the rendition is reduced to fit",
        arguments: [
            (
                PixelSize(width: 100, height: 100), 2.0, 0.0, PixelSize(width: 300, height: 200),
                PixelSize(width: 200, height: 200)
            ),
            (
                PixelSize(width: 100, height: 400), 1.0, 0.0, PixelSize(width: 300, height: 200),
                PixelSize(width: 50, height: 200)
            ),
            (
                PixelSize(width: 400, height: 100), 4.0, 90.0, PixelSize(width: 300, height: 200),
                PixelSize(width: 201, height: 50)
            ),
            (
                PixelSize(width: 10, height: 9000), 1.0, 0.0, PixelSize(width: 30, height: 20),
                PixelSize(width: 1, height: 20)
            ),
        ]) func reduces(
            picture: PixelSize, width: Double, turn: Double, rendition: PixelSize,
            expected: PixelSize
        )
    {
        let scaled = Self.image("center", turn: turn).size(
            of: picture, width: Self.length(width), in: rendition)
        #expect(scaled.isReduced)
        let box = scaled.size.turned(by: turn)
        #expect(box.width <= rendition.width && box.height <= rendition.height)
        // One step of the height is several of the width.
        #expect(abs(scaled.size.width - expected.width) <= 1)
        #expect(abs(scaled.size.height - expected.height) <= 1)
    }

    @Test(
        "A mark lies at its place with its margin, halves up from left and top",
        arguments: [
            ("northwest", 20, 20), ("north", 450, 20), ("northeast", 879, 20),
            ("west", 20, 325), ("center", 450, 325), ("east", 879, 325),
            ("southwest", 20, 629), ("south", 450, 629), ("southeast", 879, 629),
        ]) func places(at: String, left: Int, top: Int) throws
    {
        // 1000 − 101 = 899 → 449.5 → 450; 700 − 51 = 649 → 324.5 → 325; the margin is 0.0286 × 700 = 20.02.
        let placement = try Self.image(at, margin: 0.0286).placement(
            of: Self.size(101, 51), in: Self.size(1000, 700), at: "marks[0]")
        #expect(placement.stamps == [.init(left: left, top: top)])
        #expect(placement.size == Self.size(101, 51))
    }

    @Test(
        "A margin without room gives way, and the mark stays inside",
        arguments: [
            "northwest", "southeast", "center", "west",
        ]) func staysInside(at: String) throws
    {
        let placement = try Self.image(at, margin: 4).placement(
            of: Self.size(90, 100), in: Self.size(100, 100), at: "marks[0]")
        let stamp = try #require(placement.stamps.first)
        #expect((0...10).contains(stamp.left))
        #expect(stamp.top == 0)
    }

    @Test("A lattice covers the rendition from the mark at its place")
    func tiles() throws {
        let tile = Mark.Tile(stepX: Self.length(0.5), stepY: Self.length(0.5))
        let placement = try Self.image("northwest", tile: tile).placement(
            of: Self.size(20, 10), in: Self.size(200, 100), at: "marks[0]")
        #expect(placement.stamps.count == 4 * 2)
        #expect(Set(placement.stamps.map(\.left)) == [0, 50, 100, 150])
        #expect(Set(placement.stamps.map(\.top)) == [0, 50])
    }

    @Test("A copy outside of the rendition is drawn if its shadow reaches inside")
    func keepsShadows() throws {
        let tile = Mark.Tile(stepX: Self.length(0.5), stepY: Self.length(0.5))
        let rendition = Self.size(200, 100)
        func lefts(_ drawing: Fit.Window?) throws -> [Int] {
            let placement = try Self.image("northwest", tile: tile).placement(
                of: Self.size(20, 10), in: rendition, drawing: drawing, at: "marks[0]")
            return Set(placement.stamps.map(\.left)).sorted()
        }
        // 35 pixels to the right and left: the copy at −50 reaches to 5, that at 200 to 165.
        #expect(try lefts(nil) == [0, 50, 100, 150])
        #expect(
            try lefts(Fit.Window(left: 0, top: 0, width: 55, height: 10)) == [
                -50, 0, 50, 100, 150,
            ])
        #expect(
            try lefts(Fit.Window(left: -35, top: 0, width: 55, height: 10)) == [
                0, 50, 100, 150, 200,
            ])
        // A copy of which nothing is inside is left out: the ink of a text may lie beside its box.
        #expect(
            try lefts(Fit.Window(left: 50, top: 0, width: 5, height: 10)) == [-50, 0, 50, 100])
    }

    @Test("Every other row of a staggered lattice is moved by half a step")
    func staggers() throws {
        let tile = Mark.Tile(
            stepX: Self.length(0.5), stepY: Self.length(0.5), isStaggered: true)
        let placement = try Self.image("northwest", tile: tile).placement(
            of: Self.size(20, 10), in: Self.size(200, 100), at: "marks[0]")
        #expect(Set(placement.stamps.filter { $0.top == 50 }.map(\.left)) == [25, 75, 125, 175])
    }

    @Test("A turned lattice keeps the distances of its marks, and covers the corners")
    func turns() throws {
        let tile = Mark.Tile(stepX: Self.length(0.2), stepY: Self.length(0.2), turn: 30)
        let rendition = Self.size(1000, 500)
        let placement = try Self.image("center", tile: tile).placement(
            of: Self.size(60, 20), in: rendition, at: "marks[0]")
        #expect(placement.size == Self.size(60, 20).turned(by: 30))
        let anchor = try #require(
            placement.stamps.first { $0 == .init(left: 469, top: 226) }
                ?? placement.stamps.min { abs($0.left - 469) < abs($1.left - 469) })
        let nearest = placement.stamps.filter { $0 != anchor }.map {
            hypot(Double($0.left - anchor.left), Double($0.top - anchor.top))
        }.min()
        #expect(abs((nearest ?? 0) - 100) <= 1.5)
        // Each tenth of the area has a mark within a step.
        for x in stride(from: 0, through: 1000, by: 100) {
            for y in stride(from: 0, through: 500, by: 50) {
                let found = placement.stamps.contains {
                    hypot(
                        Double($0.left + placement.size.width / 2 - x),
                        Double($0.top + placement.size.height / 2 - y)) <= 110
                }
                #expect(found)
            }
        }
    }

    @Test(
        "Copies that would overlap, or are too many, are refused with the field's name",
        arguments: [
            (0.05, PixelSize(width: 200, height: 100)),
            (0.001, PixelSize(width: 16_000, height: 16_000)),
        ]) func refusesLattices(step: Double, rendition: PixelSize)
    {
        let tile = Mark.Tile(stepX: Self.length(step), stepY: Self.length(step))
        let failure = #expect(throws: Failure.self) {
            try Self.image("center", tile: tile).placement(
                of: Self.size(10, 10), in: rendition, at: "marks[3]")
        }
        #expect(failure?.code == .invalidValue)
        #expect(failure?.message.hasPrefix("marks[3].tile.step") == true)
    }

    @Test("Quarter turns are exact", arguments: [0.0, 90, 180, 270, 360, -90, -270])
    func turnsExactly(degrees: Double) {
        let (cosine, sine) = Rotation.of(degrees)
        #expect(abs(cosine) + abs(sine) == 1)
        #expect(abs(cosine - cos(degrees * .pi / 180)) < 1e-9)
        #expect(abs(sine - sin(degrees * .pi / 180)) < 1e-9)
    }
}
