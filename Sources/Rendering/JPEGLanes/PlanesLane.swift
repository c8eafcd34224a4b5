import Edits
import Files
import PhotoFiles
import Codecs
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

    /// The factors by which a copy for small pictures is shrunk.
    private static let shrinks = [32, 16, 8, 4]

    /// Allocates a copy from which pictures of this size are made, like ``copy(_:turned:)``; nil also if the size is more than a
    /// quarter of the photo's.
    func copy(atLeast size: PixelSize, turned orientation: Orientation) -> PlaneCopy? {
        let shrink = Self.shrinks.first {
            layout.width >= $0 * size.width && layout.height >= $0 * size.height
        }
        return shrink.flatMap {
            copy(
                PixelSize(
                    width: (layout.width + $0 - 1) / $0, height: (layout.height + $0 - 1) / $0),
                turned: orientation)
        }
    }

    /// Decodes, edits and writes the photo.
    ///
    /// - Parameters:
    ///   - filters: the recipe's filters, ready to run: see ``Planner/editsPlanes(_:of:)``.
    ///   - orientation: the turn; see ``chroma(_:)``.
    ///   - spool: the storage for the planes of a turned photo.
    ///   - copies: filled from the photo before the filters run.
    /// - Throws: `JPEGError` or `Failure`.
    func write(
        to target: OpenFile, _ filters: [any PixelFilter], turned orientation: Orientation,
        of recipe: Recipe, _ plan: RenderPlan, _ facts: PictureFacts,
        spool storage: SpoolStorage, filling copies: [PlaneCopy] = []
    ) throws {
        let turn = JPEGTurn(orientation: orientation.rawValue)
        if photo.isTurnedByDecoder, turn != .none, let turned = photo.turned(turn) {
            return try PlanesLane(turned).write(
                to: target, filters, turned: .upright, of: recipe, plan, facts, spool: storage)
        }
        // Without filters, samples are unchanged.
        let program =
            filters.isEmpty
            ? nil
            : PlaneProgram(filters: filters, colour: photo.colour, chain: recipe.filters)
        let source = try copies.reduce(photo.planes()) { CopiedPlanes($0, $1) }
        let sink: any PlaneSink = try JPEGWriter(
            target.descriptor, layout: layout.turned(turn),
            coding: JPEGCoding(
                quality: plan.output.encoderQuality, isProgressive: plan.output.progressive),
            density: photo.density,
            markers: photo.markers.carried(to: facts, strip: plan.output.strip))
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
