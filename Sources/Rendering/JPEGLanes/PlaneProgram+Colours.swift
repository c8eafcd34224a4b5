import Edits
import Filters

extension PlaneProgram {
    /// Computes colours: `count` lumas. Their blue and red chromas follow at distances of one `plane` and two.
    func compute(
        _ luma: UnsafePointer<UInt8>, plane: Int, count: Int,
        into results: UnsafeMutablePointer<UInt32>
    ) {
        let capacity = PixelChunk.capacity
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 4 * capacity) { floats in
            guard let memory = floats.baseAddress else { return }
            let alpha = memory + 3 * capacity
            alpha.update(repeating: 1, count: count)
            let chunk = PixelChunk(
                count: count, red: memory, green: memory + capacity, blue: memory + 2 * capacity,
                alpha: alpha)
            read(luma, luma + plane, luma + 2 * plane, into: chunk)
            let channels = [chunk.red, chunk.green, chunk.blue]
            for (channel, plane) in channels.enumerated() {
                colour.curves.decode(plane, channel: channel, count: count)
            }
            if let toWorking = colour.toWorking { chunk.multiply(by: toWorking) }
            chunk.run(filters)
            if let fromWorking = colour.fromWorking { chunk.multiply(by: fromWorking) }
            if let vignette { return vignette.pack(chunk, into: results) }
            for (channel, plane) in channels.enumerated() {
                colour.curves.encode(plane, channel: channel, count: count)
            }
            pack(chunk, into: results)
        }
    }

    private func read(
        _ luma: UnsafePointer<UInt8>, _ blue: UnsafePointer<UInt8>, _ red: UnsafePointer<UInt8>,
        into chunk: PixelChunk
    ) {
        let equations = colour.equations
        let (least, most) = (colour.curves.codesMin, colour.curves.codesMax)
        @inline(__always) func clamped(_ code: Float) -> Float {
            let above = code > least ? code : least
            return above < most ? above : most
        }
        for i in 0..<chunk.count {
            let y = (Float(luma[i]) - equations.black) * equations.scale
            let (b, r) = (Float(blue[i]) - equations.zero, Float(red[i]) - equations.zero)
            chunk.red[i] = clamped(y + equations.redByRed * r)
            chunk.green[i] = clamped(y - equations.greenByBlue * b - equations.greenByRed * r)
            chunk.blue[i] = clamped(y + equations.blueByBlue * b)
        }
    }

    private func pack(_ chunk: PixelChunk, into results: UnsafeMutablePointer<UInt32>) {
        let equations = colour.equations
        for i in 0..<chunk.count {
            let (r, g, b) = (chunk.red[i], chunk.green[i], chunk.blue[i])
            let y = equations.red * r + equations.green * g + equations.blue * b
            results[i] = PackedColour.pack(
                luma: y * equations.lumaCodes + equations.black,
                blue: (b - y) * equations.blueCodes + equations.zero,
                red: (r - y) * equations.redCodes + equations.zero)
        }
    }
}
