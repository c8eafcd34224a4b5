import Edits
import Codecs

/// The planes of a photo in a spool file: written by rows of MCUs, read as rows of the turned photo.
///
/// One thread uses it at a time. It holds in memory a band of each plane while it is written, and then some rows of MCUs of the
/// result.
final class PlanesSpool {
    private let layout: JPEGLayout
    private let turn: JPEGTurn
    private var writers: [TileSpoolWriter]
    private var spools: [TileSpool] = []
    /// The samples read last: some columns of the photo at full height, or some rows at full width.
    private var group: [Group] = []
    /// The rows of MCUs of the result that ``group`` covers.
    private var groupRows = 0..<0

    /// Rows of MCUs that a turn by 90 degrees reads together: columns of the photo, 64 of luma.
    private static let mcusTogether = 4

    /// - Parameters:
    ///   - layout: the photo's layout.
    ///   - turn: a turn that transposes or flips; all other turns stream.
    ///   - space: the space in the spool file.
    /// - Throws: `noSpace`, `ioFailure`.
    init(_ layout: JPEGLayout, _ turn: JPEGTurn, in space: SpoolSpace) throws(Failure) {
        self.layout = layout
        self.turn = turn
        let file = try SpoolFile(bytes: Self.bytes(of: layout, turn), in: space)
        var start = 0
        writers = Self.tiles(of: layout, turn).map { tiles in
            defer { start += tiles.wholePages }
            return TileSpoolWriter(tiles, to: file, at: start)
        }
    }

    /// Bytes on the disk.
    static func bytes(of layout: JPEGLayout, _ turn: JPEGTurn) -> Int {
        tiles(of: layout, turn).reduce(0) { $0 + $1.wholePages }
    }

    /// The layout of each component in the file.
    static func tiles(of layout: JPEGLayout, _ turn: JPEGTurn) -> [TileLayout] {
        layout.sampling.indices.map { component in
            let size = layout.size(of: component)
            let columns = 8 * layout.sampling[component].horizontal * mcusTogether
            return TileLayout(
                width: size.width, height: size.height, pixelBytes: 1,
                for: turn.transposes ? .columns(columns, fromRight: turn.flips) : .rows)
        }
    }

    /// Writes the next row of MCUs.
    ///
    /// - Parameters:
    ///   - planes: its samples, as the only row.
    ///   - row: the row of MCUs in the photo.
    /// - Throws: `noSpace`, `ioFailure`.
    func append(_ planes: JPEGPlanes, row: Int) throws(Failure) {
        for (component, plane) in planes.planes.enumerated() {
            let left = layout.size(of: component).height - row * plane.mcuHeight
            try writers[component].append(
                plane.start, stride: plane.stride, count: min(plane.mcuHeight, left))
        }
    }

    /// Finishes the writing.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    func finish() throws(Failure) {
        for writer in writers { spools.append(try writer.finish()) }
        writers = []
    }

    /// Reads a row of MCUs of the turned photo. Reading rows from top to bottom is cheapest.
    ///
    /// - Throws: `ioFailure`.
    func fill(_ strip: JPEGPlanes, mcuRow: Int) throws(Failure) {
        if !groupRows.contains(mcuRow) {
            let together = turn.transposes ? Self.mcusTogether : 1
            let first = mcuRow / together * together
            group = []
            for (spool, plane) in zip(spools, strip.planes) {
                group.append(
                    try Group(
                        spool, turn, first: first * plane.mcuHeight,
                        count: together * plane.mcuHeight))
            }
            groupRows = first..<first + together
        }
        strip.fill(turn, mcuRow: mcuRow, from: group.map(\.samples))
    }

    /// Rows of the turned plane, in the photo's orientation.
    private final class Group {
        private let memory: UnsafeMutablePointer<UInt8>
        /// The samples, addressed as if the whole plane were in memory.
        let samples: JPEGPlanes.Samples

        init(_ spool: TileSpool, _ turn: JPEGTurn, first: Int, count: Int) throws(Failure) {
            let tiles = spool.layout
            let length = turn.transposes ? tiles.width : tiles.height
            let rows = max(0, turn.flips ? length - first - count : first)
            let end = turn.flips ? length - first : min(length, first + count)
            let area =
                turn.transposes
                ? PixelArea(left: rows, top: 0, width: end - rows, height: tiles.height)
                : PixelArea(left: 0, top: rows, width: tiles.width, height: end - rows)
            let stride = tiles.tileWidth
            memory = .allocate(capacity: stride * area.height)
            samples = JPEGPlanes.Samples(
                start: memory - area.top * stride - area.left, stride: stride)
            try spool.read(area, into: memory, stride: stride)
        }

        deinit { memory.deallocate() }
    }
}
