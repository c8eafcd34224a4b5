package import Filters

/// What a photo's numbers mean: how to get to linear light with sRGB primaries, and back.
package struct PhotoColour: Sendable, Equatable {
    /// One tone curve for red, green and blue each.
    package let curves: [ToneCurve]
    /// Linear light of the photo's primaries to linear sRGB, or nil when they are the same.
    package let toWorking: ColourMatrix?
    /// The way back.
    package let fromWorking: ColourMatrix?

    /// sRGB: what photos without a profile are taken for.
    package static let sRGB = PhotoColour(
        curves: [.sRGB, .sRGB, .sRGB], toWorking: nil, fromWorking: nil)

    private init(curves: [ToneCurve], toWorking: ColourMatrix?, fromWorking: ColourMatrix?) {
        self.curves = curves
        self.toWorking = toWorking
        self.fromWorking = fromWorking
    }

    /// sRGB's primaries with other curves.
    package init(curves: [ToneCurve]) {
        self.init(curves: curves, toWorking: nil, fromWorking: nil)
    }

    /// The meaning of a matrix profile, or nil when the profile is of another kind.
    package init?(_ profile: ICCMatrixProfile) {
        guard let fromXYZ = ColourMatrix.sRGBToXYZ.inverse else { return nil }
        let toWorking = fromXYZ * profile.toXYZ
        guard let fromWorking = toWorking.inverse else { return nil }
        let isSame = toWorking.isNearlyIdentity
        self.init(
            curves: profile.curves, toWorking: isSame ? nil : toWorking,
            fromWorking: isSame ? nil : fromWorking)
    }
}
