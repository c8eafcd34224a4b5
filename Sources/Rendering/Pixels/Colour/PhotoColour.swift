package import Filters

/// The meaning of a photo's codes: the conversion to linear light with sRGB primaries, and back.
package struct PhotoColour: Sendable, Equatable {
    /// A tone curve each for red, green and blue.
    package let curves: [ToneCurve]
    /// The matrix from linear light of the photo's primaries to linear sRGB, or nil when they are the same.
    package let toWorking: ColourMatrix?
    /// The inverse of ``toWorking``.
    package let fromWorking: ColourMatrix?

    /// sRGB, which is assumed for photos without a profile.
    package static let sRGB = PhotoColour(
        curves: [.sRGB, .sRGB, .sRGB], toWorking: nil, fromWorking: nil)

    private init(curves: [ToneCurve], toWorking: ColourMatrix?, fromWorking: ColourMatrix?) {
        self.curves = curves
        self.toWorking = toWorking
        self.fromWorking = fromWorking
    }

    /// Creates a colour with sRGB's primaries and other curves.
    package init(curves: [ToneCurve]) {
        self.init(curves: curves, toWorking: nil, fromWorking: nil)
    }

    /// Reads the meaning of a matrix profile.
    package init?(_ profile: ICCMatrixProfile) {
        guard let fromXYZ = ColourMatrix.sRGBToXYZ.inverse else { return nil }
        let toWorking = fromXYZ * profile.toXYZ
        guard let fromWorking = toWorking.inverse else { return nil }
        let isSame = toWorking.isNearlyIdentity
        self.init(
            curves: profile.curves, toWorking: isSame ? nil : toWorking,
            fromWorking: isSame ? nil : fromWorking)
    }

    /// Whether 8 bits of these codes would show steps in shadows: the first code is brighter than the fourth of sRGB. A linear
    /// profile is of this kind.
    package var isCoarse: Bool {
        curves.contains { $0.linear(1.0 / 255) > ToneCurve.sRGB.linear(4.0 / 255) }
    }

    /// The same primaries with the curve of sRGB.
    package var withCurveOfSRGB: PhotoColour {
        PhotoColour(
            curves: [.sRGB, .sRGB, .sRGB], toWorking: toWorking, fromWorking: fromWorking)
    }

    /// Linear light of the photo's primaries to XYZ of illuminant D50.
    package var toXYZ: ColourMatrix {
        toWorking.map { ColourMatrix.sRGBToXYZ * $0 } ?? .sRGBToXYZ
    }
}
