import Adjustments
import Files
import Headers
import JPEG
import Metadata
import Pixels
import RenderProtocol

/// A JPEG that can be edited as the planes it is stored in.
///
/// Streams row of MCUs by row of MCUs. A photo that has to be turned is kept, 1.5 bytes per pixel of 4:2:0,
/// in memory or in a spool file, and turned while it is written.
struct PlanesLane {
    private let file: OpenFile
    private let limits: JPEGLimits
    private let header: JPEGHeader
    private let colour: PhotoColour

    /// Coefficients that libjpeg-turbo may keep for a photo of several scans.
    static let coefficientBytesMax = 512 << 20

    /// Reads the header.
    ///
    /// - Returns: nil when the planes cannot be edited: the components are no luma and chroma of a
    ///   known sampling, or the profile is none of three primaries.
    init?(_ file: PhotoFile) {
        guard file.format == .jpeg else { return nil }
        // What is wrong with the file, the other lanes say; they read it all the same.
        let limits = file.jpegLimits(coefficientBytesMax: Self.coefficientBytesMax)
        guard let header = try? JPEGReader(file.descriptor, limits: limits).header else {
            return nil
        }
        let layout = header.layout
        guard layout.colour == .ycbcr, let chroma = layout.chroma,
            PlaneProgram.chromas.contains(chroma),
            !header.hasSeveralScans || header.coefficientBytes <= Self.coefficientBytesMax
        else { return nil }
        switch header.markers.profile {
        case .none: colour = .sRGB
        case .damaged: return nil
        case .whole(let bytes):
            guard let profile = ICCMatrixProfile(bytes), let known = PhotoColour(profile) else {
                return nil
            }
            colour = known
        }
        self.file = file.file
        self.limits = limits
        self.header = header
    }

    /// The chroma of the result when it is turned so: the photo's, of which 4:2:2 would become 4:4:0.
    ///
    /// - Returns: nil when no recipe could ask for it, or chroma would not stay where it is between the pixels.
    func chroma(_ orientation: Orientation) -> Recipe.Chroma? {
        let turn = JPEGTurn(orientation: orientation.rawValue)
        let turned = header.layout.turned(turn)
        guard !turn.mirrors || turned.width % (turned.mcuWidth / 8) == 0,
            !turn.flips || turned.height % (turned.mcuHeight / 8) == 0
        else { return nil }
        return turned.chroma.flatMap(Recipe.Chroma.init)
    }

    /// Decodes, edits and writes the photo.
    ///
    /// - Parameters:
    ///   - filters: those of the recipe, ready to run: see ``Planner/editsPlanes(_:of:)``.
    ///   - orientation: how it is turned; see ``chroma(_:)``.
    ///   - spool: where the planes of a turned photo go.
    /// - Throws: `JPEGError` or `Failure`.
    func write(
        to target: OpenFile, _ filters: [any PixelFilter], turned orientation: Orientation,
        of recipe: Recipe, _ plan: RenderPlan, _ places: PictureFacts.Places,
        spool place: SpoolPlace
    ) throws {
        let turn = JPEGTurn(orientation: orientation.rawValue)
        let program = PlaneProgram(filters: filters, colour: colour, chain: recipe.filters)
        let reader = try JPEGReader(file.descriptor, limits: limits)
        let writer = try JPEGWriter(
            target.descriptor, layout: header.layout.turned(turn),
            coding: JPEGCoding(
                quality: plan.output.encoderQuality, isProgressive: plan.output.progressive),
            density: header.density,
            markers: header.markers.carried(
                to: PictureFacts(size: plan.resultSize, places: places), strip: plan.output.strip))
        try reader.startPlanes()
        if !turn.transposes, !turn.flips {
            try stream(reader, program, writer, turn, threads: plan.threads)
        } else if JPEGPlanes.byteCount(header.layout) <= place.memoryBytesMax {
            try turnInMemory(reader, program, writer, turn)
        } else {
            try turnInSpool(reader, program, writer, turn, place.file())
        }
        try writer.finish()
    }

    private func stream(
        _ reader: JPEGReader, _ program: PlaneProgram, _ writer: JPEGWriter, _ turn: JPEGTurn,
        threads: Int
    ) throws(JPEGError) {
        let strip = JPEGPlanes(header.layout)
        func write(_ row: Int, _ planes: JPEGPlanes) throws(JPEGError) {
            if turn.mirrors { strip.fill(turn, mcuRow: row, from: planes.samples(photoRow: row)) }
            try writer.writePlanes(turn.mirrors ? strip : planes)
        }
        if threads > 1 {
            try Handover.run(
                header.layout.mcuRows,
                (0..<Handover.buffers).map { _ in JPEGPlanes(header.layout) }
            ) { row, planes throws(JPEGError) in
                try edit(row, of: reader, in: planes, program)
            } use: { row, planes throws(JPEGError) in
                try write(row, planes)
            }
        } else {
            let planes = JPEGPlanes(header.layout)
            for row in 0..<header.layout.mcuRows {
                try edit(row, of: reader, in: planes, program)
                try write(row, planes)
            }
        }
        try reader.finish()
    }

    private func turnInMemory(
        _ reader: JPEGReader, _ program: PlaneProgram, _ writer: JPEGWriter, _ turn: JPEGTurn
    ) throws(JPEGError) {
        let planes = JPEGPlanes(header.layout, mcuRows: header.layout.mcuRows)
        for row in 0..<header.layout.mcuRows {
            try edit(row, of: reader, in: planes, place: row, program)
        }
        try reader.finish()
        let strip = JPEGPlanes(header.layout.turned(turn))
        for row in 0..<strip.layout.mcuRows {
            strip.fill(turn, mcuRow: row, from: planes.samples())
            try writer.writePlanes(strip)
        }
    }

    private func turnInSpool(
        _ reader: JPEGReader, _ program: PlaneProgram, _ writer: JPEGWriter, _ turn: JPEGTurn,
        _ space: SpoolSpace
    ) throws {
        let spool = try PlanesSpool(header.layout, turn, in: space)
        let planes = JPEGPlanes(header.layout)
        for row in 0..<header.layout.mcuRows {
            try edit(row, of: reader, in: planes, program)
            try spool.append(planes, row: row)
        }
        try reader.finish()
        try spool.finish()
        let strip = JPEGPlanes(header.layout.turned(turn))
        for row in 0..<strip.layout.mcuRows {
            try spool.fill(strip, mcuRow: row)
            try writer.writePlanes(strip)
        }
    }

    /// Decodes and edits a row of MCUs.
    ///
    /// - Parameter place: which row of the planes becomes it.
    private func edit(
        _ row: Int, of reader: JPEGReader, in planes: JPEGPlanes, place: Int = 0,
        _ program: PlaneProgram
    ) throws(JPEGError) {
        try reader.readPlanes(into: planes, mcuRow: place)
        planes.fillEdges(mcuRow: place, ofPhoto: row)
        program.run(planes, mcuRow: place, photoRow: row)
    }
}
