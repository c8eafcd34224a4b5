@testable import Edits
import Filters
import Foundation
import MinilabTesting
import Testing

@testable import Rendering

/// A picture of linear light in one plane or several, in double precision.
struct LightPicture {
    let width: Int, height: Int, planes: Int
    /// Plane by plane, row by row.
    var light: [Double]

    init(
        width: Int, height: Int, planes: Int = 1,
        _ value: (_ x: Int, _ y: Int, _ plane: Int) -> Double
    ) {
        (self.width, self.height, self.planes) = (width, height, planes)
        light = (0..<planes).flatMap { plane in
            (0..<height).flatMap { y in (0..<width).map { value($0, y, plane) } }
        }
    }

    subscript(x: Int, y: Int, plane: Int) -> Double {
        light[
            (plane * height + min(max(y, 0), height - 1)) * width + min(max(x, 0), width - 1)]
    }

    /// The Lanczos kernel with three lobes, by its definition, from this picture at once.
    func reduced(_ columns: ReductionAxis, _ rows: ReductionAxis) -> LightPicture {
        let across = Self.weights(columns), down = Self.weights(rows)
        let narrow = LightPicture(width: columns.count, height: height, planes: planes) {
            x, y, plane in
            across[x].reduce(0) { $0 + $1.weight * self[$1.index, y, plane] }
        }
        return LightPicture(width: columns.count, height: rows.count, planes: planes) {
            x, y, plane in
            down[y].reduce(0) { $0 + $1.weight * narrow[x, $1.index, plane] }
        }
    }

    private static func weights(_ axis: ReductionAxis) -> [[(index: Int, weight: Double)]] {
        func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(.pi * x) / (.pi * x) }
        let width = max(1, axis.step)
        return (0..<axis.count).map { number in
            let centre = axis.offset + (Double(number) + 0.5) * axis.step
            let first = Int((centre - 3 * width).rounded(.down)) - 1
            let last = Int((centre + 3 * width).rounded(.up)) + 1
            let all = (first...last).map { index -> (index: Int, weight: Double) in
                let x = (Double(index) + 0.5 - centre) / width
                return (index, abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0)
            }
            let sum = all.reduce(0) { $0 + $1.weight }
            return all.map { ($0.index, $0.weight / sum) }
        }
    }

    /// Through the tree of reducers.
    func through(_ reductions: [Reduction]) throws -> [LightPicture] {
        var tree = LightTree(RowFormat(width: width, height: height, planes: planes))
        let sinks = reductions.map { LightCollector($0, planes: planes) }
        for (reduction, sink) in zip(reductions, sinks) { tree.add(reduction, into: sink) }
        for y in 0..<height {
            let room = tree.root.room
            for plane in 0..<planes {
                for x in 0..<width { room[plane][x] = Float(self[x, y, plane]) }
            }
            try tree.root.take()
        }
        return sinks.map(\.picture)
    }

    /// Root mean square of the difference in codes of sRGB.
    func difference(from other: LightPicture) -> Double {
        let sum = zip(light, other.light).reduce(0.0) { sum, pair in
            func code(_ light: Double) -> Double {
                255 * ToneCurve.sRGB.encoded(min(max(light, 0), 1))
            }
            let difference = code(pair.0) - code(pair.1)
            return sum + difference * difference
        }
        return (sum / Double(light.count)).squareRoot()
    }
}

/// Collects rows of light.
final class LightCollector: LightSink {
    private let row: ScratchRow
    private let size: PixelSize, planes: Int
    private var rows: [[Double]] = []

    init(_ reduction: Reduction, planes: Int) {
        size = PixelSize(width: reduction.columns.count, height: reduction.rows.count)
        self.planes = planes
        row = ScratchRow(width: size.width, planes: planes)
    }

    var room: PlanarRow { row.row }

    func take() {
        rows.append(
            (0..<planes).flatMap { plane in
                (0..<size.width).map { Double(row.row[plane][$0]) }
            })
    }

    var picture: LightPicture {
        precondition(rows.count == size.height, "\(rows.count) of \(size.height) rows came")
        return LightPicture(width: size.width, height: size.height, planes: planes) {
            rows[$1][$2 * size.width + $0]
        }
    }
}

extension Reduction {
    /// A reduction of a whole picture.
    init(_ full: (Int, Int), to size: (Int, Int)) {
        self.init(
            columns: ReductionAxis(
                count: size.0, step: Double(full.0) / Double(size.0), offset: 0),
            rows: ReductionAxis(
                count: size.1, step: Double(full.1) / Double(size.1), offset: 0))
    }
}

@Suite("Reductions of light") struct ReductionTests {
    /// Hard edges at all angles, fine waves, and noise: harder than photos.
    private static func scene(_ width: Int, _ height: Int) -> LightPicture {
        var random = SeededGenerator(seed: 5)
        let noise = (0..<width * height).map { _ in Double.random(in: -0.05...0.05, using: &random)
        }
        return LightPicture(width: width, height: height) { x, y, _ in
            let (u, v) = (Double(x) / Double(width), Double(y) / Double(height))
            let angle = atan2(v - 0.5, u - 0.5)
            let star = sin(24 * angle) > 0 ? 0.7 : 0.1
            let wave = 0.1 * sin(Double(x) * 0.4) * cos(Double(y) * 0.13)
            return min(max(star + wave + noise[y * width + x], 0), 1)
        }
    }

    @Test func `are as near to one direct reduction as is promised`() throws {
        let (width, height) = (1199, 803)
        let scene = Self.scene(width, height)
        let sizes = [
            (1199, 803), (798, 534), (600, 402), (399, 267), (320, 214), (160, 107), (33, 22),
            // The least ratios after one halving and two.
            (413, 276), (206, 138),
        ]
        let reductions = sizes.map { Reduction((width, height), to: $0) }
        for (made, (size, reduction)) in zip(try scene.through(reductions), zip(sizes, reductions))
        {
            let direct = scene.reduced(reduction.columns, reduction.rows)
            let difference = made.difference(from: direct)
            // Photos keep 0.7 at all sizes above 160 pixels; see MEASURED.md beside the code.
            #expect(difference <= (size.0 <= 206 ? 1.1 : 0.7), "\(size): \(difference)")
        }
    }

    @Test func `move nothing`() throws {
        let (width, height) = (643, 421)
        for (x, y) in [(320, 210), (101, 333), (555, 77)] {
            let dot = LightPicture(width: width, height: height) { column, row, _ in
                let distance = pow(Double(column - x), 2) + pow(Double(row - y), 2)
                return exp(-distance / 800)
            }
            let sizes = [(400, 262), (201, 131), (107, 70), (60, 40)]
            let reductions = sizes.map { Reduction((width, height), to: $0) }
            for (made, size) in zip(try dot.through(reductions), sizes) {
                var (sum, across, down) = (0.0, 0.0, 0.0)
                for row in 0..<size.1 {
                    for column in 0..<size.0 {
                        let light = made[column, row, 0]
                        sum += light
                        across += light * (Double(column) + 0.5)
                        down += light * (Double(row) + 0.5)
                    }
                }
                let found = (
                    across / sum * Double(width) / Double(size.0),
                    down / sum * Double(height) / Double(size.1)
                )
                let ratio = Double(width) / Double(size.0)
                #expect(abs(found.0 - Double(x) - 0.5) / ratio <= 0.02, "\(size): \(found)")
                #expect(abs(found.1 - Double(y) - 0.5) / ratio <= 0.02, "\(size): \(found)")
            }
        }
    }

    @Test(arguments: [
        (Fit(box: .init(width: 200, height: 200), rule: .cover)),
        (Fit(box: .init(width: 90, height: 300), rule: .cover, focus: Focus(x: 900_000, y: 0))),
        (Fit(
            box: .init(width: 150, height: 40), rule: .cover,
            crop: .init(x: 100_000, y: 200_000, width: 700_000, height: 500_000))),
    ])
    func `of a part are the part of the reduction`(_ fit: Fit) throws {
        let (width, height) = (643, 421)
        let scene = Self.scene(width, height)
        let placement = fit.placement(of: PixelSize(width: width, height: height))
        let cut = Reduction(placement)
        let whole = Fit.Placement(
            part: placement.part, scaled: placement.scaled, shown: Fit.Window(placement.scaled),
            size: placement.scaled, left: 0, top: 0)
        let made = try scene.through([cut, Reduction(whole)])
        for y in 0..<placement.shown.height {
            for x in 0..<placement.shown.width {
                let expected = made[1][x + placement.shown.left, y + placement.shown.top, 0]
                #expect(abs(made[0][x, y, 0] - expected) < 0.5 / 255)
            }
        }
    }

    /// Whatever else is made, and of whichever planes.
    @Test func `have the same bits in any company`() throws {
        let (width, height) = (501, 333)
        let scene = LightPicture(width: width, height: height, planes: 4) { x, y, plane in
            Double((x * 7 + y * 13 + plane * 29) % 256) / 255
        }
        let sizes = [(501, 333), (300, 200), (160, 107), (77, 51), (10, 7), (700, 466), (501, 20)]
        let reductions = sizes.map { Reduction((width, height), to: $0) }
        let together = try scene.through(reductions)
        for (made, reduction) in zip(together, reductions) {
            #expect(try scene.through([reduction])[0].light == made.light)
        }
        #expect(together[0].light == scene.light.map { Double(Float($0)) })
    }

    /// One plane, three together, and the fourth are summed in loops of their own.
    @Test func `have the same bits in each plane`() throws {
        let (width, height) = (1301, 97)
        let grey = LightPicture(width: width, height: height) { x, y, _ in
            Double((x * 37 + y * 101) % 251) / 250
        }
        let sizes = [(650, 48), (651, 49), (434, 97), (300, 20), (1301, 96), (1500, 120), (9, 5)]
        let reductions = sizes.map { Reduction((width, height), to: $0) }
        let alone = try grey.through(reductions)
        for planes in [3, 4] {
            let same = LightPicture(width: width, height: height, planes: planes) { x, y, _ in
                grey[x, y, 0]
            }
            for (made, expected) in zip(try same.through(reductions), alone) {
                for plane in 0..<planes {
                    let count = expected.light.count
                    #expect(made.light[plane * count..<(plane + 1) * count] == expected.light[...])
                }
            }
        }
    }

    @Test func `of each size of odd and tiny pictures come to an end`() throws {
        for (width, height) in [(1, 1), (1, 40), (40, 1), (2, 3), (17, 5)] {
            let grey = LightPicture(width: width, height: height) { _, _, _ in 0.25 }
            let sizes = [
                (1, 1), (width, height), (3, 1), (1, 9), (64, 50), (max(1, width / 2), height),
            ]
            let reductions = sizes.map { Reduction((width, height), to: $0) }
            for made in try grey.through(reductions) {
                #expect(made.light.allSatisfy { abs($0 - 0.25) < 1e-5 })
            }
        }
    }

    /// The estimate counts what is allocated, within a tenth.
    @Test(arguments: [[(2048, 1365)], [(2048, 1365), (640, 427), (160, 107)], [(9000, 6000)]])
    func `take the memory that is estimated`(_ sizes: [(Int, Int)]) {
        let format = RowFormat(width: 6000, height: 4000, planes: 3)
        let reductions = sizes.map { Reduction((6000, 4000), to: $0) }
        let found = RowMemory.bytes(on: format) { source in
            var tree = LightTree(format)
            for reduction in reductions { tree.add(reduction, into: NoLight()) }
            return source
        }
        let estimate = LightTree.bytes(format, reductions)
        #expect(estimate >= found && estimate <= found * 5 / 4 + 100_000, "\(estimate), \(found)")
    }
}

private final class NoLight: LightSink {
    var room: PlanarRow { preconditionFailure("no row is made") }
    func take() {}
}
