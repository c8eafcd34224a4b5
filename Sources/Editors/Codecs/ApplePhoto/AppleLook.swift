import Adjustments
import Glibc

/// Tone and colour of `com.apple.photo`, whose curves Apple keeps to itself: filters that look about alike.
///
/// Numbers are fitted to what Apple's Photos made of single photos; how far the renders are apart stands with each
/// where a pair of photo and render shows it (RMS of 255, both scaled down to 256 pixels). Photos also fits its curves
/// to the photo, so another one may be further off. Fine sliders (`offset…`) have no such pair: what uses them is
/// not handled.
enum AppleLook: Equatable {
    /// It changes nothing: this is exact.
    case neutral
    /// These filters look about like it.
    case alike([Filter])

    /// What an adjustment does, or nil when nothing here is like it.
    init?(_ adjustment: ApplePhotoDocument.Adjustment) throws(Failure) {
        let filter: Filter?
        switch adjustment.identifier {
        case "SmartTone":
            guard let light = adjustment.onlySlider("inputLight") else { return nil }
            filter = try Self.tone(light: light)
        case "SmartColor":
            guard let colour = adjustment.onlySlider("inputColor") else { return nil }
            filter = try Self.colour(colour)
        case "SmartBlackAndWhite":
            // The slider chooses shares of red, green and blue and a contrast, and leaves colour nowhere. For 0.65 its
            // grey is off by 6.1 (the photo as it is: 33).
            guard adjustment.onlySlider("inputBlackAndWhite") != nil else { return nil }
            filter = try Filter("CIColorControls", ["inputSaturation": 0])
        case "Effect":
            guard let effect = try Self.effect(adjustment.settings) else { return nil }
            filter = effect
        default: return nil
        }
        self = filter.map { .alike([$0]) } ?? .neutral
    }

    /// The slider Light: 0.22 is about the power 0.80 of linear light, seen where black and white follows (4.5; the
    /// photo as it is would be off by 43).
    private static func tone(light: Double) throws(Failure) -> Filter? {
        light == 0
            ? nil : try Filter("CIGammaAdjust", ["inputPower": .number(exp2(-1.43 * light))])
    }

    /// The slider Color: by what it is said to do; no pair shows it without black and white.
    private static func colour(_ colour: Double) throws(Failure) -> Filter? {
        colour == 0
            ? nil : try Filter("CIVibrance", ["inputAmount": .number(min(max(colour, -1), 1))])
    }

    /// Effects that Photos shares with Core Image, by the names that its schema has for them (photohack,
    /// `README.md`): not seen in pixels.
    private static let coreImageEffects: Set<String> = [
        "Chrome", "Fade", "Instant", "Mono", "Noir", "Process", "Tonal", "Transfer",
    ]

    /// A named effect.
    private static func effect(_ settings: [String: JSONValue]) throws(Failure) -> Filter? {
        guard Set(settings.keys).isSubset(of: ["effectName", "effectVersion", "intensity"]),
            settings["intensity"] ?? .number(1) == .number(1),
            case .string(let name) = settings["effectName"]
        else { return nil }
        switch name {
        case "3DDramaticCool":
            // Least squares over the encoded values of one photo: 7.0 (as it is: 19).
            return try Filter(
                "CIColorMatrix",
                [
                    "inputRVector": [1, -0.01, 0.09, 0], "inputGVector": [-0.01, 0.97, 0.1, 0],
                    "inputBVector": [0, 0.26, 0.81, 0], "inputBiasVector": [-0.06, -0.01, 0, 0],
                ])
        case "3DNoir":
            // Likewise, of a photo with light 0.17 (PhotoPrism's example IMG_4120): 16 (as it is: 27), where
            // CIPhotoEffectNoir is off by 36.
            return try Filter(
                "CIColorControls",
                ["inputSaturation": 0, "inputContrast": 1.16, "inputBrightness": 0.04])
        default:
            return coreImageEffects.contains(name) ? try Filter("CIPhotoEffect" + name) : nil
        }
    }
}

extension ApplePhotoDocument.Adjustment {
    /// What was found out about the photo; nothing is done with it.
    private static let analysis: Set<String> = [
        "auto", "lightMap", "overcaptureStatistics", "statistics",
    ]
    /// What sliders of tone and colour go to in Photos, and some more.
    private static let slider = -1.5...1.5

    /// The value of a slider when all fine ones are at rest; nil when one is not, or a setting is unknown.
    fileprivate func onlySlider(_ name: String) -> Double? {
        for (other, value) in settings where other != name && !Self.analysis.contains(other) {
            guard other.hasPrefix("offset"), value == .number(0) else { return nil }
        }
        guard case .number(let value) = settings[name] ?? .number(0), Self.slider.contains(value)
        else { return nil }
        return value
    }
}
