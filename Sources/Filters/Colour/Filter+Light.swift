import Adjustments

extension Filter {
    /// A colour parameter as linear light, not multiplied by its alpha: Core Image manages the colours of
    /// parameters as it does those of pixels (an sRGB colour #ff56ac was measured to enter so).
    func light(_ parameter: String) -> Light {
        let encoded = vector(parameter)
        let light = encoded.prefix(3).map { Float(ToneCurve.sRGB.linear($0)) }
        return Light(red: light[0], green: light[1], blue: light[2], alpha: Float(encoded[3]))
    }

    /// Numbers as a pixel loop takes them.
    func floats(_ parameter: String) -> [Float] { vector(parameter).map(Float.init) }
}

/// A colour in linear light with sRGB primaries.
struct Light: Sendable {
    let red, green, blue, alpha: Float
}
