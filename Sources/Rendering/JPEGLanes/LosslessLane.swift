import Codecs
import Edits
import Files
import PhotoFiles

/// A JPEG that is only turned and cropped: its coefficients are rearranged, without loss.
///
/// Any JPEG is accepted, grey and CMYK too. The coefficients, 2 bytes per sample and 3 per pixel of 4:2:0, are kept in memory or in
/// a spool file.
struct LosslessLane {
    /// The reason why the lane cannot be used, or nil. With an obstacle, the photo must be decoded to pixels.
    let obstacle: Obstacle?
    let size: PixelSize
    private let file: OpenFile
    private let limits: JPEGLimits
    private let header: JPEGHeader
    private let transform: JPEGTransform

    /// The most bytes of coefficients of a photo with several scans that are kept in memory: each scan traverses all of them.
    static let coefficientBytesMax = 512 << 20

    /// The obstacles to a lossless transform.
    enum Obstacle: Equatable, CustomStringConvertible {
        case geometry(JPEGTransform.Obstacle)
        case memory(bytes: Int)

        var description: String {
            switch self {
            case .geometry(let obstacle): "\(obstacle)"
            case .memory(let bytes):
                "its coefficients, which come in several scans, need \(bytes >> 20) MB"
            }
        }
    }

    /// Reads the header.
    ///
    /// - Parameters:
    ///   - file: a JPEG.
    ///   - orientation: the EXIF orientation, which is applied to the result's pixels.
    ///   - part: the part to keep, in pixels of the upright photo; nil for all of it.
    ///   - turn: the turn that is applied to the part.
    init(
        _ file: PhotoFile, orientation: Int, part: JPEGTransform.Part? = nil,
        turn: JPEGTurn = .none
    ) throws(JPEGError) {
        limits = file.jpegLimits(coefficientBytesMax: Self.coefficientBytesMax)
        header = try JPEGReader(file.descriptor, limits: limits).header
        self.file = file.file
        let layout = header.layout
        transform = JPEGTransform(orientation: orientation, part: part, turn: turn, of: layout)
        let result = transform.layout(of: layout)
        size = PixelSize(width: result.width, height: result.height)
        if let obstacle = transform.obstacle(for: layout) {
            self.obstacle = .geometry(obstacle)
        } else if header.hasSeveralScans, header.coefficientBytes > Self.coefficientBytesMax {
            obstacle = .memory(bytes: header.coefficientBytes)
        } else {
            obstacle = nil
        }
    }

    /// Whether the coefficients are written to a spool file.
    private func isSpooled(_ storage: SpoolStorage) -> Bool {
        !header.hasSeveralScans && header.coefficientBytes > storage.memoryBytesMax
    }

    /// Writes the result. There must be no ``obstacle``.
    ///
    /// A progressive photo stays progressive.
    ///
    /// - Throws: `JPEGError` or `Failure`.
    func write(
        to target: OpenFile, strip: Recipe.Strip, facts: PictureFacts? = nil,
        writing output: Recipe.Output? = nil, spool storage: SpoolStorage
    ) throws {
        let spool =
            isSpooled(storage)
            ? try CoefficientSpool(header.layout, transform.turn, in: storage.file()) : nil
        do {
            try transform.write(
                JPEGReader(file.descriptor, limits: limits), to: target.descriptor,
                markers: header.markers.carried(
                    to: facts ?? PictureFacts(size: size, positions: .unknown), strip: strip,
                    writing: output),
                store: spool)
        } catch {
            if let failure = spool?.failure { throw failure }
            throw error
        }
    }
}

extension LosslessLane {
    /// Creates the lane for a geometry that only crops and turns the stored photo; nil for no geometry.
    init(_ file: PhotoFile, _ geometry: Geometry?) throws(JPEGError) {
        let transform = JPEGTransform(lossless: geometry)
        try self.init(file, orientation: 1, part: transform.part, turn: transform.turn)
    }

    /// Returns a function that names the obstacle to a geometry of a photo, for the plan.
    static func obstacle(in file: PhotoFile) -> (Geometry?) -> String? {
        { geometry in
            do {
                return try LosslessLane(file, geometry).obstacle?.description
            } catch {
                return "\(error)"
            }
        }
    }
}

extension JPEGTransform {
    /// Converts a geometry that only crops and turns.
    init(lossless geometry: Geometry?) {
        var part: Part?
        var turn = JPEGTurn.none
        for step in geometry?.steps ?? [] {
            switch step.kind {
            case .crop(let rectangle):
                let area = PixelArea(rectangle, of: step.source)
                part = Part(
                    left: area.left, top: area.top, width: area.width, height: area.height)
            case .turn(let orientation): turn = JPEGTurn(orientation: orientation.rawValue)
            case .identity, .scale, .warp: preconditionFailure("\(step) is not lossless")
            }
        }
        self.init(part: part, turn: turn)
    }
}

/// The coefficients of a photo in a spool file, for a lossless turn.
///
/// For the spool, a block of coefficients is a pixel of 128 bytes.
final class CoefficientSpool: CoefficientStore {
    private(set) var failure: Failure?
    private var writers: [TileSpoolWriter] = []
    private var spools: [TileSpool] = []
    private let tiles: [TileLayout]

    /// Columns of blocks that a transform reads together (`GROUP_ROWS` of CCodecs).
    private static let blocksTogether = 8

    /// - Parameters:
    ///   - layout: the photo's layout.
    ///   - turn: the turn that is applied.
    ///   - space: the space in the spool file.
    /// - Throws: `noSpace`, `ioFailure`.
    init(_ layout: JPEGLayout, _ turn: JPEGTurn, in space: SpoolSpace) throws(Failure) {
        tiles = Self.tiles(of: layout, turn)
        let file = try SpoolFile(bytes: Self.bytes(of: layout, turn), in: space)
        var start = 0
        for tiles in tiles {
            writers.append(TileSpoolWriter(tiles, to: file, at: start))
            start += tiles.wholePages
        }
    }

    /// Bytes on the disk.
    static func bytes(of layout: JPEGLayout, _ turn: JPEGTurn) -> Int {
        tiles(of: layout, turn).reduce(0) { $0 + $1.wholePages }
    }

    /// The layout of each component in the file.
    static func tiles(of layout: JPEGLayout, _ turn: JPEGTurn) -> [TileLayout] {
        layout.sampling.map { sampling in
            TileLayout(
                width: layout.mcusAcross * sampling.horizontal,
                height: layout.mcuRows * sampling.vertical,
                pixelBytes: CoefficientArea.blockBytes,
                for: turn.transposes
                    ? .columns(blocksTogether, fromRight: turn.flips) : .rows)
        }
    }

    func put(_ rows: UnsafeRawPointer, _ area: CoefficientArea) -> Bool {
        reporting { () throws(Failure) in
            precondition(area.width == tiles[area.component].width, "\(area) is no whole row")
            try writers[area.component].append(
                rows, stride: area.width * CoefficientArea.blockBytes, count: area.height)
        }
    }

    func get(_ area: CoefficientArea, into target: UnsafeMutableRawPointer) -> Bool {
        reporting { () throws(Failure) in
            if spools.isEmpty {
                for writer in writers { spools.append(try writer.finish()) }
                writers = []
            }
            try spools[area.component].read(
                PixelArea(left: area.left, top: area.top, width: area.width, height: area.height),
                into: target, stride: area.width * CoefficientArea.blockBytes)
        }
    }

    private func reporting(_ work: () throws(Failure) -> Void) -> Bool {
        do throws(Failure) {
            try work()
            return true
        } catch {
            failure = error
            return false
        }
    }
}
