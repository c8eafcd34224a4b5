public import Adjustments
public import FoundationEssentials

/// What Apple's Photos and Camera write: `com.apple.photo`.
///
/// Crops, turns and mirrorings are done as Apple does them (``ApplePhotoGeometry`` says what is seen and what is
/// inferred), switched-off adjustments are passed over, and tone and colour at their neutral settings are no
/// change. Everything else is either a look-alike (``AppleLook``), for who asks for it, or not handled: then the
/// render that Photos made is what there is of the edit.
public struct ApplePhoto: AdjustmentCodec {
    public let formatIdentifier = "com.apple.photo"
    /// What these differ in is the adjustments that may occur, which are each read by name.
    public let formatVersions = (0...11).map { "1.\($0)" }
    /// What phones write for edits that are no more than a crop and a turn.
    public let writtenVersion = "1.4"

    /// How look-alikes follow each other; documents have adjustments in any order.
    private static let order = ["SmartTone", "SmartColor", "SmartBlackAndWhite", "Effect"]

    private let lookAlikes: Bool

    /// Makes the codec.
    ///
    /// - Parameter lookAlikes: whether Apple's unpublished curves are replaced by filters that look about
    ///   alike, or not handled.
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
        // Swift hashes a row of 64,000 accents for seconds, in normal form; Apple's documents have none.
        guard inflated.allSatisfy({ $0 < 0x80 }) else {
            return .cannotHandle("its document has text beyond ASCII, which is not read.")
        }
        let document = try ApplePhotoDocument(ascii: inflated)
        var geometry = ApplePhotoGeometry(
            crop: nil, orientation: document.orientation ?? photo.orientation)
        var looks: [String: [Filter]] = [:]
        for adjustment in document.adjustments where adjustment.isEnabled {
            let name = adjustment.identifier
            guard looks[name] == nil else {
                return .cannotHandle("it has two adjustments \(name).")
            }
            if name == ApplePhotoDocument.Adjustment.cropIdentifier {
                switch try adjustment.crop(of: photo, master: document.masterSize) {
                case .success(let crop): geometry.crop = crop
                case .failure(let cannot): return .cannotHandle(cannot.reason)
                }
                looks[name] = []
                continue
            }
            switch try AppleLook(adjustment) {
            case .neutral: looks[name] = []
            case .alike(let filters) where lookAlikes: looks[name] = filters
            case .alike:
                return .cannotHandle(
                    "it has the adjustment \(name), of which there is only a look-alike here, and "
                        + "look-alikes are off.")
            case nil:
                return .cannotHandle("it has the adjustment \(name), which is not rendered here.")
            }
        }
        var filters = Self.order.flatMap { looks[$0] ?? [] }
        filters += try geometry.filters(for: photo)
        return .recipe(try Recipe(filters: filters))
    }

    /// Encodes crops, quarter turns and mirrorings, so that a phone can go on with them.
    ///
    /// What is written has the form of real documents; no phone has read it.
    public func write(_ recipe: Recipe, for photo: EditedPhoto) throws(Failure) -> Data {
        let geometry = try ApplePhotoGeometry(
            try recipe.scaled(to: photo.uprightSize).filters, of: photo)
        return ApplePhotoDocument(
            orientation: geometry.orientation, masterSize: photo.storedSize,
            adjustments: geometry.crop.map { [.init(crop: $0)] } ?? []
        ).data()
    }
}
