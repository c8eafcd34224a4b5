import Edits
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
