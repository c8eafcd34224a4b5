package import Edits

/// A per-pixel filter whose mathematics can be combined with that of its neighbours in the chain.
package protocol FusiblePixels: PixelFilter {
    /// Its mathematics; nil if its parameters allow no such form.
    var form: PixelForm? { get }
}

/// The mathematics of a per-pixel filter, in forms that can be combined.
package enum PixelForm: Sendable {
    /// A matrix and an offset on linear light.
    case matrix(ColourTransform)
    /// A function from light to light, also negative, the same for red, green and blue.
    case curve(@Sendable (Double) -> Double)
    /// Matrices and offsets on sRGB-encoded values, each clamped to 0 to 1.
    case encodedMatrices([ColourTransform])

    /// The largest half-precision number, the format of Core Image's pixels.
    package static let lightMax = 65_504.0

    /// Returns this form followed by `next`; nil if the two forms cannot be combined.
    func then(_ next: PixelForm) -> PixelForm? {
        switch (self, next) {
        case (.matrix(let first), .matrix(let second)): .matrix(first.then(second))
        case (.curve(let first), .curve(let second)):
            .curve { second(min(max(first($0), -Self.lightMax), Self.lightMax)) }
        case (.encodedMatrices(let first), .encodedMatrices(let second)):
            .encodedMatrices(first + second)
        default: nil
        }
    }
}
