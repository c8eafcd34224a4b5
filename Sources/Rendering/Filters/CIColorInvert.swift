/// CIColorInvert: 1 − x on linear light.
///
/// Measured against Core Image's own pixels: RMS 1.00 of 255. It is why the result looks washed out:
/// middle grey 128 becomes 229. Inverting the encoded values instead is off by 63.
struct ColorInvert: SummingFilter {
    func apply(to pixels: PixelChunk) {
        for plane in [pixels.red, pixels.green, pixels.blue] {
            for i in 0..<pixels.count { plane[i] = 1 - plane[i] }
        }
    }

    func index(_ channel: Int, _ light: Double) -> Double { 0 }
    func own(_ light: Double) -> Double { -light }
    func shared(_ channel: Int, _ index: Double) -> Double { 1 }
}
