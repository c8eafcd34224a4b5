import Adjustments
import Headers
import JPEG
import Metadata
import RenderProtocol

/// A JPEG that can be edited as the planes it is stored in.
///
/// Streams row of MCUs by row of MCUs. A photo that has to be turned is kept in memory, 1.5 bytes per
/// pixel of 4:2:0, and turned while it is written.
struct PlanesLane {
    /// The chroma of the result: the photo's, of which 4:2:2 would be turned to 4:4:0.
    let chroma: Recipe.Chroma
    private let path: String
    private let limits: JPEGLimits
    private let header: JPEGHeader
    private let turn: JPEGTurn
    private let colour: PhotoColour

    /// Coefficients that libjpeg-turbo may keep for a photo of several scans.
    static let coefficientBytesMax = 512 << 20

    /// Reads the header.
    ///
    /// - Returns: nil when the planes cannot be edited: the components are no luma and chroma of a
    ///   sampling that a recipe could ask for, the profile is none of three primaries, a turn would not leave chroma where it
    ///   is between the pixels, or needs too much memory.
    init?(_ file: PhotoFile, orientation: Int) {
        guard file.format == .jpeg else { return nil }
        // What is wrong with the file, the other lanes say; they read it all the same.
        let limits = file.jpegLimits(coefficientBytesMax: Self.coefficientBytesMax)
        guard let header = try? JPEGReader(file.path, limits: limits).header else { return nil }
        let layout = header.layout
        guard layout.colour == .ycbcr, let chroma = layout.chroma,
            PlaneProgram.chromas.contains(chroma),
            let resultChroma = layout.turned(JPEGTurn(orientation: orientation)).chroma
                .flatMap(Recipe.Chroma.init),
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
        turn = JPEGTurn(orientation: orientation)
        if turn != .none {
            let turned = layout.turned(turn)
            guard JPEGPlanes.byteCount(layout) <= Photo.memorySpoolBytesMax,
                !turn.mirrors || turned.width % (turned.mcuWidth / 8) == 0,
                !turn.flips || turned.height % (turned.mcuHeight / 8) == 0
            else { return nil }
        }
        path = file.path
        self.limits = limits
        self.chroma = resultChroma
        self.header = header
    }

    /// Decodes, edits and writes the photo.
    ///
    /// - Parameter filters: those of the recipe, ready to run: see ``Planner/editsPlanes(_:of:)``.
    func write(
        to target: String, _ filters: [any PixelFilter], of recipe: Recipe, _ plan: RenderPlan
    ) throws(JPEGError) {
        let program = PlaneProgram(filters: filters, colour: colour, chain: recipe.filters)
        let reader = try JPEGReader(path, limits: limits)
        let layout = header.layout
        let writer = try JPEGWriter(
            target, layout: layout.turned(turn),
            coding: JPEGCoding(
                quality: plan.output.encoderQuality, isProgressive: plan.output.progressive),
            density: header.density,
            markers: header.markers.carried(
                to: PictureFacts(size: plan.resultSize), strip: plan.output.strip))
        try reader.startPlanes()
        let isTurned = turn != .none
        let planes = JPEGPlanes(layout, mcuRows: isTurned ? layout.mcuRows : 1)
        for row in 0..<layout.mcuRows {
            let place = isTurned ? row : 0
            try reader.readPlanes(into: planes, mcuRow: place)
            planes.fillEdges(mcuRow: place, ofPhoto: row)
            program.run(planes, mcuRow: place, photoRow: row)
            if !isTurned { try writer.writePlanes(planes) }
        }
        try reader.finish()
        if isTurned {
            let strip = JPEGPlanes(layout.turned(turn))
            for row in 0..<strip.layout.mcuRows {
                planes.copy(turn, mcuRow: row, into: strip)
                try writer.writePlanes(strip)
            }
        }
        try writer.finish()
    }
}
