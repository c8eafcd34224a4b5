import Edits
import Foundation

/// Resampling by the definition, in Double: the bicubic kernel, as wide as the result asks for, over the whole
/// picture in linear light, which is not made smaller before.
struct ReferenceWarp {
    private let light: [[[Double]]]
    private let geometry: Geometry

    /// - Parameter rows: codes, top row first.
    init(_ rows: [[[UInt8]]], _ geometry: Geometry) {
        light = rows.map { $0.map { $0.map { Reference.decode(Double($0)) } } }
        self.geometry = geometry
    }

    private func kernel(_ x: Double) -> Double {
        let t = abs(x)
        if t < 1 { return 1.5 * t * t * t - 2.5 * t * t + 1 }
        return t < 2 ? -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2 : 0
    }

    private func light(at point: Point, _ stretch: (x: Double, y: Double), _ band: Int) -> Double {
        let (u, v) = (point.x - 0.5, Double(light.count) - point.y - 0.5)
        let (sx, sy) = (max(1, stretch.x), max(1, stretch.y))
        var (sum, weights) = (0.0, 0.0)
        for y in Int(floor(v - 2 * sy))...Int(ceil(v + 2 * sy)) {
            for x in Int(floor(u - 2 * sx))...Int(ceil(u + 2 * sx)) {
                let weight = kernel((Double(x) - u) / sx) * kernel((Double(y) - v) / sy)
                guard weight != 0 else { continue }
                let row = light[min(max(y, 0), light.count - 1)]
                sum += weight * row[min(max(x, 0), row.count - 1)][band]
                weights += weight
            }
        }
        return sum / weights
    }

    /// Mean and greatest difference of codes, where the photo covers whole pixels and is not too near to its
    /// edges, which crops in between repeat.
    func difference(from picture: Picture) -> (mean: Double, worst: Int) {
        var (sum, count, worst) = (0, 0, 0)
        // Every fifth of columns and rows: the definition is slow.
        for y in stride(from: 0, to: picture.height, by: 5) {
            for x in stride(from: 0, to: picture.width, by: 5) {
                let point = Point(Double(x) + 0.5, Double(picture.height - y) - 0.5)
                let stretch = geometry.toSource.stretch(at: point)
                guard geometry.edges.allSatisfy({ $0.distance(to: point) > 3 }),
                    x > 3, y > 3, x < picture.width - 4, y < picture.height - 4
                else { continue }
                for band in 0..<3 {
                    let expected = Reference.encode(
                        light(at: geometry.toSource(point), stretch, band))
                    let d = abs(expected - picture.pixel(x, y)[band])
                    (sum, count, worst) = (sum + d, count + 1, max(worst, d))
                }
            }
        }
        return (Double(sum) / Double(max(count, 1)), worst)
    }
}
