import Codecs

/// A photo in a form that the pixel programs read: 8 or 16 bits, grey or RGB, with or without alpha, in a known colour space.
struct StandardImage {
    let image: Image
    let layout: PixelProgram.Layout
    let colour: PhotoColour
    /// The profile that defines the meaning of the codes; nil means sRGB.
    let profile: [UInt8]?
    /// Whether the meaning of the codes differs from the original's.
    let isConverted: Bool

    /// Creates a picture with codes of known meaning.
    init(_ image: Image, layout: PixelProgram.Layout, colour: PhotoColour) {
        (self.image, self.layout, self.colour) = (image, layout, colour)
        (profile, isConverted) = (nil, false)
    }

    private static let profileField = "icc-profile-data"
    private static let rgb = ["srgb", "rgb", "rgb16"]
    private static let grey = ["b-w", "grey16"]

    /// Converts a photo from its loader.
    ///
    /// RGB with a matrix profile, or without any, stays unchanged and keeps its profile. RGB with tables (such as XYB), CMYK, and
    /// grey with a profile of its own are converted to sRGB by Little CMS, in 16 bits so that nothing is rounded twice. Grey
    /// without a profile, Lab and floating point are converted to sRGB by libvips. A profile for another kind of picture does not
    /// apply and is dropped.
    init(_ photo: Image) throws(VipsError) {
        let kind = photo.interpretation
        let profile = photo.data(Self.profileField)
        let isCMYK = kind == "cmyk"
        let isIntegers = photo.format == .uchar || photo.format == .ushort
        let isGrey = photo.bands <= 2
        let isPlain =
            isIntegers
            && (Self.rgb.contains(kind) || Self.grey.contains(kind) || kind == "multiband")
        var image = photo
        var known = PhotoColour.sRGB
        var keptProfile: [UInt8]?
        var isConverted = false
        if isCMYK {
            image = try Self.converted(image, colours: 4, fallback: "cmyk")
            isConverted = true
        } else if !isPlain {
            image = try image.converted(to: "rgb16")
            isConverted = true
        } else if let profile, isGrey == Self.isGreyProfile(profile) {
            if !isGrey, let colour = ICCMatrixProfile(profile).flatMap(PhotoColour.init) {
                known = colour
                keptProfile = profile
            } else {
                image = try Self.converted(image, colours: isGrey ? 1 : 3, fallback: "srgb")
                isConverted = true
            }
        }
        self.image = image
        self.isConverted = isConverted
        self.profile = isConverted ? OutputColour.sRGBProfile : keptProfile
        colour = known
        layout = PixelProgram.Layout(
            sample: image.format == .ushort ? .encoded16 : .encoded8,
            bands: min(image.bands, 4))
    }

    private static func isGreyProfile(_ profile: [UInt8]) -> Bool {
        profile.count >= 20 && Array(profile[16..<20]) == Array("GRAY".utf8)
    }

    /// Converts without alpha: with it, libvips 8.14.1's ICC conversion can crash (fixed in 8.14.5).
    private static func converted(_ image: Image, colours: Int, fallback: String)
        throws(VipsError) -> Image
    {
        guard image.bands > colours else {
            return try image.convertedToSRGB(fallback: fallback, bits: 16)
        }
        let alpha = try image.bands(from: colours, count: 1)
            .scaled(by: image.format == .uchar ? 257 : 1, to: .ushort)
        return try image.bands(from: 0, count: colours)
            .convertedToSRGB(fallback: fallback, bits: 16).joined(with: alpha)
    }
}
