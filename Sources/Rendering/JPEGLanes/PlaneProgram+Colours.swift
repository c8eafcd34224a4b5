import Adjustments
import Filters
import Pixels

extension PlaneProgram {
    /// Computes colours: `count` lumas, and `plane` and twice that further their blue and red chromas.
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
            Self.read(luma, luma + plane, luma + 2 * plane, into: chunk)
            for (plane, light) in zip([chunk.red, chunk.green, chunk.blue], light) {
                Self.decode(plane, count, light.values)
            }
            if let toWorking = colour.toWorking { chunk.multiply(by: toWorking) }
            chunk.run(filters)
            if let fromWorking = colour.fromWorking { chunk.multiply(by: fromWorking) }
            if let vignette { return vignette.pack(chunk, into: results) }
            for (plane, curve) in zip([chunk.red, chunk.green, chunk.blue], codes) {
                curve.apply(to: plane, count: count)
            }
            Self.pack(chunk, into: results)
        }
    }

    /// JFIF 1.02, "Conversion to and from RGB". Codes from 0 to 255.
    private static func read(
        _ luma: UnsafePointer<UInt8>, _ blue: UnsafePointer<UInt8>, _ red: UnsafePointer<UInt8>,
        into chunk: PixelChunk
    ) {
        @inline(__always) func clamped(_ code: Float) -> Float {
            let above = code > 0 ? code : 0
            return above < 255 ? above : 255
        }
        for i in 0..<chunk.count {
            let (y, b, r) = (Float(luma[i]), Float(blue[i]) - 128, Float(red[i]) - 128)
            chunk.red[i] = clamped(y + 1.402 * r)
            chunk.green[i] = clamped(y - 0.344136 * b - 0.714136 * r)
            chunk.blue[i] = clamped(y + 1.772 * b)
        }
    }

    /// Light by code; codes between two have light between theirs.
    private static func decode(
        _ plane: UnsafeMutablePointer<Float>, _ count: Int, _ light: UnsafePointer<Float>
    ) {
        for i in 0..<count {
            let entry = Int(truncatingIfNeeded: Int32(plane[i]))
            let low = light[entry]
            plane[i] = low + (light[entry + 1] - low) * (plane[i] - Float(entry))
        }
    }

    private static func pack(_ chunk: PixelChunk, into results: UnsafeMutablePointer<UInt32>) {
        for i in 0..<chunk.count {
            let (r, g, b) = (chunk.red[i], chunk.green[i], chunk.blue[i])
            let y = 0.299 * r + 0.587 * g + 0.114 * b
            results[i] = PackedColour.pack(
                luma: y, blue: (b - y) * (1 / 1.772) + 128, red: (r - y) * (1 / 1.402) + 128)
        }
    }
}

/// The curves of a photo's colour for codes that are no whole numbers.
struct PlaneCurves {
    /// Linear light by code, for red, green, blue; one entry more than codes.
    let light: [Table<Float>]
    /// Code by linear light, for red, green, blue.
    let codes: [LightCurve]

    /// sRGB's own, made once per process: most photos need no others.
    private static let sRGB = PlaneCurves(building: .sRGB)

    init(_ colour: PhotoColour) {
        self = colour.curves == PhotoColour.sRGB.curves ? Self.sRGB : Self(building: colour)
    }

    private init(building colour: PhotoColour) {
        light = colour.curves.map { curve in
            Table(count: 257) { Float(curve.linear(min(Double($0) / 255, 1))) }
        }
        codes = colour.curves.map { curve in LightCurve { curve.encoded($0) * 255 } }
    }
}
