import Adjustments

/// What `com.apple.photo` says of places: a crop of the stored photo, then how the result lies.
///
/// The crop counts pixels of the photo as stored, before orientation, from the bottom left.
///
/// Seen in pixels: yOrigin counts from the bottom and xOrigin from the left, of a photo of orientation 1 (a crop of
/// Apple's Photos and its render agree at that offset alone). Seen in documents: the frame is the stored one also
/// where masterWidth and masterHeight are turned (an iPhone's crop to 16 : 9 has 4032 × 2268 from (0, 378) on, with a
/// master of 2268 × 4032 and orientation 6: StackOverflow 61023739), and turning a photo changes
/// `metadata.orientation` (osxphotos, issue 379). Inferred: that a crop of a turned photo counts from the stored
/// photo's bottom left as well, and that mirroring is in the orientation too.
///
/// A crop that is straightened is not handled: no pair of such a photo and its render is public, so neither the
/// sense of the angle nor the frame of the rectangle is known.
struct ApplePhotoGeometry: Equatable {
    /// The crop, or nil for all of the photo.
    var crop: PixelRectangle?
    /// What makes the stored photo lie as the edit has it.
    var orientation: Orientation
}

extension ApplePhotoGeometry {
    /// The filters that do this to the photo when it is upright: a crop, a turn or a mirroring, or two of them.
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

    /// What filters do to the upright photo, when it is no more than a crop and a turn.
    ///
    /// - Throws: `adjustmentDataNotEncodable`, and what a geometry filter refuses the photo with.
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
