import Edits
import Filters

/// The meaning of a result's codes, and the profile that declares it.
///
/// The embedded profiles are those of Compact-ICC-Profiles (CC0): 480 bytes each, exact curves.
struct OutputColour {
    /// The conversion from linear light to codes.
    let colour: PhotoColour
    /// The profile, or nil if the original has none either and means sRGB.
    let profile: [UInt8]?
    /// Whether the codes are sRGB, if their meaning differs from the original's; otherwise nil.
    let newColourIsSRGB: Bool?

    static let sRGBProfile = PackageResources.sRGB_icc
    static let displayP3Profile = PackageResources.DisplayP3_icc

    /// Creates the colour that a recipe asks for. A photo of deep codes that are coarse in 8 bits, such as linear ones, gets the
    /// curve of sRGB if the result has 8 bits.
    init(_ asked: Recipe.ColorSpace, from source: StandardImage, bits: Recipe.BitDepth) {
        let isCoarse =
            bits == .eight && source.layout.sample == .encoded16 && source.colour.isCoarse
        switch asked {
        case .source where isCoarse:
            colour = source.colour.withCurveOfSRGB
            newColourIsSRGB = colour == .sRGB
            profile =
                colour == .sRGB
                ? Self.sRGBProfile : ICCProfileBytes.rgb(toXYZ: colour.toXYZ, curve: .sRGB)
        case .source:
            colour = source.colour
            profile = source.profile
            newColourIsSRGB = source.isConverted ? true : nil
        case .srgb:
            colour = .sRGB
            profile = Self.sRGBProfile
            newColourIsSRGB = true
        case .displayP3:
            colour = .displayP3
            profile = Self.displayP3Profile
            newColourIsSRGB = false
        }
    }
}

extension PhotoColour {
    /// Display P3: the primaries of DCI-P3, D65, the curve of sRGB.
    static let displayP3: PhotoColour = {
        guard let profile = ICCMatrixProfile(OutputColour.displayP3Profile),
            let colour = PhotoColour(profile)
        else { preconditionFailure("our own profile of Display P3 cannot be read") }
        return colour
    }()
}
