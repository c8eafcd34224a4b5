import CCodecs

/// A lossless crop and turn of a JPEG: the coefficients of the result are unchanged.
///
/// The output is byte-identical to jpegtran 2.1.5's, and twice as fast to produce: the turned coefficients are never stored
/// (`Sources/C/CCodecs/JPEG/transform.c`). Memory: 2 bytes per sample of the whole photo, or a few rows with a ``CoefficientStore``.
public struct JPEGTransform: Sendable, Equatable {
    /// A part of a photo in its own pixels, before the turn.
    public struct Part: Sendable, Equatable {
        /// Pixels left of it and above it.
        public let left, top: Int
        /// Its size in pixels.
        public let width, height: Int

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
    public let turn: JPEGTurn

    public init(part: Part? = nil, turn: JPEGTurn = .none) {
        self.part = part
        self.turn = turn
    }

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

/// Storage for the coefficients of a photo outside of ``JPEGTransform``'s memory.
///
/// One thread uses it at a time. The store reports its own errors: the transform only throws ``JPEGError/Kind/notStored``.
public protocol CoefficientStore: AnyObject {
    /// Stores the next rows of a component, all of whose MCUs are whole.
    ///
    /// - Parameters:
    ///   - rows: without gaps.
    ///   - area: in blocks; at full width.
    /// - Returns: whether it succeeded.
    func put(_ rows: UnsafeRawPointer, _ area: CoefficientArea) -> Bool

    /// Reads a part of the stored coefficients.
    ///
    /// - Parameter target: receives the rows without gaps.
    /// - Returns: whether it succeeded.
    func get(_ area: CoefficientArea, into target: UnsafeMutableRawPointer) -> Bool
}

/// A rectangle of a component's blocks.
public struct CoefficientArea: Sendable, Equatable {
    /// Bytes of a block: 64 coefficients of 2.
    public static let blockBytes = 128

    public let component: Int
    /// Blocks left of it and above it.
    public let left, top: Int
    public let width, height: Int

    init(_ blocks: minilab_jpeg_blocks) {
        component = Int(blocks.component)
        (left, top) = (Int(blocks.left), Int(blocks.top))
        (width, height) = (Int(blocks.width), Int(blocks.height))
    }
}

/// The C view of a store, for the duration of a transform.
final class CoefficientStoreShim {
    private let store: any CoefficientStore
    /// Valid for the lifetime of this object.
    let pointer = UnsafeMutablePointer<minilab_jpeg_store>.allocate(capacity: 1)

    init(_ store: any CoefficientStore) {
        self.store = store
        pointer.initialize(
            to: minilab_jpeg_store(
                context: Unmanaged.passUnretained(self).toOpaque(),
                put: { context, blocks, from in
                    guard let context, let blocks, let from else { return false }
                    return Unmanaged<CoefficientStoreShim>.fromOpaque(context)
                        .takeUnretainedValue().store.put(from, CoefficientArea(blocks.pointee))
                },
                get: { context, blocks, target in
                    guard let context, let blocks, let target else { return false }
                    return Unmanaged<CoefficientStoreShim>.fromOpaque(context)
                        .takeUnretainedValue().store.get(
                            CoefficientArea(blocks.pointee), into: target)
                }))
    }

    deinit { pointer.deallocate() }
}

/// One of the eight orientations of an uncropped picture.
public struct JPEGTurn: Sendable, Equatable, CaseIterable {
    public let transposes: Bool
    /// Whether left and right are then swapped.
    public let mirrors: Bool
    /// Whether top and bottom are then swapped.
    public let flips: Bool

    public static let none = JPEGTurn(orientation: 1)
    /// Left and right swapped.
    public static let mirrored = JPEGTurn(orientation: 2)
    /// By 180 degrees.
    public static let half = JPEGTurn(orientation: 3)
    /// Top and bottom swapped.
    public static let flipped = JPEGTurn(orientation: 4)
    /// Mirrored along the diagonal through the top left corner.
    public static let transposed = JPEGTurn(orientation: 5)
    /// By 90 degrees clockwise.
    public static let right = JPEGTurn(orientation: 6)
    /// Mirrored along the other diagonal.
    public static let transversed = JPEGTurn(orientation: 7)
    /// By 90 degrees counter-clockwise.
    public static let left = JPEGTurn(orientation: 8)

    /// Creates the turn that makes a photo of this EXIF orientation upright (EXIF 2.32, tag 274, which defines the sides of the
    /// scene at row 0 and column 0). Numbers outside of 1 to 8 mean 1.
    public init(orientation: Int) {
        transposes = (5...8).contains(orientation)
        mirrors = [2, 3, 6, 7].contains(orientation)
        flips = [3, 4, 7, 8].contains(orientation)
    }

    init(transposes: Bool, mirrors: Bool, flips: Bool) {
        self.transposes = transposes
        self.mirrors = mirrors
        self.flips = flips
    }

    public static var allCases: [JPEGTurn] { (1...8).map(JPEGTurn.init(orientation:)) }
}

extension JPEGTurn {
    public func then(_ next: JPEGTurn) -> JPEGTurn {
        // A transposition swaps the two mirrorings.
        let (mirrored, flipped) = next.transposes ? (flips, mirrors) : (mirrors, flips)
        return JPEGTurn(
            transposes: transposes != next.transposes, mirrors: mirrored != next.mirrors,
            flips: flipped != next.flips)
    }
}

extension JPEGTransform {
    /// Creates the transform for a photo that is made upright, then cropped, then turned.
    ///
    /// - Parameters:
    ///   - orientation: the EXIF orientation, 1 to 8.
    ///   - part: in pixels of the upright photo, or nil for all of it.
    ///   - photo: the layout as stored.
    public init(orientation: Int, part: Part?, turn: JPEGTurn, of photo: JPEGLayout) {
        let upright = JPEGTurn(orientation: orientation)
        self.init(
            part: part?.before(upright, of: photo.turned(upright)), turn: upright.then(turn))
    }
}

extension JPEGTransform.Part {
    /// Returns the part of the photo that becomes this part of the turned photo.
    func before(_ turn: JPEGTurn, of turned: JPEGLayout) -> JPEGTransform.Part {
        let left = turn.mirrors ? turned.width - width - self.left : self.left
        let top = turn.flips ? turned.height - height - self.top : self.top
        return turn.transposes
            ? .init(left: top, top: left, width: height, height: width)
            : .init(left: left, top: top, width: width, height: height)
    }
}
