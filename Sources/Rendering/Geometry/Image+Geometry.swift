import Adjustments
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

    /// As a picture of linear light, for ``computing(_:reading:_:)``.
    func linearPicture(width: Int, height: Int, shape: RegionShape = .rows) -> RegionPicture {
        RegionPicture(
            width: width, height: height, bands: bands, format: .float, interpretation: "scrgb",
            shape: shape)
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

extension PixelArea {
    /// A rectangle counted from the bottom, counted from the top.
    init(_ rectangle: PixelRectangle, of size: PixelSize) {
        self.init(
            left: rectangle.x, top: size.height - rectangle.y - rectangle.height,
            width: rectangle.width, height: rectangle.height)
    }
}

extension PixelRectangle {
    /// A rectangle counted from the top, counted from the bottom.
    init(_ area: PixelArea, of size: PixelSize) {
        self.init(
            x: area.left, y: size.height - area.top - area.height, width: area.width,
            height: area.height)
    }
}

extension Geometry {
    /// The map with both pictures counted from the top, as libvips does, and the source shrunk.
    func downward(shrink: (columns: Int, rows: Int) = (1, 1)) -> Homography {
        let (columns, rows) = (Double(shrink.columns), Double(shrink.rows))
        return Homography(affine: 1 / columns, 0, 0, 0, -1 / rows, Double(source.height) / rows)
            * toSource * Homography(affine: 1, 0, 0, 0, -1, Double(size.height))
    }

    /// By how many whole columns and rows the source may be shrunk before it is resampled: at least two
    /// samples are left for each pixel of the result, of which the kernel makes one.
    var shrink: (columns: Int, rows: Int) {
        var least = (x: Double.infinity, y: Double.infinity)
        for place in visible {
            let stretch = toSource.stretch(at: place)
            least = (min(least.x, stretch.x), min(least.y, stretch.y))
        }
        func whole(_ stretch: Double, _ side: Int) -> Int {
            stretch.isFinite ? max(1, Int(min(stretch / 2, Double(side)))) : 1
        }
        return (whole(least.x, source.width), whole(least.y, source.height))
    }
}
