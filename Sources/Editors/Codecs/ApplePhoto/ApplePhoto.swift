public import Edits
public import FoundationEssentials

/// The format of Apple's Photos and Camera: `com.apple.photo`.
///
/// Crops, turns and mirrorings are done as Apple does them (``ApplePhotoGeometry`` lists observed and inferred facts). Adjustments
/// that are switched off are skipped, and neutral tone and colour change nothing. Everything else is either replaced by a
/// look-alike (``AppleLook``), if that is enabled, or not supported: then only the render that Photos made shows the edit.
public struct ApplePhoto: AdjustmentCodec {
    public let formatIdentifier = "com.apple.photo"
    /// The versions differ in the adjustments that may occur, each of which is read by name.
    public let formatVersions = (0...11).map { "1.\($0)" }
    /// The version that phones write for edits that only crop and turn.
    public let writtenVersion = "1.4"

    /// The order in which look-alikes are applied; documents list adjustments in any order.
    private static let order = ["SmartTone", "SmartColor", "SmartBlackAndWhite", "Effect"]

    private let lookAlikes: Bool

    /// Creates the codec.
    ///
    /// - Parameter lookAlikes: whether Apple's unpublished curves are replaced by similar filters; otherwise they are not
    ///   supported.
    public init(lookAlikes: Bool) { self.lookAlikes = lookAlikes }

    public func read(_ data: Data, of photo: EditedPhoto) throws(Failure) -> AdjustmentReading {
        guard !data.starts(with: Data("crdt".utf8)) else {
            return .cannotHandle("it has drawings of Markup, which are not rendered here.")
        }
        let inflated = try Deflate.inflate(data, .none)
        guard inflated.count <= ApplePhotoDocument.bytesMax else {
            return .cannotHandle(
                "its document has \(inflated.count) bytes; at most \(ApplePhotoDocument.bytesMax) are read."
            )
        }
        // Swift takes seconds to normalise and hash a row of 64,000 accents. Apple's documents have none.
        guard inflated.allSatisfy({ $0 < 0x80 }) else {
            return .cannotHandle("its document has text beyond ASCII, which is not read.")
        }
        let document = try ApplePhotoDocument(ascii: inflated)
        var geometry = ApplePhotoGeometry(
            crop: nil, orientation: document.orientation ?? photo.orientation)
        var filtersByName: [String: [Filter]] = [:]
        for adjustment in document.adjustments where adjustment.isEnabled {
            let name = adjustment.identifier
            guard filtersByName[name] == nil else {
                return .cannotHandle("it has two adjustments \(name).")
            }
            if name == ApplePhotoDocument.Adjustment.cropIdentifier {
                switch try adjustment.crop(of: photo, master: document.masterSize) {
                case .success(let crop): geometry.crop = crop
                case .failure(let cannot): return .cannotHandle(cannot.reason)
                }
                filtersByName[name] = []
                continue
            }
            switch try AppleLook(adjustment) {
            case .neutral: filtersByName[name] = []
            case .alike(let filters) where lookAlikes: filtersByName[name] = filters
            case .alike:
                return .cannotHandle(
                    "it has the adjustment \(name), of which there is only a look-alike here, and "
                        + "look-alikes are off.")
            case nil:
                return .cannotHandle("it has the adjustment \(name), which is not rendered here.")
            }
        }
        var filters = Self.order.flatMap { filtersByName[$0] ?? [] }
        filters += try geometry.filters(for: photo)
        return .recipe(try Recipe(filters: filters))
    }

    /// Encodes crops, quarter turns and mirrorings, so that a phone can continue the edit.
    ///
    /// The output has the form of real documents, but was never tested on a phone.
    public func write(_ recipe: Recipe, for photo: EditedPhoto) throws(Failure) -> Data {
        let geometry = try ApplePhotoGeometry(
            try recipe.scaled(to: photo.uprightSize).filters, of: photo)
        return ApplePhotoDocument(
            orientation: geometry.orientation, masterSize: photo.storedSize,
            adjustments: geometry.crop.map { [.init(crop: $0)] } ?? []
        ).data()
    }
}
