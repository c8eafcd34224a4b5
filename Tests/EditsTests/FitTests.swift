import Edits
import Foundation
import MinilabTesting
import Testing

/// Boxes and rules, each by a picture, a box and what comes of it.
@Suite struct FitTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let picture: PixelSize, fit: Fit, scaled: PixelSize, left: Int, top: Int, size: PixelSize

        init(
            _ picture: (Int, Int), _ box: (Int?, Int?), _ rule: Fit.Rule, enlarges: Bool = false,
            focus: Focus = .center, scaled: (Int, Int), at place: (Int, Int) = (0, 0),
            out: (Int, Int)
        ) {
            self.picture = PixelSize(width: picture.0, height: picture.1)
            fit = Fit(
                box: Fit.Box(width: box.0, height: box.1), rule: rule, enlarges: enlarges,
                focus: focus)
            self.scaled = PixelSize(width: scaled.0, height: scaled.1)
            (left, top) = place
            size = PixelSize(width: out.0, height: out.1)
        }

        var testDescription: String {
            "\(picture) \(fit.rule.rawValue)\(fit.enlarges ? " enlarged" : "") into "
                + "\(fit.box?.width ?? 0)×\(fit.box?.height ?? 0) is \(size)"
        }
    }

    @Test(arguments: [
        Case((6000, 4000), (2048, 2048), .inside, scaled: (2048, 1365), out: (2048, 1365)),
        Case((4000, 6000), (2048, 2048), .inside, scaled: (1365, 2048), out: (1365, 2048)),
        Case((6000, 4000), (1200, nil), .inside, scaled: (1200, 800), out: (1200, 800)),
        Case((3279, 6016), (1800, 1200), .inside, scaled: (654, 1200), out: (654, 1200)),
        Case((300, 200), (1000, 1000), .inside, scaled: (300, 200), out: (300, 200)),
        Case(
            (300, 200), (1000, 1000), .inside, enlarges: true, scaled: (1000, 667), out: (1000, 667)
        ),
        Case((3, 2), (nil, 1617), .inside, enlarges: true, scaled: (2426, 1617), out: (2426, 1617)),
        Case((28, 35), (18, 969), .inside, scaled: (18, 23), out: (18, 23)),
        Case((10000, 10), (100, 100), .inside, scaled: (100, 1), out: (100, 1)),
        Case((5, 3), (2, 2), .inside, scaled: (2, 1), out: (2, 1)),
        Case((6000, 4000), (1080, 1080), .outside, scaled: (1620, 1080), out: (1620, 1080)),
        Case((6000, 4000), (1080, 400), .outside, scaled: (1080, 720), out: (1080, 720)),
        Case((300, 200), (1000, 1000), .outside, scaled: (300, 200), out: (300, 200)),
        Case((4130, 40), (2, 26), .outside, scaled: (2685, 26), out: (2685, 26)),
    ])
    func `A picture touches its box with exact sides, halves rounded up`(_ item: Case) {
        check(item, isCanvas: false)
    }

    @Test(arguments: [
        Case(
            (6000, 4000), (1080, 1080), .cover, scaled: (1620, 1080), at: (270, 0),
            out: (1080, 1080)),
        Case(
            (6000, 4000), (1080, 1920), .cover, scaled: (2880, 1920), at: (900, 0),
            out: (1080, 1920)),
        Case(
            (4000, 6000), (1920, 1080), .cover, scaled: (1920, 2880), at: (0, 900),
            out: (1920, 1080)),
        Case(
            (1500, 1000), (1750, 250), .cover, scaled: (1500, 1000), at: (0, 393), out: (1500, 214)),
        Case(
            (1500, 1000), (1750, 250), .cover, enlarges: true, scaled: (1750, 1167), at: (0, 459),
            out: (1750, 250)),
        Case((500, 500), (1000, 562), .cover, scaled: (500, 500), at: (0, 110), out: (500, 281)),
        Case((300, 200), (200, 400), .cover, scaled: (300, 200), at: (100, 0), out: (100, 200)),
        Case(
            (300, 200), (200, 400), .cover, enlarges: true, scaled: (600, 400), at: (200, 0),
            out: (200, 400)),
        Case((9, 7482), (26, 26), .cover, scaled: (9, 7482), at: (0, 3737), out: (9, 9)),
        Case((101, 100), (50, 50), .cover, scaled: (51, 50), at: (1, 0), out: (50, 50)),
        Case((6000, 4000), (nil, 800), .cover, scaled: (1200, 800), out: (1200, 800)),
        Case(
            (6000, 4000), (1080, 1080), .cover, focus: Focus(x: 250_000, y: 750_000),
            scaled: (1620, 1080), out: (1080, 1080)),
        Case(
            (6000, 4000), (1080, 1920), .cover, focus: Focus(x: 1_000_000, y: 500_000),
            scaled: (2880, 1920), at: (1800, 0), out: (1080, 1920)),
        Case(
            (4000, 6000), (1080, 1080), .cover, focus: Focus(x: 500_000, y: 900_000),
            scaled: (1080, 1620), out: (1080, 1080)),
        Case(
            (500, 500), (1000, 562), .cover, focus: Focus(x: 500_000, y: 200_000),
            scaled: (500, 500), at: (0, 219), out: (500, 281)),
    ])
    func `A picture covers its box, and keeps the box's aspect where it is smaller`(_ item: Case) {
        check(item, isCanvas: false)
    }

    @Test(arguments: [
        Case(
            (6000, 4000), (1000, 1000), .contain, scaled: (1000, 667), at: (0, 166),
            out: (1000, 1000)),
        Case(
            (300, 200), (1000, 1000), .contain, scaled: (300, 200), at: (350, 400),
            out: (1000, 1000)),
        Case(
            (4000, 6000), (1001, 500), .contain, scaled: (333, 500), at: (334, 0), out: (1001, 500)),
        Case((5, 2), (6, nil), .contain, scaled: (5, 2), out: (6, 2)),
    ])
    func `A picture lies on a canvas of its box`(_ item: Case) { check(item, isCanvas: true) }

    @Test(arguments: [
        Case((300, 200), (1000, 1000), .stretch, scaled: (200, 200), out: (200, 200)),
        Case((244, 607), (279, 67), .stretch, scaled: (244, 59), out: (244, 59)),
        Case((496, 1), (2970, 12), .stretch, scaled: (248, 1), out: (248, 1)),
        Case((300, 200), (1000, 50), .stretch, enlarges: true, scaled: (1000, 50), out: (1000, 50)),
    ])
    func `A box shrinks as a whole until no side of a stretched picture grows`(_ item: Case) {
        check(item, isCanvas: false)
    }

    @Test func `A part in fractions is cut in whole pixels, and has at least one`() {
        func part(_ size: (Int, Int), _ crop: (Int, Int, Int, Int)) -> Fit.Window {
            Fit(crop: Fit.Crop(x: crop.0, y: crop.1, width: crop.2, height: crop.3))
                .placement(of: PixelSize(width: size.0, height: size.1)).part
        }
        #expect(
            part((6000, 4000), (100_000, 200_000, 500_000, 500_000))
                == Fit.Window(left: 600, top: 1200, width: 3000, height: 2000))
        #expect(
            part((3, 3), (999_999, 999_999, 1, 1))
                == Fit.Window(left: 2, top: 0, width: 1, height: 1))
    }

    /// The judge is written from the rules, with exact fractions, in another language.
    @Test func `100,000 random pictures and boxes are placed as a judge places them`() throws {
        var random = SeededGenerator(usual: 39)
        var fits: [(size: PixelSize, fit: Fit)] = []
        var lines = ""
        for _ in 0..<100_000 {
            func side() -> Int {
                let high = [10, 100, 10_000].randomElement(using: &random) ?? 10
                return Int.random(in: 1...high, using: &random)
            }
            let size = PixelSize(width: side(), height: side())
            let rule = Fit.Rule.allCases.randomElement(using: &random) ?? .inside
            let missing = rule == .stretch ? 0 : Int.random(in: 0...8, using: &random)
            let box = Fit.Box(
                width: missing == 1 ? nil : side(), height: missing == 2 ? nil : side())
            let focus = Focus(
                x: Int.random(in: 0...20, using: &random) * 50_000,
                y: Int.random(in: 0...1_000_000, using: &random))
            let fit = Fit(box: box, rule: rule, enlarges: .random(using: &random), focus: focus)
            fits.append((size, fit))
            lines +=
                "\(size.width) \(size.height) \(box.width ?? 0) \(box.height ?? 0) \(rule.rawValue) "
                + "\(fit.enlarges ? 1 : 0) \(focus.x) \(focus.y)\n"
        }
        let judged = String(
            decoding: try Tool.run(
                "/usr/bin/python3", ["-c", Self.judge], input: Data(lines.utf8)), as: UTF8.self
        ).split(separator: "\n")
        try #require(judged.count == fits.count)
        var wrong: [String] = []
        for ((size, fit), line) in zip(fits, judged) {
            let made = fit.placement(of: size)
            let ours = [
                made.scaled.width, made.scaled.height, made.shown.left, made.shown.top,
                made.shown.width, made.shown.height, made.size.width, made.size.height, made.left,
                made.top,
            ]
            let line = String(line)
            if ours.map(String.init).joined(separator: " ") != line {
                wrong.append("\(size) in \(fit): \(ours), judged \(line)")
            }
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(3))")
    }

    private static let judge = """
        import sys
        from fractions import Fraction as F
        from math import floor

        half_up = lambda x: floor(x + F(1, 2))

        def scaled(w, h, factor, along_width):
            if along_width: return int(w * factor), max(1, half_up(h * factor))
            return max(1, half_up(w * factor)), int(h * factor)

        for line in sys.stdin:
            w, h, b, d, rule, enlarge, fx, fy = line.split()
            w, h, b, d, enlarge = int(w), int(h), int(b), int(d), int(enlarge)
            fx, fy = F(int(fx), 10**6), 1 - F(int(fy), 10**6)
            one_side = not b or not d
            if rule == 'stretch':
                shrink = F(1) if enlarge else min(F(1), F(w, b), F(h, d))
                sides = max(1, half_up(b * shrink)), max(1, half_up(d * shrink))
                size = sides
            else:
                ratios = ([(F(b, w), True)] if b else []) + ([(F(d, h), False)] if d else [])
                within = rule in ('inside', 'contain') or one_side
                factor, along = (min if within else max)(ratios, key=lambda r: r[0])
                grows = factor > 1 and not enlarge
                sides = (w, h) if grows else scaled(w, h, factor, along)
                if rule == 'contain':
                    size = (b or sides[0], d or sides[1])
                elif rule == 'cover' and not one_side:
                    size = (b, d)
                    if grows:
                        shrink = min(F(w, b), F(h, d))
                        size = max(1, half_up(b * shrink)), max(1, half_up(d * shrink))
                else:
                    size = sides
            places = []
            for side, result, focus in ((sides[0], size[0], fx), (sides[1], size[1], fy)):
                cut = min(max(half_up(focus * side - F(result, 2)), 0), side - result) if side > result else 0
                places.append((cut, floor((result - side) * focus) if side <= result else 0))
            print(*sides, places[0][0], places[1][0], min(sides[0], size[0]), min(sides[1], size[1]),
                  *size, places[0][1], places[1][1])
        """

    private func check(_ item: Case, isCanvas: Bool) {
        let placement = item.fit.placement(of: item.picture)
        #expect(placement.part == Fit.Window(item.picture))
        #expect(placement.scaled == item.scaled)
        #expect(placement.size == item.size)
        let place =
            isCanvas ? (placement.left, placement.top) : (placement.shown.left, placement.shown.top)
        #expect(place == (item.left, item.top))
    }
}
