import Edits
import Codecs

extension Image {
    /// Returns the picture cropped or turned. Pixels of any format are moved unchanged.
    ///
    /// - Parameters:
    ///   - step: lossless, and one of ``Geometry/steps``.
    ///   - storage: the spool for pixels that are needed in another order.
    /// - Throws: `VipsError` or `Failure`.
    func moved(_ step: Geometry, spool storage: SpoolStorage) throws -> Image {
        switch step.kind {
        case .crop(let part): return try cropped(to: PixelArea(part, of: step.source))
        case .turn(let turn): return try laid(turn, spool: storage)
        case .identity, .scale, .warp: return self
        }
    }

    /// Returns the picture turned by its EXIF orientation.
    ///
    /// - Throws: `VipsError` or `Failure`.
    func upright(from orientation: Int, spool: SpoolStorage) throws -> Image {
        try laid(Orientation(rawValue: orientation) ?? .upright, spool: spool)
    }

    /// Returns the picture turned. Mirroring streams; every other turn computes the picture first and then reads it in another
    /// order.
    ///
    /// - Throws: `VipsError` or `Failure`.
    func laid(_ turn: Orientation, spool storage: SpoolStorage) throws -> Image {
        guard let reader = turn.reader else { return turn == .mirrored ? try mirrored() : self }
        let image = try inAnyOrder(for: reader, storage)
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
    /// How the turned picture, read from top to bottom, reads its source; nil if the turn streams.
    var reader: TileLayout.Reader? {
        switch self {
        case .upright, .mirrored: nil
        case .half, .flipped: .rows
        case .transposed, .right: .columns(VipsLibrary.tileHeight, fromRight: false)
        case .transversed, .left: .columns(VipsLibrary.tileHeight, fromRight: true)
        }
    }
}
