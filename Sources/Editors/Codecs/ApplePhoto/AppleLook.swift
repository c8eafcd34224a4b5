import Adjustments
import Glibc

/// Tone and colour of `com.apple.photo`, whose curves Apple keeps to itself: filters that look about alike.
///
/// Numbers are fitted to what Apple's Photos made of single photos; how far the renders are apart stands with each
/// where a pair of photo and render shows it (RMS of 255, both scaled down to 256 pixels), and a test holds it.
/// Fine sliders (`offset…`) have no such pair: what uses them is not handled.
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
            // The slider chooses shares of red, green and blue and a contrast. It has no place that leaves colour.
            guard adjustment.onlySlider("inputBlackAndWhite") != nil else { return nil }
            filter = try Filter("CIColorControls", ["inputSaturation": 0])
        case "Effect":
            guard let effect = try Self.effect(adjustment.settings) else { return nil }
            filter = effect
        default: return nil
        }
        self = filter.map { .alike([$0]) } ?? .neutral
    }

    /// The slider Light: 0.22 is about the power 0.80 of linear light, seen on a photo that is black and white too.
    private static func tone(light: Double) throws(Failure) -> Filter? {
        light == 0
            ? nil : try Filter("CIGammaAdjust", ["inputPower": .number(exp2(-1.43 * light))])
    }

    /// The slider Color: by what it is said to do, no pair shows it alone.
    private static func colour(_ colour: Double) throws(Failure) -> Filter? {
        colour == 0
            ? nil : try Filter("CIVibrance", ["inputAmount": .number(min(max(colour, -1), 1))])
    }

    /// Effects that Photos shares with Core Image, by the names that Photos has for them.
    private static let coreImageEffects = [
        "Mono": "CIPhotoEffectMono", "Tonal": "CIPhotoEffectTonal", "Noir": "CIPhotoEffectNoir",
        "Fade": "CIPhotoEffectFade", "Chrome": "CIPhotoEffectChrome",
        "Process": "CIPhotoEffectProcess", "Transfer": "CIPhotoEffectTransfer",
        "Instant": "CIPhotoEffectInstant", "3DNoir": "CIPhotoEffectNoir",
    ]

    private static func effect(_ settings: [String: JSONValue]) throws(Failure) -> Filter? {
        guard Set(settings.keys).isSubset(of: ["effectName", "effectVersion", "intensity"]),
            settings["intensity"] ?? .number(1) == .number(1),
            case .string(let name) = settings["effectName"]
        else { return nil }
        if let filter = coreImageEffects[name] { return try Filter(filter) }
        guard name == "3DDramaticCool" else { return nil }
        // Least squares over the encoded values of one photo: 6.7 before rounding to hundredths.
        return try Filter(
            "CIColorMatrix",
            [
                "inputRVector": [1, -0.01, 0.09, 0], "inputGVector": [-0.01, 0.97, 0.1, 0],
                "inputBVector": [0, 0.26, 0.81, 0], "inputBiasVector": [-0.06, -0.01, 0, 0],
            ])
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
