public import Edits
public import FoundationEssentials

/// The geometry in `com.apple.photo`: a crop of the stored photo, and the orientation of the result.
///
/// The crop counts pixels of the stored photo, before orientation, from the bottom left.
///
/// Observed in pixels: yOrigin counts from the bottom and xOrigin from the left, for a photo of orientation 1 (a crop of Apple's
/// Photos and its render only agree at that offset). Observed in documents: the frame is the stored one even if masterWidth and
/// masterHeight are swapped (an iPhone's crop to 16 : 9 has 4032 × 2268 from (0, 378) on, with a master of 2268 × 4032 and
/// orientation 6: StackOverflow 61023739), and turning a photo changes `metadata.orientation` (osxphotos, issue 379). Inferred: a
/// crop of a turned photo counts from the stored photo's bottom left as well, and the orientation also contains mirroring.
///
/// A straightened crop is not supported: no pair of such a photo and its render is public, so neither the direction of the angle
/// nor the frame of the rectangle is known.
struct ApplePhotoGeometry: Equatable {
    /// The crop, or nil for all of the photo.
    var crop: PixelRectangle?
    /// The turn from the stored photo to the edit's result.
    var orientation: Orientation
}

extension ApplePhotoGeometry {
    /// Returns the filters that apply the geometry to the upright photo: a crop, a turn or a mirroring, or two of them.
    func filters(for photo: EditedPhoto) throws(Failure) -> [Filter] {
        var geometry = Geometry(of: photo.uprightSize, turn: photo.orientation.inverse)
        if let crop { geometry = geometry.then(Geometry(of: photo.storedSize, crop: crop)) }
        geometry = geometry.then(Geometry(of: geometry.size, turn: orientation))
        var filters: [Filter] = []
        for step in geometry.steps {
            switch step.kind {
            case .crop(let part): filters.append(try Self.crop(part))
            case .turn(let turn): filters += try Self.turn(turn)
            case .identity, .scale, .warp: break
            }
        }
        return filters
    }

    private static func crop(_ part: PixelRectangle) throws(Failure) -> Filter {
        let numbers = [part.x, part.y, part.width, part.height].map(Double.init)
        return try Filter("CICrop", ["inputRectangle": .vector(numbers)])
    }

    private static func turn(_ turn: Orientation) throws(Failure) -> [Filter] {
        let mirrors = try Filter("flip", ["axis": "horizontal"])
        return switch turn {
        case .upright: []
        case .mirrored: [mirrors]
        case .flipped: [try Filter("flip", ["axis": "vertical"])]
        case .right: [try Filter("turn", ["degrees": 90])]
        case .half: [try Filter("turn", ["degrees": 180])]
        case .left: [try Filter("turn", ["degrees": 270])]
        case .transposed: [mirrors, try Filter("turn", ["degrees": 270])]
        case .transversed: [mirrors, try Filter("turn", ["degrees": 90])]
        }
    }

    /// Creates the geometry of filters on the upright photo, if they only crop and turn.
    ///
    /// - Throws: `adjustmentDataNotEncodable`, and errors of a geometry filter for the photo.
    init(_ filters: [Filter], of photo: EditedPhoto) throws(Failure) {
        var geometry = Geometry(of: photo.storedSize, turn: photo.orientation)
        for filter in filters where !filter.changesNothing {
            guard case .geometry(let make) = filter.definition.kernel else {
                throw Self.notEncodable(filter)
            }
            geometry = geometry.then(try make(filter, FilterContext(size: geometry.size)))
            guard geometry.isLossless else { throw Self.notEncodable(filter) }
        }
        crop = nil
        orientation = .upright
        for step in geometry.steps {
            switch step.kind {
            case .crop(let part): crop = part
            case .turn(let turn): orientation = turn
            case .identity, .scale, .warp: break
            }
        }
    }

    private static func notEncodable(_ filter: Filter) -> Failure {
        Failure(
            .adjustmentDataNotEncodable,
            "com.apple.photo can say crops, quarter turns and mirrorings here; \(filter) is more. Write the "
                + "recipe as \(AdjustmentData.minilabFormatIdentifier).")
    }
}

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
            try recipe.resolved(for: photo.uprightSize).filters, of: photo)
        return ApplePhotoDocument(
            orientation: geometry.orientation, masterSize: photo.storedSize,
            adjustments: geometry.crop.map { [.init(crop: $0)] } ?? []
        ).data()
    }
}
