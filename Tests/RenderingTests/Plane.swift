import Foundation
import Edits
@testable import Rendering
import Codecs

@testable import Filters

/// A picture in Double, to compare filters with: linear light, three planes, whose outermost pixels go on.
struct Plane {
    let width: Int, height: Int
    var light: [Double]

    init(width: Int, height: Int, codes: [UInt8]) {
        (self.width, self.height) = (width, height)
        light = codes.map { Reference.decode(Double($0)) }
    }

    subscript(x: Int, y: Int, band: Int) -> Double {
        light[
            (min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)) * 3 + band]
    }

    /// Every sample computed anew.
    func map(_ value: (_ x: Int, _ y: Int, _ band: Int) -> Double) -> Plane {
        var result = self
        for y in 0..<height {
            for x in 0..<width {
                for band in 0..<3 { result.light[(y * width + x) * 3 + band] = value(x, y, band) }
            }
        }
        return result
    }

    /// A Gaussian by its definition, cut at 6 σ.
    func blurred(_ sigma: Double) -> Plane {
        let weights = Reference.gaussian(sigma)
        let reach = weights.count / 2
        let rows = map { x, y, band in
            (-reach...reach).reduce(0) { $0 + weights[$1 + reach] * self[x, y + $1, band] }
        }
        return rows.map { x, y, band in
            (-reach...reach).reduce(0) { $0 + weights[$1 + reach] * rows[x + $1, y, band] }
        }
    }

    var codes: [Int] { light.map(Reference.encode) }

    /// The greatest difference of codes.
    func greatestDifference(from bytes: [UInt8]) -> Int {
        zip(codes, bytes).map { abs($0 - Int($1)) }.max() ?? 0
    }
}

extension Reference {
    static func gaussian(_ sigma: Double) -> [Double] {
        let reach = Int((6 * sigma).rounded(.up))
        let weights = (-reach...reach).map { exp(-0.5 * pow(Double($0) / sigma, 2)) }
        let sum = weights.reduce(0, +)
        return weights.map { $0 / sum }
    }
}

/// A filter on encoded values, as Core Image ran its blurs until iOS 8, when the golden pixels were made.
struct OnEncodedValues: NeighbourhoodFilter {
    let filter: any NeighbourhoodFilter
    var reach: Extent { filter.reach }
    var growth: Extent { filter.growth }
    var edge: EdgeMode { filter.edge }

    func rows(from source: any RowSource) -> any RowSource {
        CurvedRows(filter.rows(from: CurvedRows(source, .encoding)), .decoding)
    }
}

extension Image {
    /// 8-bit codes with a neighbourhood filter run over them.
    func filtered(_ filter: any NeighbourhoodFilter, alpha: Bool? = nil) throws -> Image {
        let source = PixelProgram.Layout(sample: .encoded8, bands: bands)
        let keepsAlpha = alpha ?? source.hasAlpha
        return try RowPlan(
            passes: [.neighbourhood(Filter("CIEdges"), filter)], source: source,
            target: .init(sample: .encoded8, bands: keepsAlpha ? 4 : 3), colour: .sRGB,
            targetColour: .sRGB, background: .white
        ).run(over: self)
    }

    static func of(_ codes: [UInt8], _ width: Int, _ height: Int, bands: Int = 3) throws -> Image {
        try VipsLibrary.start()
        return try fromPixels(codes, width: width, height: height, bands: bands)
    }
}
