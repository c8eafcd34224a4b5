import CJPEG

/// A crop and a turn of a JPEG that keep its coefficients: what is left is the same to the last bit.
///
/// Byte for byte what jpegtran 2.1.5 writes, and twice as fast: the turned coefficients are never
/// stored (`CJPEG/transform.c`). Memory: 2 bytes per sample of the whole photo, or a few rows with a
/// ``CoefficientStore``.
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

    /// Why a transform would lose something.
    public enum Obstacle: Sendable, Equatable, CustomStringConvertible {
        /// The part does not lie inside the photo.
        case outside(JPEGLayout)
        /// The part does not begin on an MCU.
        case unaligned(mcuWidth: Int, mcuHeight: Int)
        /// So many columns at the right edge are no whole MCU, and would have to go elsewhere.
        case columnsLeftOver(Int, mcuWidth: Int)
        /// So many rows at the bottom edge are no whole MCU, and would have to go elsewhere.
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

    /// What is kept; all of it when nil.
    public let part: Part?
    /// How the part is turned then.
    public let turn: JPEGTurn

    /// Makes a transform.
    public init(part: Part? = nil, turn: JPEGTurn = .none) {
        self.part = part
        self.turn = turn
    }

    /// The size and sampling of the result.
    public func layout(of photo: JPEGLayout) -> JPEGLayout {
        let part = part(of: photo)
        return JPEGLayout(
            width: part.width, height: part.height, colour: photo.colour, sampling: photo.sampling
        ).turned(turn)
    }

    /// Why it cannot be done to this photo without loss, or nil when it can.
    public func obstacle(for photo: JPEGLayout) -> Obstacle? {
        let part = part(of: photo)
        let (across, down) = (0..<photo.width, 0..<photo.height)
        guard across.contains(part.left), part.width > 0, part.width <= photo.width - part.left,
            down.contains(part.top), part.height > 0, part.height <= photo.height - part.top
        else { return .outside(photo) }
        guard part.left % photo.mcuWidth == 0, part.top % photo.mcuHeight == 0 else {
            return .unaligned(mcuWidth: photo.mcuWidth, mcuHeight: photo.mcuHeight)
        }
        // After a transposition the mirror changes what were rows.
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
    ///   - reader: has read its header and nothing else; is used up.
    ///   - file: a descriptor; what was in it goes.
    ///   - isOptimised: Huffman tables made for the result: smaller, and slower.
    ///   - markers: see ``JPEGWriter``.
    ///   - store: where the coefficients of a photo of one scan go; nil for memory.
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
