import Edits
import Codecs

/// The coefficients of a photo in a spool file, for a lossless turn.
///
/// For the spool, a block of coefficients is a pixel of 128 bytes.
final class CoefficientSpool: CoefficientStore {
    /// The reason why a read or write failed.
    private(set) var failure: Failure?
    private var writers: [TileSpoolWriter] = []
    private var spools: [TileSpool] = []
    private let tiles: [TileLayout]

    /// Columns of blocks that a transform reads together (`GROUP_ROWS` of CJPEG).
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
