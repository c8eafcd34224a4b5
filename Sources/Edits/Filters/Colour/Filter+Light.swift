import Edits

extension Filter {
    /// Returns a colour parameter as linear light, not multiplied by its alpha. Core Image colour-manages parameters like pixels
    /// (measured with the sRGB colour #ff56ac).
    func light(_ parameter: String) -> Light {
        let encoded = vector(parameter)
        let light = encoded.prefix(3).map { Float(ToneCurve.sRGB.linear($0)) }
        return Light(red: light[0], green: light[1], blue: light[2], alpha: Float(encoded[3]))
    }

    /// Returns the numbers of a vector in the type that pixel loops use.
    func floats(_ parameter: String) -> [Float] { vector(parameter).map(Float.init) }
}

/// A colour in linear light with sRGB primaries.
struct Light: Sendable {
    let red, green, blue, alpha: Float
}
