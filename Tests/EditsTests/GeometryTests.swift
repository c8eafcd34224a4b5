import Filters
import MinilabTesting
import Testing

@testable import Edits

@Suite("Geometry") struct GeometryTests {
    private let size = PixelSize(width: 600, height: 400)

    private func geometry(
        _ name: String, _ parameters: [String: FilterValue], of size: PixelSize
    ) throws -> Geometry {
        let filter = try Filter(name, parameters)
        guard case .geometry(let make) = filter.definition.kernel else {
            throw Failure(.internalError, "\(name) is no geometry")
        }
        return try make(filter, FilterContext(size: size))
    }

    /// A filter that suits a picture of `size`.
    private func random(_ size: PixelSize, _ generator: inout SeededGenerator) throws -> Geometry {
        let (width, height) = (Double(size.width), Double(size.height))
        func between(_ range: ClosedRange<Double>) -> Double {
            .random(in: range, using: &generator)
        }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0:
            let (x, y) = (between(0...0.3) * width, between(0...0.3) * height)
            return try geometry(
                "CICrop", ["rectangle": .vector([x, y, width * 0.6, height * 0.6])], of: size)
        case 1:
            let degrees = Double(90 * Int.random(in: -3...3, using: &generator))
            return try geometry("turn", ["degrees": .number(degrees)], of: size)
        case 2:
            let axis = Bool.random(using: &generator) ? "horizontal" : "vertical"
            return try geometry("flip", ["axis": .text(axis)], of: size)
        case 3:
            return try geometry(
                "CIStraightenFilter", ["angle": .number(between(-0.7...0.7))], of: size)
        case 4:
            return try geometry(
                "CILanczosScaleTransform",
                ["scale": .number(between(0.5...1.5)), "aspectRatio": .number(between(0.7...1.4))],
                of: size)
        default:
            return try geometry(
                "CIPerspectiveCorrection",
                [
                    "topLeft": [0.1 * width, 0.9 * height], "topRight": [0.8 * width, height],
                    "bottomRight": [0.9 * width, 0.1 * height], "bottomLeft": [0, 0],
                ], of: size)
        }
    }

    @Test func `composed geometries map each point as one after another`() throws {
        var generator = SeededGenerator()
        for _ in 0..<100 {
            var chain = [try random(size, &generator)]
            for _ in 0..<Int.random(in: 1...5, using: &generator) {
                chain.append(try random(chain[chain.count - 1].size, &generator))
            }
            let composed = chain.dropFirst().reduce(chain[0]) { $0.then($1) }
            #expect(composed.source == size && composed.size == chain.last?.size)
            for _ in 0..<10 {
                let end = Point(
                    .random(in: 0...Double(composed.size.width), using: &generator),
                    .random(in: 0...Double(composed.size.height), using: &generator))
                var (point, isInside) = (end, true)
                for step in chain.reversed() {
                    point = step.toSource(point)
                    let edges = Edge.around(PixelRectangle(step.source))
                    isInside = isInside && edges.allSatisfy { $0.distance(to: point) > -1e-6 }
                }
                let found = composed.toSource(end)
                #expect(
                    abs(found.x - point.x) < 1e-6 && abs(found.y - point.y) < 1e-6,
                    "seed \(generator.seed): \(found), not \(point)")
                // What a step in the middle has cut off is not seen in the end.
                let isSeen = composed.edges.allSatisfy { $0.distance(to: end) > -1e-6 }
                #expect(isSeen == isInside, "seed \(generator.seed) at \(end)")
            }
        }
    }

    @Test func `its steps do together what it does`() throws {
        var generator = SeededGenerator()
        for _ in 0..<100 {
            var geometry = try random(size, &generator)
            for _ in 0..<2 { geometry = geometry.then(try random(geometry.size, &generator)) }
            guard let first = geometry.steps.first else { continue }
            let again = geometry.steps.dropFirst().reduce(first) { $0.then($1) }
            #expect(again.size == geometry.size)
            for corner in PixelRectangle(geometry.size).corners {
                let (a, b) = (again.toSource(corner), geometry.toSource(corner))
                #expect(abs(a.x - b.x) < 1e-6 && abs(a.y - b.y) < 1e-6)
            }
        }
    }

    @Test(arguments: Orientation.allCases, Orientation.allCases)
    func `turns make a turn, and one undoes another`(_ first: Orientation, _ second: Orientation)
        throws
    {
        let turned = Geometry(of: size, turn: first)
        let both = turned.then(Geometry(of: turned.size, turn: second))
        #expect(both.isLossless && both.steps.count <= 1)
        if second == first.inverse { #expect(both.kind == .identity) }
    }

    @Test func `crops of crops are one crop, counted from the bottom left`() throws {
        let first = try geometry("CICrop", ["rectangle": [100, 50, 300, 200]], of: size)
        let both = first.then(
            try geometry("CICrop", ["rectangle": [10, 20, 30, 40]], of: first.size))
        #expect(both.kind == .crop(PixelRectangle(x: 110, y: 70, width: 30, height: 40)))
    }

    @Test
    func `a crop in fractions of pixels is rounded edge by edge, so that neighbours still touch`()
        throws
    {
        let left = try geometry("CICrop", ["rectangle": [0.4, 0, 100.1, 10.5]], of: size)
        let right = try geometry("CICrop", ["rectangle": [100.5, 0, 99.4, 10.4]], of: size)
        #expect(left.kind == .crop(PixelRectangle(x: 0, y: 0, width: 101, height: 11)))
        #expect(right.kind == .crop(PixelRectangle(x: 101, y: 0, width: 99, height: 10)))
        let thin = try geometry("CICrop", ["rectangle": [10.6, 0, 0.3, 5]], of: size)
        #expect(thin.kind == .crop(PixelRectangle(x: 10, y: 0, width: 1, height: 5)))
    }

    @Test func `a matrix that turns by a right angle, but for rounding, is a turn`() throws {
        // cos(π/2) is 6e-17.
        let turned = try geometry(
            "CIAffineTransform", ["transform": [6e-17, 1, -1, 6e-17, 0, 0]], of: size)
        #expect(turned.kind == .turn(.left))
        let moved = try geometry(
            "CIAffineTransform", ["transform": [1, 0, 0, 1, 37, -12]], of: size)
        #expect(moved.kind == .identity)
    }

    @Test func `a picture laid aslant and straight again is itself`() throws {
        let corners: [String: FilterValue] = [
            "topLeft": [118, 484], "topRight": [646, 507], "bottomRight": [548, 140],
            "bottomLeft": [155, 153],
        ]
        let aslant = try geometry("CIPerspectiveTransform", corners, of: size)
        #expect(aslant.size == PixelSize(width: 528, height: 367))
        // The result begins at the left of 118 and the bottom of 140.
        let moved: [String: FilterValue] = [
            "topLeft": [0, 344], "topRight": [528, 367], "bottomRight": [430, 0],
            "bottomLeft": [37, 13],
        ]
        let both = aslant.then(try geometry("CIPerspectiveCorrection", moved, of: aslant.size))
        for share in [0.0, 0.3, 1] {
            let point = both.toSource(
                Point(share * Double(both.size.width), share * Double(both.size.height)))
            #expect(abs(point.x - share * 600) < 1e-6 && abs(point.y - share * 400) < 1e-6)
        }
        #expect(both.edges.isEmpty)
    }

    @Test(arguments: [-0.7, -0.1, 0, 0.02, 0.5, 1.5])
    func `a straightened photo keeps its size, has no empty corner, and touches its own edge`(
        _ angle: Double
    ) throws {
        let straight = try geometry("CIStraightenFilter", ["angle": .number(angle)], of: size)
        #expect(straight.size == size && straight.edges.isEmpty)
        let corners = PixelRectangle(size).corners.map { straight.toSource($0) }
        let nearest = corners.flatMap { corner in
            Edge.around(PixelRectangle(size)).map { $0.distance(to: corner) }
        }.min()
        #expect(abs(nearest ?? 1) < 1e-9)
    }

    @Test func `what no picture can become is refused when it is planned`() throws {
        expect(.parameterOutOfRange, naming: "inputRectangle", "600×400") {
            try geometry("CICrop", ["rectangle": [500, 300, 101, 50]], of: size)
        }
        expect(.parameterOutOfRange) {
            try geometry("CICrop", ["rectangle": [-1, 0, 50, 50]], of: size)
        }
        for rectangle: FilterValue in [[10, 10, 0, 5], [10, 10, -5, 5], [10, 10, 5, 0]] {
            expect(.invalidValue, naming: "holds nothing") {
                try geometry("CICrop", ["rectangle": rectangle], of: size)
            }
        }
        for matrix: FilterValue in [
            [0, 0, 0, 0, 0, 0], [1, 2, 2, 4, 0, 0], [1e-9, 0, 0, 1, 0, 0],
        ] {
            expect(.invalidValue, naming: "a line or a point") {
                try geometry("CIAffineTransform", ["transform": matrix], of: size)
            }
        }
        expect(.tooManyPixels) {
            try geometry("CIAffineTransform", ["transform": [1e6, 0, 0, 1e6, 0, 0]], of: size)
        }
        expect(.invalidValue, naming: "multiple of 90") {
            try geometry("turn", ["degrees": 45], of: size)
        }
    }

    @Test(arguments: [
        // Two corners are exchanged, so that the sides cross.
        [[0, 100], [100, 0], [100, 100], [0, 0]],
        // Clockwise: y was counted from the top.
        [[0, 0], [100, 0], [100, 100], [0, 100]],
        // Three on a line, two on one point, a corner that points inward.
        [[0, 100], [100, 100], [50, 50], [0, 0]], [[0, 100], [0, 100], [100, 0], [0, 0]],
        [[0, 100], [30, 30], [100, 0], [0, 0]],
    ])
    func `corners that are no quadrilateral are refused`(_ corners: [[Double]]) throws {
        let names = ["topLeft", "topRight", "bottomRight", "bottomLeft"]
        let parameters = Dictionary(
            uniqueKeysWithValues: zip(names, corners.map(FilterValue.vector)))
        for name in ["CIPerspectiveTransform", "CIPerspectiveCorrection"] {
            expect(.invalidValue, naming: name) { try geometry(name, parameters, of: size) }
        }
    }

    @Test func `coordinates scale with the photo, along the sides as they lie after a turn`() throws
    {
        // 601 × 401 is what a preview of 6000 × 4000 may be: both sides are rounded.
        let turn = try Filter("turn", ["degrees": 90])
        let whole = try Filter("CICrop", ["rectangle": [0, 0, 401, 601]])
        let recipe = try Recipe(
            filters: [turn, whole], referenceSize: PixelSize(width: 601, height: 401))
        let scaled = try recipe.resolved(for: PixelSize(width: 6000, height: 4000))
        let rectangle = scaled.filters[1].vector("inputRectangle")
        #expect(abs(rectangle[2] - 4000) < 1e-6 && abs(rectangle[3] - 6000) < 1e-6)
    }

    @Test func `of a matrix only the shift scales with the photo`() throws {
        let recipe = try Recipe(
            filters: [Filter("CIAffineTransform", ["transform": [0.9, 0.1, -0.1, 0.9, 10, 20]])],
            referenceSize: PixelSize(width: 100, height: 50))
        let scaled = try recipe.resolved(for: PixelSize(width: 1000, height: 500))
        #expect(scaled.filters[0].vector("inputTransform") == [0.9, 0.1, -0.1, 0.9, 100, 200])
    }
}
