import Codecs
import Edits
import Filters
import PhotoFiles

/// The meaning of codes that a file declares by numbers, without an ICC profile that would say the same.
enum DeclaredColour: Equatable {
    /// The profile that the file embeds, or sRGB without one.
    case embedded
    case coded(Primaries, ToneCurve)

    /// Returns the profile with this meaning; nil for ``embedded``.
    func profile(isGrey: Bool) -> [UInt8]? {
        guard case .coded(let primaries, let curve) = self else { return nil }
        if isGrey { return ICCProfileBytes.grey(curve: curve) }
        if curve == .sRGB, primaries == .sRGB { return OutputColour.sRGBProfile }
        if curve == .sRGB, primaries == Primaries(h273: 12) {
            return OutputColour.displayP3Profile
        }
        return primaries.toXYZ.map { ICCProfileBytes.rgb(toXYZ: $0, curve: curve) }
    }
}

extension DeclaredColour {
    /// Reads the chunks of a PNG in the order of their precedence.
    init(_ png: PNGColour) {
        self = .embedded
        if let codes = png.codes, let primaries = Primaries(h273: codes.primaries),
            let curve = ToneCurve.coded(h273: codes.transfer)
        {
            let isPlain = primaries == .sRGB && curve == .sRGB
            if !isPlain || png.hasProfile { self = .coded(primaries, curve) }
            return
        }
        guard !png.hasProfile, !png.isSRGB, let gamma = png.gamma,
            Self.gammas.contains(gamma)
        else { return }
        if let declared = png.chromaticities.map(Self.primaries), declared.toXYZ != nil {
            self = .coded(declared, .gamma(Self.unit / Double(gamma)))
        } else if !Self.gammasOfSRGB.contains(gamma) {
            self = .coded(.sRGB, .gamma(Self.unit / Double(gamma)))
        }
    }

    /// Numbers in gAMA and cHRM are multiples of a hundred-thousandth.
    private static let unit = 100_000.0
    /// Exponents from 0.1 to 10; others are mistakes.
    private static let gammas = 10_000...1_000_000
    /// Without primaries, an exponent within 5 % of 1/2.2 means sRGB, as libpng and Chromium read it.
    private static let gammasOfSRGB = 43_290...47_727

    private static func primaries(_ numbers: [Int]) -> Primaries {
        let points = (0..<4).map {
            Primaries.Point(Double(numbers[2 * $0]) / unit, Double(numbers[2 * $0 + 1]) / unit)
        }
        return Primaries(red: points[1], green: points[2], blue: points[3], white: points[0])
    }

    /// Reads the colour of a HEIC or AVIF without a profile. The curves of cameras (BT.709 and its equals) and unspecified ones are
    /// read as sRGB, as by Chromium, and so are primaries that are too close to sRGB's to be told apart.
    init(_ heif: HEIFColour) {
        let primaries =
            Self.primariesLikeSRGB.contains(heif.primaries)
            ? .sRGB : Primaries(h273: heif.primaries)
        let curve: ToneCurve? =
            [4, 5, 7, 8].contains(heif.transfer) ? .coded(h273: heif.transfer) : .sRGB
        self = .embedded
        guard let primaries, let curve, primaries != .sRGB || curve != .sRGB else { return }
        self = .coded(primaries, curve)
    }

    /// Whether the primaries of a HEIF are read as what they are.
    static func isKnown(_ heif: HEIFColour) -> Bool {
        primariesLikeSRGB.contains(heif.primaries) || Primaries(h273: heif.primaries) != nil
    }

    /// H.273: 2 is unspecified; 1, 5, 6 and 7 are so close to sRGB that all readers use sRGB for them.
    private static let primariesLikeSRGB = [1, 2, 5, 6, 7]
}

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
        case .srgb: self = .sRGB
        case .displayP3: self = .displayP3
        }
    }

    private init(colour: PhotoColour, profile: [UInt8], isSRGB: Bool) {
        (self.colour, self.profile, newColourIsSRGB) = (colour, profile, isSRGB)
    }

    static let sRGB = OutputColour(colour: .sRGB, profile: sRGBProfile, isSRGB: true)
    static let displayP3 = OutputColour(
        colour: .displayP3, profile: displayP3Profile, isSRGB: false)
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

extension Image {
    /// Returns the picture with codes of colours divided by alpha, its last channel; they are 0 where alpha is.
    func dividedByAlpha() throws(VipsError) -> Image {
        guard hasAlpha, format == .uchar || format == .ushort else { return self }
        let (bands, isEight) = (bands, format == .uchar)
        return try computing(
            RegionPicture(
                width: width, height: height, bands: bands, format: format,
                interpretation: interpretation)
        ) { input, output in
            for row in 0..<output.area.height {
                let count = output.area.width
                if isEight {
                    Self.divide(UInt8.self, input.row(row), output.row(row), bands, count)
                } else {
                    Self.divide(UInt16.self, input.row(row), output.row(row), bands, count)
                }
            }
        }
    }

    private static func divide<Code: FixedWidthInteger & UnsignedInteger>(
        _: Code.Type, _ from: UnsafeMutableRawPointer, _ to: UnsafeMutableRawPointer,
        _ bands: Int, _ count: Int
    ) {
        var source = from.assumingMemoryBound(to: Code.self)
        var target = to.assumingMemoryBound(to: Code.self)
        let most = Int(Code.max)
        for _ in 0..<count {
            let alpha = Int(source[bands - 1])
            for band in 0..<bands - 1 {
                let code = Int(source[band])
                target[band] =
                    alpha == 0 ? 0 : Code(min(most, (code * most + alpha / 2) / alpha))
            }
            target[bands - 1] = source[bands - 1]
            source += bands
            target += bands
        }
    }
}
