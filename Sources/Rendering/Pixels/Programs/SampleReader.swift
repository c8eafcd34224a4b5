package import Edits
package import Filters

/// Reads interleaved samples into planes of linear light.
package enum SampleReader {
    /// Reads codes through one table per channel. Grey is copied to all three channels. Alpha is 0 to 1.
    @inline(__always)
    package static func read<Code: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ start: UnsafePointer<Code>, bands: Int, scale: Float, _ tables: [Table<Float>],
        _ chunk: PixelChunk
    ) {
        let (red, green, blue) = (chunk.red, chunk.green, chunk.blue)
        let (toRed, toGreen, toBlue) = (tables[0].values, tables[1].values, tables[2].values)
        var pixel = start
        let (second, third) = bands >= 3 ? (1, 2) : (0, 0)
        if bands == 3 {
            for i in 0..<chunk.count {
                red[i] = toRed[Int(truncatingIfNeeded: pixel[0])]
                green[i] = toGreen[Int(truncatingIfNeeded: pixel[1])]
                blue[i] = toBlue[Int(truncatingIfNeeded: pixel[2])]
                pixel += 3
            }
            return
        }
        let alpha = chunk.alpha
        let hasAlpha = bands != 1
        for i in 0..<chunk.count {
            red[i] = toRed[Int(truncatingIfNeeded: pixel[0])]
            green[i] = toGreen[Int(truncatingIfNeeded: pixel[second])]
            blue[i] = toBlue[Int(truncatingIfNeeded: pixel[third])]
            if hasAlpha { alpha[i] = Float(pixel[bands - 1]) * scale }
            pixel += bands
        }
    }

    /// Reads 8-bit codes of three channels and leaves them interleaved.
    package static func readInterleaved(
        _ start: UnsafePointer<UInt8>, _ tables: [Table<Float>],
        into light: UnsafeMutablePointer<Float>, count: Int
    ) {
        let (toRed, toGreen, toBlue) = (tables[0].values, tables[1].values, tables[2].values)
        var (pixel, target) = (start, light)
        for _ in 0..<count {
            target[0] = toRed[Int(truncatingIfNeeded: pixel[0])]
            target[1] = toGreen[Int(truncatingIfNeeded: pixel[1])]
            target[2] = toBlue[Int(truncatingIfNeeded: pixel[2])]
            pixel += 3
            target += 3
        }
    }

    /// Reads linear light that is multiplied by alpha, and divides it by alpha. Where alpha is 0, the colour is 0 too.
    package static func readLinear(
        _ start: UnsafePointer<Float>, bands: Int, _ chunk: PixelChunk
    ) {
        let (red, green, blue) = (chunk.red, chunk.green, chunk.blue)
        let alpha = chunk.alpha
        var pixel = start
        for i in 0..<chunk.count {
            let share = bands == 4 ? pixel[3] : 1
            let factor = share > 0 ? 1 / share : 0
            red[i] = pixel[0] * factor
            green[i] = pixel[1] * factor
            blue[i] = pixel[2] * factor
            alpha[i] = share
            pixel += bands
        }
    }

    /// Reads such light from planes that lie `stride` samples apart.
    package static func readPlanes(
        _ start: UnsafePointer<Float>, stride: Int, bands: Int, _ chunk: PixelChunk
    ) {
        let count = chunk.count
        let colours = [chunk.red, chunk.green, chunk.blue]
        for (plane, colour) in colours.enumerated() {
            colour.update(from: start + plane * stride, count: count)
        }
        guard bands == 4 else { return }
        let alpha = chunk.alpha
        alpha.update(from: start + 3 * stride, count: count)
        for colour in colours {
            for i in 0..<count { colour[i] = alpha[i] > 0 ? colour[i] / alpha[i] : 0 }
        }
    }
}
