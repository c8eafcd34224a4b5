import Codecs
import Edits
import Files
import PhotoFiles
import RenderProtocol

/// A photo that is edited in its stored planes, to a JPEG of the same sampling.
///
/// The lane streams by rows of MCUs. Tiles of a HEIC are decoded in the order of the turn. A JPEG that is turned is kept in memory
/// or in a spool file, 1.5 bytes per pixel of 4:2:0, and turned while it is written.
struct PlanesLane {
    private let photo: any PlanarPhoto
    private var layout: JPEGLayout { photo.layout }

    /// The most bytes of coefficients that libjpeg-turbo may keep for a photo of several scans.
    static let coefficientBytesMax = 512 << 20

    private init(_ photo: any PlanarPhoto) { self.photo = photo }

    /// Reads the header; nil if the planes cannot be edited, see ``PhotoFile/planar()``.
    init?(_ file: PhotoFile) {
        guard let photo = file.planar() else { return nil }
        self.photo = photo
    }

    /// Returns the chroma sampling of the result after a turn: the photo's own; a turn by 90 degrees would make 4:4:0 of 4:2:2.
    ///
    /// - Returns: nil if no recipe can request that sampling, or if chroma samples would move relative to the pixels.
    func chroma(_ orientation: Orientation) -> Recipe.Chroma? {
        let turn = JPEGTurn(orientation: orientation.rawValue)
        if photo.isTurnedByDecoder, turn != .none {
            return photo.turned(turn)?.layout.chroma.flatMap(Recipe.Chroma.init)
        }
        let turned = layout.turned(turn)
        guard !turn.mirrors || turned.width % (turned.mcuWidth / 8) == 0,
            !turn.flips || turned.height % (turned.mcuHeight / 8) == 0
        else { return nil }
        return turned.chroma.flatMap(Recipe.Chroma.init)
    }

    /// Allocates a small copy that is made while the photo is edited; nil if that is not possible.
    func copy(_ size: PixelSize, turned orientation: Orientation) -> PlaneCopy? {
        // The decoder delivers such a photo turned already.
        guard !photo.isTurnedByDecoder || orientation == .upright else { return nil }
        return PlaneCopy(of: layout, photo.colour, size)
    }

    /// The meaning of the codes of red, green and blue.
    var colour: PhotoColour { photo.colour }

    /// Decodes, edits and writes the photo.
    ///
    /// - Parameters:
    ///   - target: nil if only renditions are made.
    ///   - filters: the recipe's filters, ready to run: see ``Planner/editsPlanes(_:of:)``.
    ///   - orientation: the turn; see ``chroma(_:)``.
    ///   - spool: the storage for the planes of a turned photo.
    ///   - copy: filled from the photo before the filters run.
    ///   - fan: gets the rows of the result.
    /// - Throws: `JPEGError` or `Failure`.
    func write(
        to target: OpenFile?, _ filters: [any PixelFilter], turned orientation: Orientation,
        of recipe: Recipe, _ plan: RenderPlan, _ facts: PictureFacts,
        spool storage: SpoolStorage, filling copy: PlaneCopy? = nil,
        feeding fan: RenditionFan? = nil
    ) throws {
        let turn = JPEGTurn(orientation: orientation.rawValue)
        if photo.isTurnedByDecoder, turn != .none, let turned = photo.turned(turn) {
            return try PlanesLane(turned).write(
                to: target, filters, turned: .upright, of: recipe, plan, facts, spool: storage,
                feeding: fan)
        }
        // Without filters, samples are unchanged.
        let program =
            filters.isEmpty
            ? nil
            : PlaneProgram(filters: filters, colour: photo.colour, chain: recipe.filters)
        let decoder = try photo.planes()
        let source = copy.map { CopiedPlanes(decoder, $0) } ?? decoder
        let writer = try target.map { target in
            try JPEGWriter(
                target.descriptor, layout: layout.turned(turn),
                coding: JPEGCoding(
                    quality: plan.output.encoderQuality, isProgressive: plan.output.progressive),
                density: photo.density,
                markers: photo.markers.carried(
                    to: facts, strip: plan.output.strip, writing: recipe.output))
        }
        let light = fan.map { PlaneLight(layout.turned(turn), photo.colour, into: $0.root) }
        let sink: any PlaneSink = FanningSink(writer, light)
        if !turn.transposes, !turn.flips {
            try stream(source, program, sink, turn, threads: plan.threads)
        } else if JPEGPlanes.byteCount(layout) <= storage.memoryBytesMax {
            try turnInMemory(source, program, sink, turn)
        } else {
            try turnInSpool(source, program, sink, turn, storage.file())
        }
        try sink.finish()
    }

    private func stream(
        _ source: any PlaneSource, _ program: PlaneProgram?, _ sink: any PlaneSink,
        _ turn: JPEGTurn,
        threads: Int
    ) throws {
        let strip = JPEGPlanes(layout)
        func write(_ row: Int, _ planes: JPEGPlanes) throws {
            if turn.mirrors { strip.fill(turn, mcuRow: row, from: planes.samples(photoRow: row)) }
            try sink.writePlanes(turn.mirrors ? strip : planes, mcuRow: 0)
        }
        if threads > 1 {
            try Handover.run(
                layout.mcuRows,
                (0..<Handover.buffers).map { _ in JPEGPlanes(layout) }
            ) { row, planes throws in
                try edit(row, of: source, in: planes, program)
            } use: { row, planes throws in
                try write(row, planes)
            }
        } else {
            let planes = JPEGPlanes(layout)
            for row in 0..<layout.mcuRows {
                try edit(row, of: source, in: planes, program)
                try write(row, planes)
            }
        }
        try source.finish()
    }

    private func turnInMemory(
        _ source: any PlaneSource, _ program: PlaneProgram?, _ sink: any PlaneSink, _ turn: JPEGTurn
    ) throws {
        let planes = JPEGPlanes(layout, mcuRows: layout.mcuRows)
        for row in 0..<layout.mcuRows {
            try edit(row, of: source, in: planes, targetRow: row, program)
        }
        try source.finish()
        let strip = JPEGPlanes(layout.turned(turn))
        for row in 0..<strip.layout.mcuRows {
            strip.fill(turn, mcuRow: row, from: planes.samples())
            try sink.writePlanes(strip, mcuRow: 0)
        }
    }

    private func turnInSpool(
        _ source: any PlaneSource, _ program: PlaneProgram?, _ sink: any PlaneSink,
        _ turn: JPEGTurn,
        _ space: SpoolSpace
    ) throws {
        let spool = try PlanesSpool(layout, turn, in: space)
        let planes = JPEGPlanes(layout)
        for row in 0..<layout.mcuRows {
            try edit(row, of: source, in: planes, program)
            try spool.append(planes, row: row)
        }
        try source.finish()
        try spool.finish()
        let strip = JPEGPlanes(layout.turned(turn))
        for row in 0..<strip.layout.mcuRows {
            try spool.fill(strip, mcuRow: row)
            try sink.writePlanes(strip, mcuRow: 0)
        }
    }

    /// Decodes and edits a row of MCUs.
    ///
    /// - Parameter targetRow: the row of the planes that receives it.
    private func edit(
        _ row: Int, of source: any PlaneSource, in planes: JPEGPlanes, targetRow: Int = 0,
        _ program: PlaneProgram?
    ) throws {
        try source.readPlanes(into: planes, mcuRow: targetRow)
        planes.fillEdges(mcuRow: targetRow, ofPhoto: row)
        program?.run(planes, mcuRow: targetRow, photoRow: row)
    }
}

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
