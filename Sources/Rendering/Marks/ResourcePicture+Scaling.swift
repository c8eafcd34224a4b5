import Edits
import Filters

extension ResourcePicture {
    /// Returns the codes of the picture in another size: by Lanczos, in linear light, multiplied by alpha meanwhile.
    func scaled(to size: PixelSize) -> [UInt8] {
        let columns = LanczosTable(
            count: size.width, step: Double(self.size.width) / Double(size.width), offset: 0,
            source: self.size.width)
        let rows = LanczosTable(
            count: size.height, step: Double(self.size.height) / Double(size.height), offset: 0,
            source: self.size.height)
        var codes = [UInt8](repeating: 0, count: 4 * size.pixels)
        // The rows that the next results need, already as narrow as they.
        var narrow: [[Float]] = []
        var first = 0
        var sums = [Float](repeating: 0, count: 4 * size.width)
        for y in 0..<size.height {
            let start = rows.starts[y]
            if start > first {
                narrow.removeFirst(min(start - first, narrow.count))
                first = start
            }
            while first + narrow.count < start + rows.taps {
                narrow.append(row(first + narrow.count, by: columns, size.width))
            }
            for index in sums.indices { sums[index] = 0 }
            for tap in 0..<rows.taps {
                let weight = rows.weights[y * rows.taps + tap]
                guard weight != 0 else { continue }
                narrow[start - first + tap].withUnsafeBufferPointer { line in
                    for index in sums.indices { sums[index] += weight * line[index] }
                }
            }
            Self.write(sums, to: &codes, at: 4 * y * size.width)
        }
        return codes
    }

    /// Returns a row as premultiplied light, reduced to a width.
    private func row(_ y: Int, by columns: LanczosTable, _ width: Int) -> [Float] {
        let line = light(of: y)
        var narrow = [Float](repeating: 0, count: 4 * width)
        for x in 0..<width {
            let start = columns.starts[x]
            var sum = SIMD4<Float>()
            for tap in 0..<columns.taps {
                sum += columns.weights[x * columns.taps + tap] * line[start + tap]
            }
            for channel in 0..<4 { narrow[4 * x + channel] = sum[channel] }
        }
        return narrow
    }

    private func light(of y: Int) -> [SIMD4<Float>] {
        (0..<size.width).map { light(at: 4 * (y * size.width + $0)) }
    }

    private func light(at index: Int) -> SIMD4<Float> {
        let alpha = Float(codes[index + 3]) / 255
        return SIMD4(
            LightCodes.light(codes[index]) * alpha, LightCodes.light(codes[index + 1]) * alpha,
            LightCodes.light(codes[index + 2]) * alpha, alpha)
    }

    /// Writes premultiplied light as codes. Where Lanczos overshoots, light is at most as high as alpha.
    private static func write(_ light: [Float], to codes: inout [UInt8], at start: Int) {
        for index in stride(from: 0, to: light.count, by: 4) {
            let alpha = min(max(light[index + 3], 0), 1)
            guard alpha > 1 / 510 else { continue }
            for channel in 0..<3 {
                codes[start + index + channel] = LightCodes.code(light[index + channel] / alpha)
            }
            codes[start + index + 3] = UInt8(alpha * 255 + 0.5)
        }
    }

    /// Returns the codes of the picture, turned counter-clockwise around its middle: bicubic (Catmull and Rom), in linear light; quarter
    /// turns are exact.
    func turned(by degrees: Double, into size: PixelSize) -> [UInt8] {
        let (cosine, sine) = Rotation.of(degrees)
        var codes = [UInt8](repeating: 0, count: 4 * size.pixels)
        for y in 0..<size.height {
            var line = [Float](repeating: 0, count: 4 * size.width)
            for x in 0..<size.width {
                let right = Double(x) + 0.5 - Double(size.width) / 2
                let down = Double(y) + 0.5 - Double(size.height) / 2
                let u = cosine * right - sine * down + Double(self.size.width) / 2 - 0.5
                let v = sine * right + cosine * down + Double(self.size.height) / 2 - 0.5
                guard u > -2, v > -2, u < Double(self.size.width) + 1,
                    v < Double(self.size.height) + 1
                else { continue }
                let light = interpolated(u, v)
                for channel in 0..<4 { line[4 * x + channel] = light[channel] }
            }
            Self.write(line, to: &codes, at: 4 * y * size.width)
        }
        return codes
    }

    /// Returns the light at a place; the picture is transparent beyond its edges.
    private func interpolated(_ x: Double, _ y: Double) -> SIMD4<Float> {
        let (left, top) = (Int(x.rounded(.down)), Int(y.rounded(.down)))
        let (across, down) = (
            Self.weights(Float(x - Double(left))), Self.weights(Float(y - Double(top)))
        )
        var sum = SIMD4<Float>()
        for row in 0..<4 where down[row] != 0 && (0..<size.height).contains(top + row - 1) {
            for column in 0..<4
            where across[column] != 0 && (0..<size.width).contains(left + column - 1) {
                let index = 4 * ((top + row - 1) * size.width + left + column - 1)
                sum += down[row] * across[column] * light(at: index)
            }
        }
        return sum
    }

    private static func weights(_ t: Float) -> SIMD4<Float> {
        let (t2, t3) = (t * t, t * t * t)
        return SIMD4(
            (-t3 + 2 * t2 - t) / 2, (3 * t3 - 5 * t2 + 2) / 2, (-3 * t3 + 4 * t2 + t) / 2,
            (t3 - t2) / 2)
    }
}
