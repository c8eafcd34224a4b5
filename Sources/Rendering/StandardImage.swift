import Vips

/// A photo in a form that the pixel programs read: 8 or 16 bits, grey or RGB, alpha or not, and a
/// known colour space.
struct StandardImage {
    let image: Image
    let layout: PixelProgram.Layout
    let colour: PhotoColour

    private static let profileField = "icc-profile-data"

    /// Takes a photo as its loader gives it.
    ///
    /// RGB with a matrix profile, or without any, stays as it is and keeps its profile. All else
    /// (tables, CMYK, grey profiles, Lab) becomes sRGB by Little CMS, and carries sRGB's profile.
    init(_ photo: Image) throws(VipsError) {
        var image = photo
        let kind = image.interpretation
        let isPlain = ["srgb", "rgb", "rgb16", "b-w", "grey16", "multiband"].contains(kind)
        if !isPlain && kind != "cmyk" || image.format == .float || image.format == .other {
            image = try image.converted(to: "srgb")
        }
        let isGrey = image.bands <= 2
        let profile = photo.data(Self.profileField)
        var colour = PhotoColour.sRGB
        if kind == "cmyk" {
            image = try Self.converted(image, colours: 4, fallback: "cmyk")
        } else if let profile, isPlain {
            if !isGrey, let matrix = ICCMatrixProfile(profile), let known = PhotoColour(matrix) {
                colour = known
            } else if isGrey != Self.isGreyProfile(profile) {
                // A profile of another kind of picture says nothing about this one.
                image = try image.changing([.remove(Self.profileField)])
            } else {
                image = try Self.converted(image, colours: isGrey ? 1 : 3, fallback: "srgb")
            }
        } else if profile != nil {
            image = try image.changing([.remove(Self.profileField)])
        }
        self.image = image
        self.colour = colour
        layout = PixelProgram.Layout(
            sample: image.format == .ushort ? .encoded16 : .encoded8,
            bands: min(image.bands, 4))
    }

    private static func isGreyProfile(_ profile: [UInt8]) -> Bool {
        profile.count >= 20 && Array(profile[16..<20]) == Array("GRAY".utf8)
    }

    /// Alpha is set aside: with it, libvips 8.14.1's ICC conversion can crash (fixed in 8.14.5).
    private static func converted(_ image: Image, colours: Int, fallback: String)
        throws(VipsError) -> Image
    {
        let bits = image.format == .ushort ? 16 : 8
        guard image.bands > colours else {
            return try image.convertedToSRGB(fallback: fallback, bits: bits)
        }
        let alpha = try image.bands(from: colours, count: 1)
        return try image.bands(from: 0, count: colours)
            .convertedToSRGB(fallback: fallback, bits: bits).joined(with: alpha)
    }
}
