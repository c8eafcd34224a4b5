import Filters
import PhotoFiles

/// The meaning of codes that a file declares by numbers, without an ICC profile that would say the same.
enum DeclaredColour: Equatable {
    /// The profile that the file embeds, or sRGB without one.
    case embedded
    /// These codes, whatever profile is embedded.
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
