import Adjustments
import Glibc

/// CIPhotoEffectMono, a look-alike: black and white with low contrast.
///
///     z = 0.532 R + 0.243 G + 0.224 B     out = zᵖ / (zᵖ + k (1 − z)ᵖ)    p = 1.325, k = 1.579
///
/// on sRGB-encoded values.
struct CIPhotoEffectMono: PixelFilter {
    @section("minilab_filters") @used
    private static let registration: FilterRegistration = { register(definition, in: $0) }

    static let definition = FilterDefinition(
        name: "CIPhotoEffectMono",
        summary: "Turns the photo into black and white with low contrast.",
        category: .photoEffect,
        fidelity: .lookAlike,
        source: """
            Apple's kernel is an unpublished table of colours. Ours is a formula fitted to 127 000 colours of one \
            photo: RMS 8.6 of 255. It is monotone and leaves black and white.
            """,
        kernel: .pixel { _, _ in CIPhotoEffectMono() })

    private static let weights: (Float, Float, Float) = (0.532, 0.243, 0.224)
    private static let exponent = 1.325
    private static let contrast = 1.579
    private static let grey = LightCurve { value in
        let z = min(value, 1)
        let light = pow(z, exponent)
        return light / (light + contrast * pow(1 - z, exponent))
    }

    private let grey = Self.grey

    func apply(to pixels: PixelChunk) {
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        for plane in [red, green, blue] {
            LightCurve.encoding.applySigned(to: plane, count: pixels.count)
        }
        // The weights are given to three digits and add up to 0.999; white has to stay white.
        let sum = Self.weights.0 + Self.weights.1 + Self.weights.2
        let (r, g, b) = (Self.weights.0 / sum, Self.weights.1 / sum, Self.weights.2 / sum)
        for i in 0..<pixels.count { red[i] = r * red[i] + g * green[i] + b * blue[i] }
        grey.apply(to: red, count: pixels.count)
        LightCurve.decoding.apply(to: red, count: pixels.count)
        green.update(from: red, count: pixels.count)
        blue.update(from: red, count: pixels.count)
    }
}
