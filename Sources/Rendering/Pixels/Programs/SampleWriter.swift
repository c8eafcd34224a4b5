package import Edits
package import Filters

/// Writes planes of linear light as interleaved samples.
package enum SampleWriter {
    /// Writes 8-bit codes, rounded half up, through one table per channel.
    package static func write8(
        _ chunk: PixelChunk, _ index: UnsafeMutablePointer<Int32>, _ tables: [Table<UInt8>],
        _ start: UnsafeMutablePointer<UInt8>, bands: Int
    ) {
        let count = chunk.count
        let (red, green, blue) = (chunk.red, chunk.green, chunk.blue)
        let indexR = index
        let indexG = indexR + PixelChunk.capacity
        let indexB = indexG + PixelChunk.capacity
        let scale = ColourTables.scale
        for i in 0..<count { indexR[i] = scale.index(red[i]) }
        for i in 0..<count { indexG[i] = scale.index(green[i]) }
        for i in 0..<count { indexB[i] = scale.index(blue[i]) }
        let (codeR, codeG, codeB) = (tables[0].values, tables[1].values, tables[2].values)
        var pixel = start
        if bands == 3 {
            for i in 0..<count {
                pixel[0] = codeR[Int(truncatingIfNeeded: indexR[i])]
                pixel[1] = codeG[Int(truncatingIfNeeded: indexG[i])]
                pixel[2] = codeB[Int(truncatingIfNeeded: indexB[i])]
                pixel += 3
            }
            return
        }
        for i in 0..<count {
            pixel[0] = codeR[Int(truncatingIfNeeded: indexR[i])]
            pixel[1] = codeG[Int(truncatingIfNeeded: indexG[i])]
            pixel[2] = codeB[Int(truncatingIfNeeded: indexB[i])]
            pixel[3] = UInt8(min(max(chunk.alpha[i], 0), 1) * 255 + 0.5)
            pixel += 4
        }
    }

    /// Writes 16-bit codes, rounded half up, by linear interpolation between the points of one table per channel.
    ///
    /// Measured on random light, one core: evaluating a curve for each sample took 49 ns.
    package static func write16(
        _ chunk: PixelChunk, _ tables: [Table<Float>],
        _ start: UnsafeMutablePointer<UInt16>, bands: Int
    ) {
        let scale = ColourTables.scale16
        TablePositions.with { positions in
            for (channel, plane) in [chunk.red, chunk.green, chunk.blue].enumerated() {
                scale.fill(positions, for: plane, count: chunk.count)
                let codes = positions.parts
                positions.lookUp(ends: tables[channel].values, into: codes, count: chunk.count)
                var sample = start + channel
                for i in 0..<chunk.count {
                    sample.pointee = UInt16(truncatingIfNeeded: Int32(codes[i] + 0.5))
                    sample += bands
                }
            }
        }
        guard bands == 4 else { return }
        var sample = start + 3
        for i in 0..<chunk.count {
            sample.pointee = UInt16(min(max(chunk.alpha[i], 0), 1) * 65_535 + 0.5)
            sample += 4
        }
    }

    /// Writes linear light multiplied by alpha, for filters that read neighbours.
    package static func writeLinear(
        _ chunk: PixelChunk,
        _ start: UnsafeMutablePointer<Float>, bands: Int
    ) {
        let (red, green, blue) = (chunk.red, chunk.green, chunk.blue)
        var pixel = start
        if bands == 3 {
            for i in 0..<chunk.count {
                pixel[0] = red[i]
                pixel[1] = green[i]
                pixel[2] = blue[i]
                pixel += 3
            }
            return
        }
        for i in 0..<chunk.count {
            let share = chunk.alpha[i]
            pixel[0] = red[i] * share
            pixel[1] = green[i] * share
            pixel[2] = blue[i] * share
            pixel[3] = share
            pixel += 4
        }
    }

    /// Writes linear light that is not multiplied by alpha.
    package static func writeStraight(
        _ chunk: PixelChunk, _ start: UnsafeMutablePointer<Float>, bands: Int
    ) {
        var pixel = start
        for i in 0..<chunk.count {
            pixel[0] = chunk.red[i]
            pixel[1] = chunk.green[i]
            pixel[2] = chunk.blue[i]
            if bands == 4 { pixel[3] = chunk.alpha[i] }
            pixel += bands
        }
    }

    /// Writes such light into planes that lie `stride` samples apart.
    package static func writePlanes(
        _ chunk: PixelChunk, _ start: UnsafeMutablePointer<Float>, stride: Int, bands: Int
    ) {
        let (count, alpha) = (chunk.count, chunk.alpha)
        for (plane, colour) in [chunk.red, chunk.green, chunk.blue].enumerated() {
            let target = start + plane * stride
            if bands == 4 {
                for i in 0..<count { target[i] = colour[i] * alpha[i] }
            } else {
                target.update(from: colour, count: count)
            }
        }
        if bands == 4 { (start + 3 * stride).update(from: alpha, count: count) }
    }
}

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

    /// Reads linear light that is not multiplied by alpha.
    package static func readStraight(
        _ start: UnsafePointer<Float>, bands: Int, _ chunk: PixelChunk
    ) {
        var pixel = start
        for i in 0..<chunk.count {
            chunk.red[i] = pixel[0]
            chunk.green[i] = pixel[1]
            chunk.blue[i] = pixel[2]
            if bands == 4 { chunk.alpha[i] = pixel[3] }
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

extension PixelChunk {
    /// Applies filters to the pixels.
    package func run(_ filters: [any PixelFilter]) {
        guard !filters.isEmpty else { return }
        limit()
        for filter in filters {
            filter.apply(to: self)
            limit()
        }
    }

    /// Limits values, so that they do not grow to infinity, and then to NaN, over a chain.
    private func limit() {
        let most = Float(PixelForm.lightMax)
        for plane in [red, green, blue] {
            for i in 0..<count {
                // Written so that NaN becomes the lowest value, and so that each comparison is one instruction.
                let above = plane[i] > -most ? plane[i] : -most
                plane[i] = above < most ? above : most
            }
        }
    }

    package func multiply(by matrix: ColourMatrix) { multiply(by: matrix.rows.map(Float.init)) }
}
