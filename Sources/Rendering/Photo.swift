import Adjustments
import Headers
import RenderProtocol
import Vips

/// A photo whose header is read and whose render is planned.
struct Photo {
    let file: PhotoFile
    let header: PhotoHeader
    /// In pixels of the full photo.
    let recipe: Recipe
    let planned: Planner.Planned
    var plan: RenderPlan { planned.plan }
    /// The photo as planes, when it can be edited as such.
    let planes: PlanesLane?

    /// Decoded pixels up to this many bytes stay in memory where they are needed in any order, unless the plan
    /// says otherwise; more go to a spool file.
    static let memorySpoolBytesMax = 96 << 20

    /// The size, as stored, of the copy that is edited instead of the photo, or nil for the photo itself.
    let copySize: PixelSize?
    /// What the photo itself needs, whatever is made of it: a small copy of it may take as much to decode.
    let fullEstimate: RenderEstimate

    /// A small copy to be edited instead of a photo.
    enum Copy {
        /// So that the longest side of the result is this, if the photo is large enough.
        case longestSide(Int)
        /// Of this size, as stored.
        case size(PixelSize)
    }

    /// Reads the header, refuses what is too large, and plans.
    ///
    /// - Parameters:
    ///   - copy: which small copy is edited instead, or nil for the photo itself.
    ///   - memoryMax: bytes that the render may need, or nil for no bound.
    ///   - memorySpoolBytesMax: pixels that are needed in any order stay in memory up to this many bytes.
    ///   - resource: where the file of a digest is.
    init(
        _ path: String, recipe: Recipe, limits: RenderLimits, copy: Copy? = nil,
        memoryMax: Int? = nil, memorySpoolBytesMax: Int = Photo.memorySpoolBytesMax,
        resource: @escaping @Sendable (String) throws(Failure) -> String
    ) throws(Failure) {
        VipsLibrary.forgetErrors()
        let file = try PhotoFile(at: path, limits: limits)
        self.file = file
        let full = try file.header()
        try limits.check(full.storedSize, of: path)
        var recipe = try recipe.scaled(to: full.uprightSize)
        if recipe.isAutomatic {
            recipe = try recipe.resolved(by: file.statistics(storedSize: full.storedSize))
        }
        let wanted = recipe
        let planes = PlanesLane(file)
        let obstacle =
            copy == nil && file.format == .jpeg ? LosslessLane.obstacle(in: file) : nil
        func plan(_ room: MemoryRoom) throws(Failure) -> Planner.Planned {
            try Planner.plan(
                wanted, for: full, limits: limits, room: room,
                planes: copy == nil ? planes.map { $0.chroma } : nil,
                losslessObstacle: obstacle, resource: resource)
        }
        var usual = MemoryRoom.ofProcess
        usual.keptBytesMax = memorySpoolBytesMax
        let planned =
            copy == nil
            ? try Planner.plan(within: memoryMax, from: usual, plan) : try plan(usual)
        let copySize: PixelSize? =
            switch copy {
            case nil: nil
            case .size(let size): size
            case .longestSide(let side):
                full.storedSize.shrunk(side, of: planned.plan.resultSize)
            }
        fullEstimate = planned.plan.estimate
        self.planes = planes
        guard let copySize else {
            (header, self.recipe, self.planned, self.copySize) = (full, recipe, planned, nil)
            return
        }
        let small = full.resized(to: copySize)
        let shown = try wanted.shown(on: small.uprightSize, of: full.uprightSize)
        (header, self.recipe) = (small, shown)
        self.planned = try Planner.plan(within: memoryMax, from: usual) { room throws(Failure) in
            try Planner.plan(
                shown, for: small, of: full, limits: limits, room: room, resource: resource)
        }
        self.copySize = copySize
    }

    /// The edited picture, computed when it is written.
    ///
    /// - Parameter folder: where a spool file may be.
    /// - Throws: `VipsError` or `Failure`.
    func edited(
        _ photo: StandardImage, as colour: PhotoColour, folder: String
    ) throws -> Image {
        let target = PixelProgram.Layout(
            sample: plan.output.bitDepth == .eight ? .encoded8 : .encoded16,
            bands: plan.output.keepsAlpha ? 4 : 3)
        var runner = PassRunner(
            photo, target: target, targetColour: colour, background: plan.output.background,
            spool: planned.spoolPlace(folder))
        return try runner.run(planned.passes)
    }
}

extension Image {
    /// With a pixel program run over it.
    func running(_ program: PixelProgram) throws(VipsError) -> Image {
        try computing(program.target.picture(width: width, height: height)) {
            program.run($0, $1)
        }
    }
}

extension PixelProgram.Layout {
    /// How libvips holds such samples; it has no planes.
    func picture(width: Int, height: Int) -> RegionPicture {
        let (format, interpretation): (Image.SampleFormat, String) =
            switch sample {
            case .encoded8: (.uchar, "srgb")
            case .encoded16: (.ushort, "rgb16")
            case .linear: (.float, "scrgb")
            case .planes: preconditionFailure("planes are never a picture of libvips")
            }
        return RegionPicture(
            width: width, height: height, bands: bands, format: format,
            interpretation: interpretation)
    }
}
