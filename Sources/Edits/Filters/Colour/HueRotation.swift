import Glibc

/// The matrix of the W3C's `feColorMatrix type="hueRotate"` (Filter Effects 1, §9.6).
///
/// It rotates colours about the grey axis and keeps their luminance by the weights 0.213, 0.715, 0.072. CSS applies it to encoded
/// values, Core Image to linear light.
enum HueRotation {
    /// Returns the matrix for an angle in radians.
    static func matrix(angle: Double) -> ColourTransform {
        let (c, s) = (cos(angle), sin(angle))
        return ColourTransform(matrix: [
            0.213 + 0.787 * c - 0.213 * s, 0.715 - 0.715 * c - 0.715 * s,
            0.072 - 0.072 * c + 0.928 * s,
            0.213 - 0.213 * c + 0.143 * s, 0.715 + 0.285 * c + 0.140 * s,
            0.072 - 0.072 * c - 0.283 * s,
            0.213 - 0.213 * c - 0.787 * s, 0.715 - 0.715 * c + 0.715 * s,
            0.072 + 0.928 * c + 0.072 * s,
        ])
    }
}
