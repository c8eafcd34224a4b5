import Codecs
import Edits
import Files
import Filters
import PhotoFiles
import RenderProtocol

/// A photo whose header is read: the common input of all its outputs.
struct OpenedPhoto {
    let file: PhotoFile
    let header: PhotoHeader
    /// The recipe in pixels of the photo, with automatic filters resolved.
    let recipe: Recipe
    let limits: RenderLimits
    let resources: Resources
    /// The photo in planes, if it can be edited in planes.
    let planes: PlanesLane?
    /// Names the obstacle to a lossless crop and turn of the stored photo.
    let losslessObstacle: ((Geometry?) -> String?)?
    /// The content identifier of the result; nil for the photo's own.
    let contentIdentifier: String?
    /// The turn that the decoder has made, and that positions in the metadata have not.
    let decoderTurn: Orientation
    let companions: PhotoCompanions
    /// The movie of which the photo is a frame; nil for a photo.
    let movie: MovieFile?
    /// The photo's own metadata; nil unless they are needed.
    let metadata: PhotoMetadata?
    /// Sentences for people about choices that the photo's size forced.
    let notes: [String]

    /// The most notes about choices that the photo's size forced: a plan has room for few.
    private static let notesMax = 8

    /// Reads the header and rejects photos beyond the limits.
    ///
    /// - Parameter pictures: the sizes of the pictures that the recipe names, as the worker knows them. They are compared with those in
    ///   the pictures' headers.
    init(
        _ photo: PhotoFile, recipe: Recipe, limits: RenderLimits, resources: Resources,
        pictures: [String: PixelSize] = [:], contentIdentifier: String? = nil,
        readsMetadata: Bool = false
    ) throws(Failure) {
        self.contentIdentifier = contentIdentifier
        _ = VipsLibrary.takeLoss()
        let movie = try MovieFile(photo, limits: limits)
        self.movie = movie
        let (header, metadata) = try photo.headerAndMetadata()
        try limits.check(header.storedSize, of: photo.name)
        let sizes = try resources.sizes(of: recipe.sizedPictures, told: pictures)
        let steps = try recipe.steps(for: header.uprightSize, pictures: sizes)
        notes = Array(steps.compactMap(\.note).prefix(Self.notesMax))
        var recipe = try recipe.resolved(for: header.uprightSize, pictures: sizes)
        if recipe.isAutomatic {
            recipe = try recipe.resolved(by: photo.statistics(storedSize: header.storedSize))
        }
        self.file = photo
        self.header = header
        self.recipe = recipe
        self.limits = limits
        self.resources = resources
        planes = PlanesLane(photo)
        var companions = photo.companions()
        companions.metadata = metadata
        self.companions = companions
        self.metadata =
            readsMetadata || recipe.output.writesMetadata ? try photo.metadata() : nil
        decoderTurn = photo.decoderTurn()
        losslessObstacle = photo.format == .jpeg ? LosslessLane.obstacle(in: photo) : nil
    }
}

/// A planned picture of a photo: the photo itself, edited, or a small copy of it.
struct Photo {
    let opened: OpenedPhoto
    let header: PhotoHeader
    /// The recipe in pixels of the picture that is edited.
    let recipe: Recipe
    private(set) var planned: Planner.Planned
    var file: PhotoFile { opened.file }
    var plan: RenderPlan { planned.plan }

    /// Decoded pixels that are needed in any order stay in memory up to this many bytes, unless the plan says otherwise. More go to
    /// a spool file.
    static let memorySpoolBytesMax = 96 << 20

    /// Whether the output is a movie, and not a picture of one.
    let isMovie: Bool
    /// The video of a motion photo, which is edited too; nil if there is none, or if it is dropped or copied.
    let clip: MotionClip?
    /// The stored size of the copy that is edited instead of the photo, or nil for the photo itself.
    let copySize: PixelSize?
    /// The resources for the photo at full size, for all its outputs: decoding for a small copy may need as much. For a segment of
    /// a movie, the resources for the segment.
    private(set) var fullEstimate: RenderEstimate
    /// The pixels of the largest rendition that is made of it.
    private(set) var renditionPixelsMax = 0

    /// A small copy that is edited instead of a photo.
    enum Copy {
        /// A copy for which the longest side of the result is this, if the photo is large enough.
        case longestSide(Int)
        /// A copy of this stored size.
        case size(PixelSize)
        /// The photo itself, decoded for renditions while its own output has no pixels.
        case whole
    }

    /// Plans a picture.
    ///
    /// - Parameters:
    ///   - format: the output format; nil for the recipe's.
    ///   - copy: the small copy that is edited instead, or nil for the photo itself.
    ///   - segment: the segment of a movie, or nil for all of it.
    ///   - memoryMax: bytes that the render may need, or nil for no bound.
    ///   - renditionBytes: bytes that its renditions need of these.
    ///   - threads: the threads that may compute it, or nil for the number with which libvips was started.
    ///   - feedsRenditions: whether renditions are made of its rows.
    ///   - memorySpoolBytesMax: pixels that are needed in any order stay in memory up to this many bytes.
    init(
        _ opened: OpenedPhoto, format: Recipe.Output? = nil, copy: Copy? = nil,
        segment: Int? = nil, memoryMax: Int? = nil, renditionBytes: Int = 0, threads: Int? = nil,
        feedsRenditions: Bool = false,
        memorySpoolBytesMax: Int = Photo.memorySpoolBytesMax
    ) throws(Failure) {
        self.opened = opened
        isMovie = copy == nil && opened.movie != nil
        let full = opened.header
        let wanted = try opened.recipe.written(as: format)
        let (limits, resources) = (opened.limits, opened.resources)
        let video = copy == nil ? MotionClip.plan(of: opened, wanted) : nil
        let hasPlace =
            copy == nil && opened.movie == nil && wanted.output.writesMetadata
                && opened.contentIdentifier == nil
            ? try opened.metadataCopy(wanted.output) != nil : false
        func plan(_ recipe: Recipe, _ room: MemoryRoom) throws(Failure) -> Planner.Planned {
            if copy == nil, let movie = opened.movie {
                return try Planner.plan(
                    recipe, for: movie, header: full, limits: limits, room: room,
                    resources: resources, isRenamed: opened.contentIdentifier != nil)
            }
            let written = copy == nil ? opened.written(recipe.output) : nil
            return try Planner.plan(
                recipe, for: full, limits: limits, room: room,
                planes: copy == nil ? opened.planes.map { $0.chroma } : nil,
                losslessObstacle: copy == nil ? opened.losslessObstacle : nil,
                companions: copy == nil ? written?.companions ?? opened.companions : nil,
                video: video, feedsRenditions: feedsRenditions, resources: resources,
                writesInPlace: hasPlace, metadataNotes: written?.notes ?? [])
        }
        var usual = MemoryRoom.ofProcess
        usual.keptBytesMax = memorySpoolBytesMax
        if let threads { usual.threads = threads }
        var planned =
            if copy == nil {
                try Planner.plan(
                    within: memoryMax, besides: renditionBytes, from: usual
                ) { room throws(Failure) in
                    try plan(wanted, room)
                }
            } else if case .whole? = copy {
                try Planner.plan(
                    within: memoryMax, besides: renditionBytes, from: usual
                ) { room throws(Failure) in
                    try Planner.plan(
                        wanted.ofPhoto(), for: full, of: full, limits: limits, room: room,
                        feedsRenditions: feedsRenditions, resources: resources)
                }
            } else {
                // The copy's format is not written at full size, so its limit on the longest side does not apply to the photo.
                try plan(opened.recipe.written(as: Recipe.Output(format: .png)), usual)
            }
        let copySize: PixelSize? =
            switch copy {
            case nil, .whole: nil
            case .size(let size): size
            case .longestSide(let side):
                full.storedSize.shrunk(side, of: planned.plan.resultSize)
            }
        let whole = planned.plan.estimate
        if copy == nil { planned.plan.notes += opened.notes }
        if planned.hasClip, case .clip(let clip) = video { self.clip = clip } else { clip = nil }
        fullEstimate = segment == nil ? whole : planned.plan.movie?.segment ?? whole
        guard let copySize else {
            (header, recipe, self.copySize) = (full, wanted, nil)
            // A photo that is no larger than its copy is edited itself.
            if case .longestSide? = copy {
                self.planned = try plan(wanted, usual)
            } else {
                self.planned = planned
            }
            return
        }
        let small = full.resized(to: copySize)
        let shown = try wanted.shown(on: small.uprightSize, of: full.uprightSize)
        (header, recipe) = (small, shown)
        self.planned = try Planner.plan(
            within: memoryMax, besides: renditionBytes, from: usual
        ) { room throws(Failure) in
            try Planner.plan(
                shown, for: small, of: full, limits: limits, room: room, resources: resources)
        }
        self.copySize = copySize
    }

    /// Returns the picture with the needs of the renditions that are made of it.
    ///
    /// - Parameter largest: the pixels of the largest one, whose file may be longer than that of the picture.
    func adding(_ more: RenderEstimate, largest: Int) -> Photo {
        var photo = self
        photo.renditionPixelsMax = largest
        photo.planned.plan.estimate.add(more)
        photo.fullEstimate.add(more)
        return photo
    }

    var positions: PictureFacts.Positions {
        let full = opened.header.storedSize
        let turn = opened.decoderTurn
        var first =
            turn == .upright ? nil : Geometry(of: turn.inverse.size(of: full), turn: turn)
        if let copySize {
            let shrink = Geometry(
                of: full, size: copySize,
                toSource: Homography(
                    affine: Double(full.width) / Double(copySize.width), 0, 0, 0,
                    Double(full.height) / Double(copySize.height), 0))
            first = first?.then(shrink) ?? shrink
        }
        return Planner.positions(after: planned.passes, of: full, beginningWith: first)
    }

    /// Returns the edited picture, computed while it is written.
    ///
    /// - Parameter spool: the storage for pixels that are needed in any order.
    /// - Throws: `VipsError` or `Failure`.
    func edited(
        _ photo: StandardImage, as colour: PhotoColour, spool: SpoolSpace?
    ) throws -> Image {
        var runner = PassRunner(
            photo, target: rows, targetColour: colour, background: plan.output.background,
            spool: planned.spoolStorage(spool))
        return try runner.run(planned.passes)
    }
}

extension RenderEstimate {
    /// Adds what is needed at the same time.
    fileprivate mutating func add(_ more: RenderEstimate) {
        memoryBytes += more.memoryBytes
        spoolBytes += more.spoolBytes
        cpuSeconds += more.cpuSeconds
    }
}

extension Recipe {
    /// Returns the recipe for a photo: a frame of a movie has a format of photos.
    fileprivate func ofPhoto() throws(Failure) -> Recipe {
        guard output.format?.isMovie ?? true else { return self }
        var output = output
        output.format = .png
        return try written(as: output)
    }

    /// Returns the same steps with another output.
    fileprivate func written(as output: Output?) throws(Failure) -> Recipe {
        guard let output else { return self }
        return try Recipe(filters: filters, referenceSize: referenceSize, output: output)
    }
}

extension Image {
    func running(_ program: PixelProgram) throws(VipsError) -> Image {
        try computing(program.target.picture(width: width, height: height)) {
            program.run($0, $1)
        }
    }
}

extension Planner {
    /// Returns the positions of a photo's content after all passes.
    ///
    /// - Parameter first: what has happened before the first pass: the decoder's turn, the scale of a copy; nil for nothing.
    static func positions(
        after passes: [Pass], of photo: PixelSize, beginningWith first: Geometry?
    ) -> PictureFacts.Positions {
        var whole = first
        for pass in passes {
            let step: Geometry
            switch pass {
            case .pixels: continue
            case .geometry(let geometry): step = geometry
            case .neighbourhood(_, let working):
                let growth = working.growth
                guard growth != .none else { continue }
                let size = whole?.size ?? photo
                step = Geometry(
                    of: size, size: size.grown(by: growth),
                    toSource: .shift(-Double(growth.columns), -Double(growth.rows)))
            }
            if let before = whole {
                guard before.size == step.source else { return .unknown }
                whole = before.then(step)
            } else {
                whole = step
            }
        }
        return whole.map { .moved($0) } ?? .same
    }
}

extension PixelProgram.Layout {
    /// The picture format in libvips for such samples; it has no planes.
    func picture(width: Int, height: Int) -> RegionPicture {
        let (format, interpretation): (Image.SampleFormat, String) =
            switch sample {
            case .encoded8: (.uchar, "srgb")
            case .encoded16: (.ushort, "rgb16")
            case .linear, .straight: (.float, "scrgb")
            case .planes: preconditionFailure("planes are never a picture of libvips")
            }
        return RegionPicture(
            width: width, height: height, bands: bands, format: format,
            interpretation: interpretation)
    }
}

extension Image {
    /// Returns the picture cropped or turned. Pixels of any format are moved unchanged.
    ///
    /// - Parameters:
    ///   - step: lossless, and one of ``Geometry/steps``.
    ///   - storage: the spool for pixels that are needed in another order.
    /// - Throws: `VipsError` or `Failure`.
    func moved(_ step: Geometry, spool storage: SpoolStorage) throws -> Image {
        switch step.kind {
        case .crop(let part): return try cropped(to: PixelArea(part, of: step.source))
        case .turn(let turn): return try laid(turn, spool: storage)
        case .identity, .scale, .warp: return self
        }
    }

    /// Returns the picture turned by its EXIF orientation.
    ///
    /// - Throws: `VipsError` or `Failure`.
    func upright(from orientation: Int, spool: SpoolStorage) throws -> Image {
        try laid(Orientation(rawValue: orientation) ?? .upright, spool: spool)
    }

    /// Returns the picture turned. Mirroring streams; every other turn computes the picture first and then reads it in another
    /// order.
    ///
    /// - Throws: `VipsError` or `Failure`.
    func laid(_ turn: Orientation, spool storage: SpoolStorage) throws -> Image {
        guard let reader = turn.reader else { return turn == .mirrored ? try mirrored() : self }
        let image = try inAnyOrder(for: reader, storage)
        return switch turn {
        case .upright, .mirrored: image
        case .half: try image.turned(.d180)
        case .flipped: try image.flipped()
        case .transposed: try image.turned(.d90).mirrored()
        case .right: try image.turned(.d90)
        case .transversed: try image.turned(.d270).mirrored()
        case .left: try image.turned(.d270)
        }
    }
}

extension Orientation {
    /// How the turned picture, read from top to bottom, reads its source; nil if the turn streams.
    var reader: TileLayout.Reader? {
        switch self {
        case .upright, .mirrored: nil
        case .half, .flipped: .rows
        case .transposed, .right: .columns(VipsLibrary.tileHeight, fromRight: false)
        case .transversed, .left: .columns(VipsLibrary.tileHeight, fromRight: true)
        }
    }
}
