import Adjustments
import Files
import Headers
import Metadata
import Pixels
import RenderProtocol
import Vips

/// A photo whose header is read: what all that is made of it has in common.
struct OpenedPhoto {
    let file: PhotoFile
    let header: PhotoHeader
    /// In pixels of the photo, with automatic filters resolved.
    let recipe: Recipe
    let limits: RenderLimits
    let resources: Resources
    /// The photo as planes, when it can be edited as such.
    let planes: PlanesLane?
    /// Why a crop and turn of the photo as it is stored would lose something.
    let losslessObstacle: ((Geometry?) -> String?)?
    /// The content identifier of the result; nil: the photo's own.
    let contentIdentifier: String?
    /// The things in the file beside the photo.
    let beside: Beside
    /// The movie that the photo is a frame of; nil for a photo.
    let movie: MovieFile?

    /// Reads the header and refuses what is too large.
    init(
        _ photo: PhotoFile, recipe: Recipe, limits: RenderLimits, resources: Resources,
        contentIdentifier: String? = nil
    ) throws(Failure) {
        self.contentIdentifier = contentIdentifier
        VipsLibrary.forgetErrors()
        let movie = try MovieFile(photo, limits: limits)
        self.movie = movie
        let header = try photo.header()
        try limits.check(header.storedSize, of: photo.name)
        var recipe = try recipe.scaled(to: header.uprightSize)
        if recipe.isAutomatic {
            recipe = try recipe.resolved(by: photo.statistics(storedSize: header.storedSize))
        }
        self.file = photo
        self.header = header
        self.recipe = recipe
        self.limits = limits
        self.resources = resources
        planes = PlanesLane(photo)
        beside = photo.beside()
        losslessObstacle = photo.format == .jpeg ? LosslessLane.obstacle(in: photo) : nil
    }
}

/// A picture of a photo, planned: the photo itself, edited, or a small copy of it.
struct Photo {
    let opened: OpenedPhoto
    /// Of what is edited.
    let header: PhotoHeader
    /// In pixels of what is edited.
    let recipe: Recipe
    let planned: Planner.Planned
    var file: PhotoFile { opened.file }
    var plan: RenderPlan { planned.plan }

    /// Decoded pixels up to this many bytes stay in memory where they are needed in any order, unless the plan
    /// says otherwise; more go to a spool file.
    static let memorySpoolBytesMax = 96 << 20

    /// Whether it is a movie that is written, and not a picture of one.
    let isMovie: Bool
    /// The video of a motion photo, which is edited with it; nil where there is none, or it is dropped or copied.
    let clip: MotionClip?
    /// The size, as stored, of the copy that is edited instead of the photo, or nil for the photo itself.
    let copySize: PixelSize?
    /// The need of the photo itself, whatever is made of it: a small copy of it may take as much to decode. Of a part of a movie: the
    /// part's need.
    let fullEstimate: RenderEstimate

    /// A small copy to be edited instead of a photo.
    enum Copy {
        /// So that the longest side of the result is this, if the photo is large enough.
        case longestSide(Int)
        /// Of this size, as stored.
        case size(PixelSize)
    }

    /// Plans a picture.
    ///
    /// - Parameters:
    ///   - format: how it is written; nil: as the recipe says.
    ///   - copy: which small copy is edited instead, or nil for the photo itself.
    ///   - segment: which part of a movie it is, or nil for all of it.
    ///   - memoryMax: bytes that the render may need, or nil for no bound.
    ///   - threads: that may compute it, or nil: as libvips was started.
    ///   - memorySpoolBytesMax: pixels that are needed in any order stay in memory up to this many bytes.
    init(
        _ opened: OpenedPhoto, format: Recipe.Output? = nil, copy: Copy? = nil,
        segment: Int? = nil, memoryMax: Int? = nil, threads: Int? = nil,
        memorySpoolBytesMax: Int = Photo.memorySpoolBytesMax
    ) throws(Failure) {
        self.opened = opened
        isMovie = copy == nil && opened.movie != nil
        let full = opened.header
        let wanted = try opened.recipe.written(as: format)
        let (limits, resources) = (opened.limits, opened.resources)
        let video = copy == nil ? MotionClip.plan(of: opened, wanted) : nil
        func plan(_ recipe: Recipe, _ room: MemoryRoom) throws(Failure) -> Planner.Planned {
            if copy == nil, let movie = opened.movie {
                return try Planner.plan(
                    recipe, for: movie, header: full, limits: limits, room: room,
                    resources: resources, isRenamed: opened.contentIdentifier != nil)
            }
            return try Planner.plan(
                recipe, for: full, limits: limits, room: room,
                planes: copy == nil ? opened.planes.map { $0.chroma } : nil,
                losslessObstacle: copy == nil ? opened.losslessObstacle : nil,
                beside: copy == nil ? opened.beside : nil, video: video, resources: resources)
        }
        var usual = MemoryRoom.ofProcess
        usual.keptBytesMax = memorySpoolBytesMax
        if let threads { usual.threads = threads }
        let planned =
            if copy == nil {
                try Planner.plan(within: memoryMax, from: usual) { room throws(Failure) in
                    try plan(wanted, room)
                }
            } else {
                // Nothing of full size is written as the copy will be, so no longest side of its format bounds the photo.
                try plan(opened.recipe.written(as: Recipe.Output(format: .png)), usual)
            }
        let copySize: PixelSize? =
            switch copy {
            case nil: nil
            case .size(let size): size
            case .longestSide(let side):
                full.storedSize.shrunk(side, of: planned.plan.resultSize)
            }
        let whole = planned.plan.estimate
        if planned.hasClip, case .clip(let clip) = video { self.clip = clip } else { clip = nil }
        fullEstimate = segment == nil ? whole : planned.plan.movie?.segment ?? whole
        guard let copySize else {
            (header, recipe, self.copySize) = (full, wanted, nil)
            // A photo that is no larger than its copy would be is edited itself.
            self.planned = copy == nil ? planned : try plan(wanted, usual)
            return
        }
        let small = full.resized(to: copySize)
        let shown = try wanted.shown(on: small.uprightSize, of: full.uprightSize)
        (header, recipe) = (small, shown)
        self.planned = try Planner.plan(within: memoryMax, from: usual) { room throws(Failure) in
            try Planner.plan(
                shown, for: small, of: full, limits: limits, room: room, resources: resources)
        }
        self.copySize = copySize
    }

    /// Where what the photo shows lies in the result.
    var places: PictureFacts.Places {
        guard copySize == nil else { return .unknown }
        for case .neighbourhood(_, let working) in planned.passes where working.growth != .none {
            return .unknown
        }
        return Planner.geometry(of: planned.passes).map { .moved($0) } ?? .same
    }

    /// The edited picture, computed when it is written.
    ///
    /// - Parameter spool: where pixels may go that are needed in any order.
    /// - Throws: `VipsError` or `Failure`.
    func edited(
        _ photo: StandardImage, as colour: PhotoColour, spool: SpoolSpace?
    ) throws -> Image {
        let target = PixelProgram.Layout(
            sample: plan.output.bitDepth == .eight ? .encoded8 : .encoded16,
            bands: plan.output.keepsAlpha ? 4 : 3)
        var runner = PassRunner(
            photo, target: target, targetColour: colour, background: plan.output.background,
            spool: planned.spoolPlace(spool))
        return try runner.run(planned.passes)
    }
}

extension Recipe {
    /// The same steps, written in another way.
    fileprivate func written(as output: Output?) throws(Failure) -> Recipe {
        guard let output else { return self }
        return try Recipe(filters: filters, referenceSize: referenceSize, output: output)
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
