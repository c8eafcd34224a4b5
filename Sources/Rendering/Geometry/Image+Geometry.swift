import Adjustments
import Pixels
import Vips

extension Image {
    /// Cut or turned: its own pixels, whatever their format.
    ///
    /// - Parameters:
    ///   - step: lossless, and one of ``Geometry/steps``.
    ///   - place: where pixels go that are needed in another order.
    /// - Throws: `VipsError` or `Failure`.
    func placed(_ step: Geometry, spool place: SpoolPlace) throws -> Image {
        switch step.kind {
        case .crop(let part): return try cropped(to: PixelArea(part, of: step.source))
        case .turn(let turn): return try laid(turn, spool: place)
        case .identity, .scale, .warp: return self
        }
    }

    /// Turned by its EXIF orientation.
    ///
    /// - Throws: `VipsError` or `Failure`.
    func upright(from orientation: Int, spool: SpoolPlace) throws -> Image {
        try laid(Orientation(rawValue: orientation) ?? .upright, spool: spool)
    }

    /// Mirroring streams; all else is computed first and then read in another order.
    ///
    /// - Throws: `VipsError` or `Failure`.
    func laid(_ turn: Orientation, spool place: SpoolPlace) throws -> Image {
        guard let reader = turn.reader else { return turn == .mirrored ? try mirrored() : self }
        let image = try inAnyOrder(for: reader, place)
        return switch turn {
        case .upright, .mirrored: image
        case .half: try image.turned(.d180)
        case .flipped: try image.flipped()
        case .transposed: try image.turned(.d90).mirrored()
        case .right: try image.turned(.d90)
        case .transversed: try image.turned(.d270).mirrored()
        case .left: try image.turned(.d270)
        }
    }
}

extension Orientation {
    /// How the turned picture, from top to bottom, reads the one that it is made of; nil where that streams.
    var reader: TileLayout.Reader? {
        switch self {
        case .upright, .mirrored: nil
        case .half, .flipped: .rows
        case .transposed, .right: .columns(VipsLibrary.tileHeight, fromRight: false)
        case .transversed, .left: .columns(VipsLibrary.tileHeight, fromRight: true)
        }
    }
}
