import CCodecs

/// A lossless crop and turn of a JPEG: the coefficients of the result are unchanged.
///
/// The output is byte-identical to jpegtran 2.1.5's, and twice as fast to produce: the turned coefficients are never stored
/// (`CJPEG/transform.c`). Memory: 2 bytes per sample of the whole photo, or a few rows with a ``CoefficientStore``.
public struct JPEGTransform: Sendable, Equatable {
    /// A part of a photo in its own pixels, before the turn.
    public struct Part: Sendable, Equatable {
        /// Pixels left of it and above it.
        public let left, top: Int
        /// Its size in pixels.
        public let width, height: Int

        /// Makes a part.
        public init(left: Int, top: Int, width: Int, height: Int) {
            self.left = left
            self.top = top
            self.width = width
            self.height = height
        }
    }

    /// The reason why a transform would not be lossless.
    public enum Obstacle: Sendable, Equatable, CustomStringConvertible {
        /// The part is not inside of the photo.
        case outside(JPEGLayout)
        /// The part does not begin at an MCU.
        case unaligned(mcuWidth: Int, mcuHeight: Int)
        /// This number of columns at the right edge is a partial MCU, which would have to be moved.
        case columnsLeftOver(Int, mcuWidth: Int)
        /// This number of rows at the bottom edge is a partial MCU, which would have to be moved.
        case rowsLeftOver(Int, mcuHeight: Int)

        public var description: String {
            switch self {
            case .outside(let layout):
                "it does not lie within \(layout.width)×\(layout.height) pixels"
            case .unaligned(let width, let height):
                "it does not begin at a multiple of \(width) columns and \(height) rows"
            case .columnsLeftOver(let count, let width):
                "\(count) columns at the right are left over from blocks of \(width)"
            case .rowsLeftOver(let count, let height):
                "\(count) rows at the bottom are left over from blocks of \(height)"
            }
        }
    }

    /// The part to keep; nil for all of it.
    public let part: Part?
    /// The turn of the part.
    public let turn: JPEGTurn

    /// Makes a transform.
    public init(part: Part? = nil, turn: JPEGTurn = .none) {
        self.part = part
        self.turn = turn
    }

    /// Returns the size and sampling of the result.
    public func layout(of photo: JPEGLayout) -> JPEGLayout {
        let part = part(of: photo)
        return JPEGLayout(
            width: part.width, height: part.height, colour: photo.colour, sampling: photo.sampling
        ).turned(turn)
    }

    /// Returns the reason why the transform of this photo would not be lossless, or nil.
    public func obstacle(for photo: JPEGLayout) -> Obstacle? {
        let part = part(of: photo)
        let (across, down) = (0..<photo.width, 0..<photo.height)
        guard across.contains(part.left), part.width > 0, part.width <= photo.width - part.left,
            down.contains(part.top), part.height > 0, part.height <= photo.height - part.top
        else { return .outside(photo) }
        guard part.left % photo.mcuWidth == 0, part.top % photo.mcuHeight == 0 else {
            return .unaligned(mcuWidth: photo.mcuWidth, mcuHeight: photo.mcuHeight)
        }
        // After a transposition, the mirror affects former rows.
        let movesColumns = turn.transposes ? turn.flips : turn.mirrors
        let movesRows = turn.transposes ? turn.mirrors : turn.flips
        let (columns, rows) = (part.width % photo.mcuWidth, part.height % photo.mcuHeight)
        if movesColumns, columns != 0 {
            return .columnsLeftOver(columns, mcuWidth: photo.mcuWidth)
        }
        if movesRows, rows != 0 { return .rowsLeftOver(rows, mcuHeight: photo.mcuHeight) }
        return nil
    }

    /// Writes the transformed photo; there must be no ``obstacle(for:)``.
    ///
    /// - Parameters:
    ///   - reader: a reader that has only read its header; it cannot be used afterwards.
    ///   - file: a descriptor, whose contents are replaced.
    ///   - isOptimised: whether Huffman tables are computed for the result, which is smaller and slower.
    ///   - markers: see ``JPEGWriter``.
    ///   - store: the storage for the coefficients of a photo of one scan; nil for memory.
    public func write(
        _ reader: JPEGReader, to file: Int32, isOptimised: Bool = false, markers: [JPEGMarker],
        store: (any CoefficientStore)? = nil
    ) throws(JPEGError) {
        let photo = reader.header.layout
        precondition(obstacle(for: photo) == nil, "ask for the obstacle first")
        let part = part(of: photo)
        var transform = minilab_jpeg_transform()
        transform.left = Int32(part.left)
        transform.top = Int32(part.top)
        transform.width = Int32(part.width)
        transform.height = Int32(part.height)
        transform.transposes = turn.transposes
        transform.mirrors = turn.mirrors
        transform.flips = turn.flips
        transform.is_progressive = reader.header.isProgressive
        transform.is_optimised = isOptimised
        let shim = store.map(CoefficientStoreShim.init)
        let writer = try JPEGWriter(
            file, transform: transform, of: reader, markers: markers, store: shim?.pointer)
        try writer.finish()
        withExtendedLifetime(shim) {}
    }

    private func part(of photo: JPEGLayout) -> Part {
        part ?? Part(left: 0, top: 0, width: photo.width, height: photo.height)
    }
}
