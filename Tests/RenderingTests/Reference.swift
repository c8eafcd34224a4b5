import Foundation

/// The formulas once more, in Double and one pixel at a time, to compare with.
enum Reference {
    static func decode(_ code: Double) -> Double {
        let v = code / 255
        return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4)
    }

    static func encode(_ light: Double) -> Int {
        let l = min(max(light, 0), 1)
        let v = l <= 0.0031308 ? 12.92 * l : 1.055 * pow(l, 1 / 2.4) - 0.055
        return Int((v * 255 + 0.5).rounded(.down))
    }

    static func sepia(_ codes: [Int], _ intensity: Double) -> [Int] {
        let x = codes.map { decode(Double($0)) }
        let y = 0.2125 * x[0] + 0.7154 * x[1] + 0.0721 * x[2]
        let brown = [pow(y, 0.8), pow(y, 1.1), y * y]
        return zip(x, brown).map { encode($0 + ($1 - $0) * intensity) }
    }

    /// A motion blur by its definition: a Gaussian of 5 σ to each side, a sample per pixel of the
    /// major axis, straight interpolation across.
    static func motionBlur(
        _ codes: [UInt8], width: Int, height: Int, radius: Double, angle: Double
    ) -> [Int] {
        let light = codes.map { decode(Double($0)) }
        let (dx, dy) = (cos(angle), -sin(angle))
        let major = max(abs(dx), abs(dy))
        let (stepX, stepY) = (dx / major, dy / major)
        let last = Int((5 * radius * major).rounded(.up))
        let weights = (-last...last).map { exp(-0.5 * pow(Double($0) / (radius * major), 2)) }
        let sum = weights.reduce(0, +)
        func at(_ x: Int, _ y: Int, _ band: Int) -> Double {
            let (column, row) = (min(max(x, 0), width - 1), min(max(y, 0), height - 1))
            return light[(row * width + column) * 3 + band]
        }
        var result: [Int] = []
        for y in 0..<height {
            for x in 0..<width {
                for band in 0..<3 {
                    var total = 0.0
                    for (index, weight) in weights.enumerated() {
                        let k = Double(index - last)
                        let (px, py) = (Double(x) + k * stepX, Double(y) + k * stepY)
                        let (ix, iy) = (Int(floor(px + 1e-9)), Int(floor(py + 1e-9)))
                        let (fx, fy) = (px - Double(ix), py - Double(iy))
                        total +=
                            weight
                            * ((at(ix, iy, band) * (1 - fx) + at(ix + 1, iy, band) * fx) * (1 - fy)
                                + (at(ix, iy + 1, band) * (1 - fx) + at(ix + 1, iy + 1, band) * fx)
                                    * fy)
                    }
                    result.append(encode(total / sum))
                }
            }
        }
        return result
    }
}
