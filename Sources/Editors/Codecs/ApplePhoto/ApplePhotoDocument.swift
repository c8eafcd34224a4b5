import Edits
import FoundationEssentials
import Glibc

/// The content of `com.apple.photo`: a JSON document in a bare DEFLATE stream.
///
///     {"metadata": {"masterWidth", "masterHeight", "orientation"}, "formatVersion": 1, "versionInfo": {…},
///      "adjustments": [{"identifier", "enabled", "formatVersion": 1, "settings": {…}, "auto": {…}}]}
///
/// Source: payloads of iOS 12 to 18 and macOS 10.14 to 15. `auto`, `statistics` and `lightMap` contain results of the photo's
/// analysis, not edits.
struct ApplePhotoDocument {
    /// Most bytes of JSON that are parsed. Real documents have 0.2 to 10 KB, those with brush strokes more.
    static let bytesMax = 128 << 10
    /// Most adjustments. Apple's Photos has some thirty kinds, each at most once.
    static let adjustmentsMax = 64

    /// One adjustment of the photo.
    struct Adjustment {
        let identifier: String
        /// False for an adjustment that is switched off but stored.
        let isEnabled: Bool
        let settings: [String: JSONValue]
    }

    /// The orientation of the edit's result: the turn that makes the stored photo upright, the photo's own EXIF included. Nil if it
    /// is unspecified (0), as cameras write it.
    let orientation: Orientation?
    /// Sides of the photo, in pixels; nil if unspecified. Real documents contain all variants: as stored or as displayed, before or
    /// after the crop.
    let masterSize: PixelSize?
    let adjustments: [Adjustment]
}

extension ApplePhotoDocument {
    /// Reads a document.
    ///
    /// - Parameter ascii: inflated, at most ``bytesMax``.
    /// - Throws: `adjustmentDataUndecodable`.
    init(ascii: Data) throws(Failure) {
        let json: JSONValue
        do throws(Failure) {
            json = try JSONValue(
                parsing: String(decoding: ascii, as: UTF8.self), as: "the document")
        } catch {
            throw Self.undecodable(error.message)
        }
        guard case .object(let fields) = json else {
            throw Self.undecodable("the document is no JSON object.")
        }
        try Self.check(fields["formatVersion"], of: "the document")
        let metadata = try Self.object(fields["metadata"] ?? .object([:]), "metadata")
        let number = try Self.wholeNumber(metadata["orientation"] ?? .number(0), "orientation")
        guard (0...8).contains(number) else {
            throw Self.undecodable("metadata.orientation is \(number); expected 0 to 8.")
        }
        orientation = Orientation(rawValue: number)
        let width = try Self.wholeNumber(metadata["masterWidth"] ?? .number(0), "masterWidth")
        let height = try Self.wholeNumber(metadata["masterHeight"] ?? .number(0), "masterHeight")
        masterSize = width > 0 && height > 0 ? PixelSize(width: width, height: height) : nil
        guard case .array(let values) = fields["adjustments"] ?? .null,
            values.count <= Self.adjustmentsMax
        else {
            throw Self.undecodable(
                "adjustments is missing, no array, or longer than \(Self.adjustmentsMax).")
        }
        var adjustments: [Adjustment] = []
        for value in values { adjustments.append(try Adjustment(value)) }
        self.adjustments = adjustments
    }

    func data() -> Data {
        var metadata: [String: JSONValue] = [
            "orientation": .number(Double(orientation?.rawValue ?? 0))
        ]
        metadata["masterWidth"] = .number(Double(masterSize?.width ?? 0))
        metadata["masterHeight"] = .number(Double(masterSize?.height ?? 0))
        let document: JSONValue = .object([
            "metadata": .object(metadata), "formatVersion": .number(1),
            // The form of a phone that does not name its app.
            "versionInfo": .object([
                "appVersion": .string(""), "buildNumber": .string(""),
                "platform": .string("iOS"), "schemaRevision": .number(0),
            ]),
            "adjustments": .array(adjustments.map(\.json)),
        ])
        return Deflate.deflate(Data(document.canonical.utf8), .none)
    }

    static func undecodable(_ reason: String) -> Failure {
        Failure(
            .adjustmentDataUndecodable,
            "the adjustment data of com.apple.photo cannot be read: \(reason)")
    }

    /// Returns an integer that a `Double` represents exactly.
    static func wholeNumber(_ value: JSONValue, _ name: String) throws(Failure) -> Int {
        guard case .number(let number) = value, number == number.rounded(), abs(number) < 1e9 else {
            throw undecodable("\(name) is \(short(value)); expected a whole number below 10⁹.")
        }
        return Int(number)
    }

    static func short(_ value: JSONValue) -> String { String(value.canonical.prefix(60)) }

    fileprivate static func object(_ value: JSONValue, _ name: String) throws(Failure) -> [String:
        JSONValue]
    {
        guard case .object(let fields) = value else {
            throw undecodable("\(name) is \(short(value)); expected an object.")
        }
        return fields
    }

    fileprivate static func check(_ version: JSONValue?, of what: String) throws(Failure) {
        guard version == nil || version == .number(1) else {
            throw undecodable(
                "\(what) has the formatVersion \(short(version ?? .null)); expected 1.")
        }
    }
}

extension ApplePhotoDocument.Adjustment {
    fileprivate init(_ value: JSONValue) throws(Failure) {
        typealias Document = ApplePhotoDocument
        let fields = try Document.object(value, "an adjustment")
        guard case .string(let identifier) = fields["identifier"] ?? .null,
            identifier.utf8.count <= 100
        else { throw Document.undecodable("an adjustment has no identifier of up to 100 bytes.") }
        try Document.check(fields["formatVersion"], of: identifier)
        self.identifier = identifier
        switch fields["enabled"] {
        case nil, .bool(true), .number(1): isEnabled = true
        case .bool(false), .number(0): isEnabled = false
        case .some(let value):
            throw Document.undecodable(
                "\(identifier) is enabled: \(Document.short(value)); expected true, false, 1 or 0.")
        }
        settings = try Document.object(fields["settings"] ?? .object([:]), "\(identifier).settings")
    }

    fileprivate var json: JSONValue {
        .object([
            "identifier": .string(identifier), "enabled": .bool(isEnabled),
            "formatVersion": .number(1),
            "settings": .object(settings),
        ])
    }

    static let cropIdentifier = "Crop"

    private static let rectangle = ["xOrigin", "yOrigin", "width", "height"]
    /// Aspect ratios chosen in the editor's menu: they have no effect.
    private static let idle: Set<String> = [
        "auto", "constraintHeight", "constraintWidth", "originalCrop", "smart",
    ]
    /// Angles in degrees.
    private static let angles: Set<String> = ["pitch", "straightenAngle", "yaw"]

    init(crop: PixelRectangle) {
        identifier = Self.cropIdentifier
        isEnabled = true
        settings = [
            "xOrigin": crop.x, "yOrigin": crop.y, "width": crop.width, "height": crop.height,
            "straightenAngle": 0, "constraintWidth": 0, "constraintHeight": 0,
        ].mapValues { .number(Double($0)) }
    }

    /// Returns the rectangle of a crop, or the reason why it is not supported.
    ///
    /// - Parameter master: the photo's size in the document.
    /// - Throws: `adjustmentDataUndecodable` if a number is missing.
    func crop(of photo: EditedPhoto, master: PixelSize?) throws(Failure) -> Result<
        PixelRectangle, CannotHandle
    > {
        if let reason = moreThanARectangle { return .failure(CannotHandle(reason)) }
        var numbers: [Int] = []
        for name in Self.rectangle {
            guard case .number(let number) = settings[name] ?? .null else {
                throw ApplePhotoDocument.undecodable(
                    "\(name) of the crop is \(ApplePhotoDocument.short(settings[name] ?? .null)); "
                        + "expected a number.")
            }
            guard number == number.rounded(), abs(number) < 1e9 else {
                return .failure(
                    CannotHandle("its crop has the \(name) \(number), which is no whole pixel."))
            }
            numbers.append(Int(number))
        }
        let crop = PixelRectangle(
            x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
        let stored = photo.storedSize
        guard crop.width > 0, crop.height > 0, crop.x >= 0, crop.y >= 0,
            crop.x + crop.width <= stored.width, crop.y + crop.height <= stored.height
        else {
            return .failure(
                CannotHandle(
                    "its crop \(crop) does not lie within the photo, which is stored with \(stored) "
                        + "pixels."))
        }
        // A camera that crops records the size after its crop, and phones record sizes as displayed.
        let sizes = [stored, crop.size].flatMap { [$0, Orientation.right.size(of: $0)] }
        guard let master, !sizes.contains(master) else { return .success(crop) }
        return .failure(
            CannotHandle(
                "its crop was made on a photo of \(master) pixels; this one is stored with \(stored)."
            ))
    }

    /// The part of a crop that a rectangle cannot express, in a sentence; nil if there is none.
    private var moreThanARectangle: String? {
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) {
            if Self.angles.contains(name) {
                if value == .number(0) { continue }
                return
                    "its crop has the \(name) \(ApplePhotoDocument.short(value)), and how Apple's "
                    + "crops turn is not known here."
            }
            if !Self.rectangle.contains(name), !Self.idle.contains(name) {
                return "its crop has the unknown setting \(name.prefix(60))."
            }
        }
        return nil
    }
}

/// The reason why an edit is not supported: a sentence.
struct CannotHandle: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// Tone and colour of `com.apple.photo`, whose curves Apple does not publish: filters with a similar look.
///
/// The numbers are fitted to renders of single photos by Apple's Photos. If a pair of photo and render is available, the difference
/// between the renders is noted beside the number (RMS of 255, both scaled down to 256 pixels). Photos also adapts its curves to
/// the photo, so the difference may be larger for others. No pair exists for the fine sliders (`offset…`); edits that use them are
/// not supported.
enum AppleLook: Equatable {
    /// It changes nothing: this is exact.
    case neutral
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
