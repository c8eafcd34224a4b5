import Edits

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
