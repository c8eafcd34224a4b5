public import Edits
public import FoundationEssentials

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
