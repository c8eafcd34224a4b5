public import Edits
public import FoundationEssentials

/// A format whose data are one filter's name; the editor implies the parameters.
///
/// The name alone is ambiguous: `CISepiaTone` has intensity 0.8 in one editor and 1 in another. So there is an instance for each
/// identifier, in a file of its own.
public struct FilterName: AdjustmentCodec {
    /// The encoding of the name.
    enum Encoding: Sendable {
        /// Bare UTF-8, without a byte-order mark or a terminating zero.
        case utf8
        /// `NSKeyedArchiver` of an `NSString`.
        case keyedArchive
    }

    public let formatIdentifier: String
    public let formatVersions: [String]
    private let encoding: Encoding
    private let names: Set<String>?
    private let implied: [String: [String: FilterValue]]

    /// Creates the codec of one editor.
    ///
    /// - Parameters:
    ///   - names: the filters that it offers, or nil for any of Core Image's.
    ///   - implied: differences from the filters' defaults, by filter and parameter.
    init(
        _ formatIdentifier: String, _ formatVersions: [String], _ encoding: Encoding,
        names: Set<String>? = nil, implied: [String: [String: FilterValue]] = [:]
    ) {
        self.formatIdentifier = formatIdentifier
        self.formatVersions = formatVersions
        self.encoding = encoding
        self.names = names
        self.implied = implied
    }

    public func read(_ data: Data, of photo: EditedPhoto) throws(Failure) -> AdjustmentReading {
        let name = try encoding.name(in: data, of: formatIdentifier)
        guard offers(name) else {
            return .cannotHandle(
                "\(formatIdentifier) names the filter \(name.debugDescription), which is none that "
                    + (names == nil
                        ? "Core Image has."
                        : "its editor has: it has \(known.joined(separator: ", "))."))
        }
        do throws(Failure) {
            return .recipe(try Recipe(filters: [try filter(name)]))
        } catch {
            return .cannotHandle(
                "\(formatIdentifier) names what cannot be rendered here: \(error.message)")
        }
    }

    public func write(_ recipe: Recipe, for photo: EditedPhoto) throws(Failure) -> Data {
        let filters = try recipe.resolved(for: photo.uprightSize).filters
        guard let given = filters.first, filters.count == 1, offers(given.name) else {
            throw Failure(
                .adjustmentDataNotEncodable,
                "\(formatIdentifier) has words for one filter "
                    + (names == nil ? "of Core Image" : "of \(known.joined(separator: ", "))")
                    + "; the recipe is \(filters.map(\.description).joined(separator: ", then ")). "
                    + "Write it as \(AdjustmentData.minilabFormatIdentifier).")
        }
        let sayable = try filter(given.name)
        guard given == sayable else {
            throw Failure(
                .adjustmentDataNotEncodable,
                "\(formatIdentifier) has no words for parameters: its \(given.name) is \(sayable), the "
                    + "recipe's \(given). Write it as \(AdjustmentData.minilabFormatIdentifier).")
        }
        return encoding.data(of: given.name)
    }

    private var known: [String] { (names ?? []).sorted() }

    /// Whether the editor offers a filter. Minilab's own filters have names without Core Image's prefix.
    private func offers(_ name: String) -> Bool {
        names?.contains(name) ?? name.hasPrefix("CI")
    }

    private func filter(_ name: String) throws(Failure) -> Filter {
        try Filter(name, implied[name] ?? [:], at: formatIdentifier)
    }
}

extension FilterName.Encoding {
    /// Longest name in bytes of UTF-8; Core Image's longest has 36.
    private static let bytesMax = 256

    /// Reads the name in the data of a format.
    ///
    /// - Throws: `adjustmentDataUndecodable`.
    func name(in data: Data, of formatIdentifier: String) throws(Failure) -> String {
        let name = try text(in: data, of: formatIdentifier)
        guard (1...Self.bytesMax).contains(name.utf8.count) else {
            throw Self.undecodable(
                formatIdentifier,
                "the name has \(name.utf8.count) bytes; expected 1 to \(Self.bytesMax).")
        }
        return name
    }

    private func text(in data: Data, of formatIdentifier: String) throws(Failure) -> String {
        switch self {
        case .utf8:
            guard let text = String(validating: data, as: UTF8.self) else {
                throw Self.undecodable(formatIdentifier, "they are not UTF-8.")
            }
            return text
        case .keyedArchive:
            let root: PropertyList
            do throws(PropertyListError) {
                root = try KeyedArchive.root(of: data)
            } catch {
                throw Self.undecodable(formatIdentifier, error.message)
            }
            guard case .string(let text) = root else {
                throw Self.undecodable(
                    formatIdentifier, "the archive's root is \(root.kind); expected text.")
            }
            return text
        }
    }

    func data(of text: String) -> Data {
        switch self {
        case .utf8: Data(text.utf8)
        case .keyedArchive: KeyedArchive.bytes(ofRoot: text)
        }
    }

    private static func undecodable(_ formatIdentifier: String, _ reason: String) -> Failure {
        Failure(
            .adjustmentDataUndecodable,
            "the adjustment data of \(formatIdentifier) cannot be read: \(reason)")
    }
}

extension FilterName {
    /// The photo editing extension of the book "iOS App Development Essentials" (ebookfrenzy.com).
    ///
    /// It calls `setDefaults()` and then sets intensity 0.8 for sepia and edges, radius 25 and angle 0 for motion blur; all other
    /// filters have their defaults. Early printings archive without secure coding, which produces the same bytes.
    public static let ebookFrenzyPhotoExtension = FilterName(
        "com.ebookfrenzy.photoext", ["1.0"], .keyedArchive,
        implied: [
            "CISepiaTone": ["inputIntensity": 0.8],
            "CIEdges": ["inputIntensity": 0.8],
            "CIMotionBlur": ["inputRadius": 25, "inputAngle": 0],
        ])

    /// Apple's sample "Sample Photo Editing Extension": five filters with their defaults.
    public static let samplePhotoEditingExtension = FilterName(
        "com.example.apple-samplecode.photofilter", ["1.0"], .keyedArchive,
        names: [
            "CISepiaTone", "CIPhotoEffectChrome", "CIPhotoEffectInstant", "CIColorInvert",
            "CIColorPosterize",
        ])

    /// Apple's sample "Example app using Photos framework": UTF-8, each filter with its defaults, so sepia has intensity 1.
    public static let appleSamplePhotosApp = FilterName(
        "com.example.apple-samplecode.SamplePhotosApp", ["1.0"], .utf8)

    /// The same sample as printed in an article, with an identifier without `apple-`.
    public static let samplePhotosApp = FilterName(
        "com.example.samplecode.SamplePhotosApp", ["1.0"], .utf8)
}

/// The tutorial editor "Color Tint": the data are the name of the colour with which the photo is tinted.
///
/// The tutorial specifies neither identifier nor version, so the operator configures those of an app. It does not specify the tint
/// either: here it is `CIColorMonochrome` with that colour and intensity 1. The colours are those that `UIColor` documents by these
/// names, sRGB. A name is English or Chinese; English is accepted in upper or lower case.
public struct ColorTint: AdjustmentCodec {
    public let formatIdentifier: String
    public let formatVersions: [String]

    /// English as in `UIColor`, then Chinese; red, green, blue as documented by `UIColor`.
    private static let colours: [(names: [String], rgb: [Double])] = [
        (["black", "黑色"], [0, 0, 0]),
        (["darkGray", "深灰色"], [1.0 / 3, 1.0 / 3, 1.0 / 3]),
        (["gray", "灰色"], [0.5, 0.5, 0.5]),
        (["lightGray", "浅灰色"], [2.0 / 3, 2.0 / 3, 2.0 / 3]),
        (["white", "白色"], [1, 1, 1]),
        (["red", "红色"], [1, 0, 0]),
        (["green", "绿色"], [0, 1, 0]),
        (["blue", "蓝色"], [0, 0, 1]),
        (["cyan", "青色"], [0, 1, 1]),
        (["yellow", "黄色"], [1, 1, 0]),
        (["magenta", "洋红色"], [1, 0, 1]),
        (["orange", "橙色"], [1, 0.5, 0]),
        (["purple", "紫色"], [0.5, 0, 0.5]),
        (["brown", "棕色"], [0.6, 0.4, 0.2]),
    ]

    /// Creates the codec of an app with this identifier and version.
    public init(formatIdentifier: String, formatVersion: String) {
        self.formatIdentifier = formatIdentifier
        formatVersions = [formatVersion]
    }

    public func read(_ data: Data, of photo: EditedPhoto) throws(Failure) -> AdjustmentReading {
        let name = try FilterName.Encoding.keyedArchive.name(in: data, of: formatIdentifier)
        let colour = Self.colours.first { colour in
            colour.names.contains { $0.lowercased() == name.lowercased() }
        }
        guard let colour else {
            return .cannotHandle(
                "\(formatIdentifier) names the colour \(name.debugDescription); known are "
                    + Self.colours.flatMap(\.names).joined(separator: ", ") + ".")
        }
        return .recipe(try Recipe(filters: [try Self.tint(colour.rgb)]))
    }

    /// Encodes a tint of one of the colours, by its English name.
    public func write(_ recipe: Recipe, for photo: EditedPhoto) throws(Failure) -> Data {
        for colour in Self.colours where recipe.filters == [try Self.tint(colour.rgb)] {
            return FilterName.Encoding.keyedArchive.data(of: colour.names[0])
        }
        throw Failure(
            .adjustmentDataNotEncodable,
            "\(formatIdentifier) has words for one CIColorMonochrome of intensity 1 with a colour of its "
                + "list; the recipe is \(recipe.filters.map(\.description).joined(separator: ", then ")). "
                + "Write it as \(AdjustmentData.minilabFormatIdentifier).")
    }

    private static func tint(_ rgb: [Double]) throws(Failure) -> Filter {
        try Filter("CIColorMonochrome", ["inputColor": .vector(rgb + [1]), "inputIntensity": 1])
    }
}
