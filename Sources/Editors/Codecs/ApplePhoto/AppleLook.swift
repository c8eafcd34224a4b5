import Edits
import Glibc

/// Tone and colour of `com.apple.photo`, whose curves Apple does not publish: filters with a similar look.
///
/// The numbers are fitted to renders of single photos by Apple's Photos. If a pair of photo and render is available, the difference
/// between the renders is noted beside the number (RMS of 255, both scaled down to 256 pixels). Photos also adapts its curves to
/// the photo, so the difference may be larger for others. No pair exists for the fine sliders (`offset…`); edits that use them are
/// not supported.
enum AppleLook: Equatable {
    /// It changes nothing: this is exact.
    case neutral
    /// These filters look similar.
    case alike([Filter])

    /// Returns the look of an adjustment, or nil if no similar look is known.
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
            // The slider selects weights of red, green and blue and a contrast, and removes all colour. For 0.65, the grey has an
            // error of 6.1 (the unedited photo: 33).
            guard adjustment.onlySlider("inputBlackAndWhite") != nil else { return nil }
            filter = try Filter("CIColorControls", ["inputSaturation": 0])
        case "Effect":
            guard let effect = try Self.effect(adjustment.settings) else { return nil }
            filter = effect
        default: return nil
        }
        self = filter.map { .alike([$0]) } ?? .neutral
    }

    /// Returns the filter for the slider Light: 0.22 corresponds to about the power 0.80 of linear light, measured where black and
    /// white follows (error 4.5; the unedited photo: 43).
    private static func tone(light: Double) throws(Failure) -> Filter? {
        light == 0
            ? nil : try Filter("CIGammaAdjust", ["inputPower": .number(exp2(-1.43 * light))])
    }

    /// Returns the filter for the slider Color, by its documented purpose; no pair shows it without black and white.
    private static func colour(_ colour: Double) throws(Failure) -> Filter? {
        colour == 0
            ? nil : try Filter("CIVibrance", ["inputAmount": .number(min(max(colour, -1), 1))])
    }

    /// Effects that Photos shares with Core Image, by the names in its schema (photohack, `README.md`): not verified with pixels.
    private static let coreImageEffects: Set<String> = [
        "Chrome", "Fade", "Instant", "Mono", "Noir", "Process", "Tonal", "Transfer",
    ]

    /// Returns the filter for a named effect.
    private static func effect(_ settings: [String: JSONValue]) throws(Failure) -> Filter? {
        guard Set(settings.keys).isSubset(of: ["effectName", "effectVersion", "intensity"]),
            settings["intensity"] ?? .number(1) == .number(1),
            case .string(let name) = settings["effectName"]
        else { return nil }
        switch name {
        case "3DDramaticCool":
            // Least squares over the encoded values of one photo: error 7.0 (the unedited photo: 19).
            return try Filter(
                "CIColorMatrix",
                [
                    "inputRVector": [1, -0.01, 0.09, 0], "inputGVector": [-0.01, 0.97, 0.1, 0],
                    "inputBVector": [0, 0.26, 0.81, 0], "inputBiasVector": [-0.06, -0.01, 0, 0],
                ])
        case "3DNoir":
            // Likewise, of a photo with light 0.17 (PhotoPrism's example IMG_4120): error 16 (the unedited photo: 27), whereas
            // CIPhotoEffectNoir has 36.
            return try Filter(
                "CIColorControls",
                ["inputSaturation": 0, "inputContrast": 1.16, "inputBrightness": 0.04])
        default:
            return coreImageEffects.contains(name) ? try Filter("CIPhotoEffect" + name) : nil
        }
    }
}

extension ApplePhotoDocument.Adjustment {
    /// Settings with results of the photo's analysis, which are ignored.
    private static let analysis: Set<String> = [
        "auto", "lightMap", "overcaptureStatistics", "statistics",
    ]
    /// The range of sliders of tone and colour in Photos, and a margin.
    private static let slider = -1.5...1.5

    /// Returns the value of a slider if all fine sliders are neutral; nil if one is not, or a setting is unknown.
    fileprivate func onlySlider(_ name: String) -> Double? {
        for (other, value) in settings where other != name && !Self.analysis.contains(other) {
            guard other.hasPrefix("offset"), value == .number(0) else { return nil }
        }
        guard case .number(let value) = settings[name] ?? .number(0), Self.slider.contains(value)
        else { return nil }
        return value
    }
}
