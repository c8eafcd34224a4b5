import Codecs
import Edits
import Filters
import PhotoFiles
import RenderProtocol

extension Planner {
    /// Returns a pass whose neighbouring matrices are one matrix, and neighbouring curves one curve; see ``PixelFusion``.
    static func joined(_ pass: Pass) -> Pass {
        guard case .pixels(let pixels) = pass else { return pass }
        var rest = pixels[...]
        return .pixels(
            PixelFusion.groups(of: pixels.compactMap(\.working)).map { group in
                let members = rest.prefix(group.count)
                rest = rest.dropFirst(group.count)
                return Pass.Pixel(
                    filters: members.flatMap(\.filters), working: group.working,
                    joined: group.form.map(RenderPlan.PixelStep.Joined.init))
            })
    }
}

extension RenderPlan.PixelStep.Joined {
    fileprivate init(_ form: PixelFusion.Joined) {
        self =
            switch form {
            case .matrix: .matrix
            case .curve: .curve
            case .encodedMatrices: .encodedMatrices
            case .nothing: .nothing
            }
    }
}

extension Planner {
    /// Returns the most bytes of EXIF that a lane writes into a format; nil for formats without a limit. Planes are written by our
    /// code: a segment has 65,533 bytes, including a signature of 6 bytes. libvips writes no more than its own limit.
    static func exifMax(of format: Recipe.Format, in lane: RenderPlan.Lane) -> Int? {
        switch format {
        case .jpeg: lane == .planes ? JPEGMarker.bytesMax - 6 : ExifPlaceholder.bytesMax
        case .webp, .avif: ExifPlaceholder.bytesMax
        case .png, .tiff, .heic, .jxl, .mov, .mp4: nil
        }
    }

    /// Returns notes about metadata that do not fit into the result.
    static func metadataNotes(
        of companions: PhotoCompanions?, _ output: OutputPlan, _ lane: RenderPlan.Lane
    ) -> [String] {
        guard let metadata = companions?.metadata, !lane.keepsFile, output.strip != .all
        else {
            return []
        }
        var notes: [String] = []
        if let most = exifMax(of: output.format, in: lane), metadata.exifBytes > most {
            notes.append(
                "EXIF of \(metadata.exifBytes) bytes is left out: a \(output.format.rawValue) takes \(most); ask for heic or png to "
                    + "keep it")
        }
        if output.format == .jpeg, !metadata.xmpFitsJPEG {
            notes.append(
                "XMP of \(metadata.xmpBytes) bytes is left out: a JPEG takes no property of that size; ask for heic or png to "
                    + "keep it")
        }
        return notes
    }

    /// Bytes of rows that a pass may keep in memory while it streams. A taller window uses the spool lane.
    static let windowBytesMax = 24 << 20

    static func lane(of passes: [Pass]) -> RenderPlan.Lane {
        for pass in passes {
            switch pass {
            // Filters that read neighbours make rows from rows, and keep few.
            case .pixels, .neighbourhood: break
            case .geometry(let geometry): if !streams(geometry) { return .spool }
            }
        }
        return .stream
    }

    /// Whether a geometry reads its source from top to bottom with a few rows at a time.
    static func streams(_ geometry: Geometry) -> Bool {
        switch geometry.kind {
        case .identity, .crop, .scale: return true
        case .turn(let turn): return turn == .mirrored
        case .warp:
            guard let rows = geometry.streamingRows else { return false }
            // The window is kept as light. If it exceeds a third of the picture, keeping the whole picture as codes costs no more.
            return 3 * rows < geometry.source.height
                && rows * geometry.source.width * 16 <= windowBytesMax
        }
    }

    /// Returns the outcome for the gain map.
    ///
    /// - Parameters:
    ///   - isCopied: whether the file is copied unchanged.
    /// - Returns: nil for a photo without a gain map.
    /// - Throws: `hdrNotKept`.
    static func gainMap(
        of recipe: Recipe, _ companions: PhotoCompanions, _ passes: [Pass],
        as format: Recipe.Format,
        isCopied: Bool, name: String
    ) throws(Failure) -> GainMapOutcome? {
        let outcome: GainMapOutcome
        if let map = companions.map {
            outcome =
                isCopied
                ? .carried
                : decided(
                    GainMapRules.outcome(
                        of: recipe.filters, channels: map.components, as: format,
                        recipe.output.hdr), passes)
        } else if let obstacle = companions.obstacle {
            outcome = isCopied ? .carried : .dropped(reason: obstacle)
        } else {
            return nil
        }
        if case .dropped(let reason) = outcome, recipe.output.hdr == .require {
            throw Failure(
                .hdrNotKept,
                "The gain map of \(name), which makes it HDR, would be left out: \(reason). edit.output.hdr is require; ask for "
                    + "jpeg or heic and leave such filters out, or send keep.")
        }
        return outcome
    }

    /// Replaces the outcome if a filter enlarges the picture: the passes then have no single geometry.
    private static func decided(_ outcome: GainMapOutcome, _ passes: [Pass]) -> GainMapOutcome {
        guard outcome == .kept || outcome == .carried else { return outcome }
        for case .neighbourhood(let filter, let working) in passes where working.growth != .none {
            return .dropped(reason: "\(filter.name) makes the picture larger")
        }
        return outcome
    }

    /// Returns the lane for a recipe that computes no pixels, if this photo has one.
    ///
    /// - Parameters:
    ///   - passes: none of which computes pixels.
    ///   - mayCopy: whether all contents of the file may be kept.
    ///   - obstacle: names the obstacle to a lossless geometry of a JPEG; nil if the photo is none.
    ///   - writesInPlace: whether metadata can be written into a copy.
    /// - Returns: the lane, or the reason against it for the plan's notes.
    static func losslessLane(
        _ passes: [Pass], _ recipe: Recipe, _ output: OutputPlan, for header: PhotoHeader,
        obstacle: ((Geometry?) -> String?)?, mayCopy: Bool, writesInPlace: Bool = false
    ) -> (lane: RenderPlan.Lane?, note: String?) {
        guard header.format.rawValue == output.format.rawValue else { return (nil, nil) }
        guard recipe.output.isPlain(like: header) else {
            return (nil, "the photo is compressed again, as edit.output requires")
        }
        let geometry = geometry(of: passes)
        if geometry == nil, header.orientation == 1, output.strip == .none, mayCopy {
            if !recipe.output.writesMetadata { return (.copy, nil) }
            if writesInPlace { return (.metadata, nil) }
        }
        guard let obstacle else { return (nil, nil) }
        if let reason = obstacle(geometry) {
            return (
                nil, "the photo cannot be cut or turned without being compressed again: \(reason)"
            )
        }
        return (.lossless, nil)
    }

    /// Returns all geometries of a plan that has nothing else, combined; nil for none.
    static func geometry(of passes: [Pass]) -> Geometry? {
        passes.reduce(nil) { whole, pass in
            guard case .geometry(let step) = pass else { return whole }
            return whole?.then(step) ?? step
        }
    }
}

extension Recipe.Output {
    /// Whether the original already satisfies it. The default quality does not count as a request.
    fileprivate func isPlain(like header: PhotoHeader) -> Bool {
        quality == Self.defaultQuality && chroma ?? header.chroma == header.chroma && !progressive
            && colorSpace == .source
            && bitDepth?.rawValue ?? header.bitsPerSample == header.bitsPerSample
            && compression == nil && background == nil
    }
}

extension Planner {
    /// Returns the outcome for the video of a motion photo.
    ///
    /// - Parameter isCopied: whether the file is copied unchanged.
    /// - Returns: nil for a photo that has no video and claims none.
    static func motionVideo(
        _ video: MotionClip.Planned?, _ output: OutputPlan, isCopied: Bool
    ) -> MotionVideoOutcome? {
        guard let video else { return nil }
        if isCopied { return .carried }
        guard [.jpeg, .heic].contains(output.format) else {
            return .dropped(reason: "a \(output.format.rawValue) holds no video")
        }
        switch video {
        case .obstacle(let reason): return .dropped(reason: reason)
        case .clip(let clip): return clip.photo.plan.lane == .copy ? .carried : .edited
        }
    }

    /// Whether a photo may be copied with its video: only if the recipe requests no change of the video.
    static func mayCopy(_ video: MotionClip.Planned?, _ asked: Recipe.Movie) -> Bool {
        switch video {
        case .clip(let clip): clip.photo.plan.lane == .copy
        case .obstacle: !asked.mute && asked.codec == .source && asked.quality == nil
        case nil: true
        }
    }

    /// Returns the contents beside the photo that the result omits.
    ///
    /// - Parameter moves: whether the photo's content is at other places in the result.
    static func leftOut(
        _ companions: PhotoCompanions?, _ video: MotionVideoOutcome?, _ output: OutputPlan,
        _ lane: RenderPlan.Lane, moves: Bool
    ) -> [Companion] {
        guard let companions, lane != .copy else { return [] }
        var others = Set(companions.others)
        if companions.metadata.namesManifest { others.insert(.contentCredentials) }
        // Beside metadata, all stays but what the change makes untrue.
        if lane == .metadata { return Array(others.intersection([.contentCredentials])) }
        others.remove(.motionVideo)
        if video?.reason != nil { others.insert(.motionVideo) }
        if output.strip == .all {
            // A loss that was asked for is not told.
            others.subtract([.xmp, .exif, .contentCredentials])
        } else {
            if companions.hasDepthInXMP, moves { others.insert(.depth) }
            if companions.metadata.hasPaths, moves || ![.jpeg, .tiff].contains(output.format) {
                others.insert(.matte)
            }
            if output.format == .jpeg, !companions.metadata.xmpFitsJPEG { others.insert(.xmp) }
            if let most = exifMax(of: output.format, in: lane), companions.metadata.exifBytes > most
            {
                others.insert(.exif)
            }
            others.formUnion(companions.metadata.unreadable)
            if companions.metadata.holdersOfIPTC?.contains(output.format) == false {
                others.insert(.iptc)
            }
            if companions.metadata.hasTexts, output.format != .png { others.insert(.texts) }
        }
        return others.sorted { $0.rawValue < $1.rawValue }
    }

    /// Makes the executable form of each filter, in the recipe's order. Filters that change nothing are omitted.
    ///
    /// - Parameter size: the size of the upright photo.
    /// - Returns: a pass for each filter, and the size of the result.
    static func steps(
        of recipe: Recipe, on size: PixelSize, limits: RenderLimits,
        _ resources: Resources
    ) throws(Failure) -> ([Pass], size: PixelSize) {
        var size = size
        var steps: [Pass] = []
        try limits.check(.filters, recipe.filters.reduce(0) { $0 + $1.count }, of: "The recipe")
        for filter in recipe.filters where !filter.changesNothing {
            let context = FilterContext(size: size, resource: resources.bytes) {
                digest, fit throws(Failure) in
                try ResourcePicture(resources.file(digest), fit)
            }
            switch filter.definition.kernel {
            case .pixel(let make):
                steps.append(
                    .pixels([Pass.Pixel(filters: [filter], working: try make(filter, context))]))
            case .neighbourhood(let make):
                let working = try make(filter, context)
                size = PixelSize(
                    width: size.width + 2 * working.growth.columns,
                    height: size.height + 2 * working.growth.rows)
                try limits.check(
                    .radius, max(working.reach.columns, working.reach.rows), of: "\(filter)")
                try check(size, of: filter, limits)
                steps.append(.neighbourhood(filter, working))
            case .geometry(let make):
                let geometry = try make(filter, context)
                try check(geometry.size, of: filter, limits)
                guard !geometry.visible.isEmpty else {
                    throw Failure(
                        .invalidValue,
                        "\(filter) leaves an empty picture; its input has \(size) pixels.")
                }
                steps.append(.geometry(geometry))
                size = geometry.size
            case .generator, .automatic, .sized:
                preconditionFailure("\(filter.name) is no step, or was not resolved")
            }
        }
        return (steps, size)
    }

    private static func check(_ size: PixelSize, of filter: Filter, _ limits: RenderLimits)
        throws(Failure)
    {
        guard size.pixels <= limits.pixelsMax else {
            throw Failure(
                .tooManyPixels,
                "\(filter) makes a picture of \(size) pixels; render.pixels allows \(limits.pixelsMax). "
                    + "Scale less, or raise --render-pixels.")
        }
        try limits.check(.side, max(size.width, size.height), of: "What \(filter) makes")
    }

    /// Returns the passes of a recipe for a small copy of its photo, whose pixels correspond to the photo's.
    ///
    /// Each filter is made for the size that the copy has at that step. Geometries are those of the photo itself, transferred to
    /// the copy (``Geometry/seen(on:)``): if crops and scales were planned for the copy alone, they would round to other positions
    /// than the photo's.
    ///
    /// - Parameters:
    ///   - recipe: in pixels of the photo.
    ///   - header: the photo's header.
    ///   - copy: the copy's stored size, with the photo's proportions except for rounding.
    ///   - resources: the files that the recipe names.
    /// - Throws: errors of filters for invalid parameters.
    static func passes(
        of recipe: Recipe, for header: PhotoHeader, on copy: PixelSize, _ resources: Resources
    ) throws(Failure) -> [Pass] {
        var steps: [Pass] = []
        var full = header.uprightSize
        var small = header.resized(to: copy).uprightSize
        if let upright = Orientation(rawValue: header.orientation), upright != .upright {
            steps.append(.geometry(Geometry(of: copy, turn: upright)))
        }
        func context(_ size: PixelSize) -> FilterContext {
            FilterContext(size: size, resource: resources.bytes) { digest, fit throws(Failure) in
                try ResourcePicture(resources.file(digest), fit)
            }
        }
        for filter in recipe.filters where !filter.changesNothing {
            switch filter.definition.kernel {
            case .pixel(let make):
                let shown = try filter.shown(on: small, of: full)
                steps.append(
                    .pixels([
                        Pass.Pixel(filters: [shown], working: try make(shown, context(small)))
                    ]))
            case .neighbourhood(let make):
                let shown = try filter.shown(on: small, of: full)
                let working = try make(shown, context(small))
                steps.append(.neighbourhood(shown, working))
                let growth = try make(filter, context(full)).growth
                guard growth != .none else { continue }
                let fit = Geometry.fitting(small, grownBy: working.growth, full, grownBy: growth)
                steps.append(.geometry(fit))
                (small, full) = (fit.size, full.grown(by: growth))
            case .geometry(let make):
                let geometry = try make(filter, context(full))
                let seen = geometry.seen(on: small)
                steps.append(.geometry(seen))
                (small, full) = (seen.size, geometry.size)
            case .generator, .automatic, .sized:
                preconditionFailure("\(filter.name) is no step, or was not resolved")
            }
        }
        return passes(of: steps, keepsAlpha: false)
    }
}

extension Geometry {
    /// Maps a small picture that grew by whole pixels to one that grew by the same fraction as the full picture.
    fileprivate static func fitting(
        _ small: PixelSize, grownBy growth: Extent, _ full: PixelSize, grownBy fullGrowth: Extent
    ) -> Geometry {
        let grown = small.grown(by: growth)
        let fullGrown = full.grown(by: fullGrowth)
        let across = Double(small.width) / Double(full.width)
        let down = Double(small.height) / Double(full.height)
        let size = PixelSize(
            width: max(1, Int((Double(fullGrown.width) * across).rounded())),
            height: max(1, Int((Double(fullGrown.height) * down).rounded())))
        let (x, y) = (
            Double(fullGrown.width) / Double(size.width) * across,
            Double(fullGrown.height) / Double(size.height) * down
        )
        return Geometry(
            of: grown, size: size,
            toSource: Homography(
                affine: x, 0, Double(growth.columns) - Double(fullGrowth.columns) * across, 0, y,
                Double(growth.rows) - Double(fullGrowth.rows) * down))
    }
}
