package import Adjustments

/// A filter of single pixels whose mathematics can be joined with its neighbours'.
package protocol FusiblePixels: PixelFilter {
    /// Its mathematics; nil when its parameters allow no such form.
    var form: PixelForm? { get }
}

/// The mathematics of a filter of single pixels, in forms that can be joined.
package enum PixelForm: Sendable {
    /// A matrix and an offset of linear light.
    case matrix(ColourTransform)
    /// A function from light to light, the same for red, green and blue; of negative light, too.
    case curve(@Sendable (Double) -> Double)
    /// Matrices and offsets of sRGB-encoded values, cut off outside 0 to 1 after each.
    case encodedMatrices([ColourTransform])

    /// The largest half-precision number: Core Image keeps its pixels in such.
    package static let lightMax = 65_504.0

    /// First this, then `next`; nil when that is neither's form.
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
