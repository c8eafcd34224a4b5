import Adjustments
import Filters
import RenderProtocol

/// Decides how a photo is rendered: recipe and header in, plan out. No I/O but reading resources.
enum Planner {
    /// A render, planned: what is told about it, and what it is done with.
    struct Planned: Sendable {
        let plan: RenderPlan
        let passes: [Pass]
        /// What it was planned for.
        let room: MemoryRoom
        /// Whether a video is written behind the photo: not where the whole file is copied.
        var hasClip = false

        /// Where pixels go that are needed in any order.
        func spoolPlace(_ space: SpoolSpace?) -> SpoolPlace {
            SpoolPlace(space: space, memoryBytesMax: room.keptBytesMax)
        }

        /// All per-pixel filters, in order.
        var pixelFilters: [any PixelFilter] {
            passes.flatMap { pass -> [any PixelFilter] in
                if case .pixels(let pixels) = pass { pixels.compactMap(\.working) } else { [] }
            }
        }
    }

    /// Plans a render.
    ///
    /// - Parameters:
    ///   - recipe: already in pixels of what is edited.
    ///   - header: of what is edited: the photo, or a small copy.
    ///   - photo: the header of what is decoded for it, when that is another size.
    ///   - room: what decides how much memory it takes.
    ///   - planes: the chroma of the result when the photo's planes are edited and turned so, or nil when they
    ///     cannot be.
    ///   - losslessObstacle: why a crop and turn of the photo as it is stored would lose something; nil when it
    ///     is no JPEG.
    ///   - beside: what else is in the photo's file; nil where nobody asks, as for previews.
    ///   - video: that of a motion photo, planned; nil without one.
    ///   - resources: the files that the recipe names.
    /// - Throws: `exceedsLimit`, `hdrNotKept`, and `invalidValue` or `tooManyPixels` when a picture becomes larger than the limits allow or the
    ///   output format cannot do what is asked, and what filters refuse their parameters with.
    static func plan(
        _ recipe: Recipe, for header: PhotoHeader, of photo: PhotoHeader? = nil,
        limits: RenderLimits = RenderLimits(), room: MemoryRoom = MemoryRoom(),
        planes: ((Orientation) -> Recipe.Chroma?)? = nil,
        losslessObstacle: ((Geometry?) -> String?)? = nil,
        beside: Beside? = nil, video: MotionClip.Planned? = nil, resources: Resources
    ) throws(Failure) -> Planned {
        var (steps, size) = try steps(
            of: recipe, on: header.uprightSize, limits: limits, resources)
        var output = try output(
            recipe.output, for: header, size: size,
            hasAlpha: header.hasAlpha || makeAlpha(steps, in: recipe.output.format))
        let editsPlanes = editsPlanes(steps, of: header)
        if let upright = Orientation(rawValue: header.orientation), upright != .upright {
            steps.insert(.geometry(Geometry(of: header.storedSize, turn: upright)), at: 0)
        }
        let passes = passes(of: steps, keepsAlpha: output.keepsAlpha)
        var lane = lane(of: passes)
        if editsPlanes, let turn = turn(of: passes), let planes = planes?(turn),
            output.format == .jpeg, output.colorSpace == .source,
            recipe.output.chroma ?? planes == planes
        {
            lane = .planes
            output.chroma = planes
        }
        var notes = header.notes
        // The bytes of a photo are no smaller copy of it.
        if photo == nil, passes.allSatisfy(\.isLossless) {
            let (lossless, note) = losslessLane(
                passes, recipe, output, for: header, obstacle: losslessObstacle,
                mayCopy: (beside.map { $0.mayBeCopied(recipe.output.hdr) } ?? true)
                    && mayCopy(video, recipe.output.movie))
            lane = lossless ?? lane
            notes += note.map { [$0] } ?? []
        }
        let gainMap =
            try beside.map { beside throws(Failure) in
                try Self.gainMap(
                    of: recipe, beside, passes, as: output.format, isCopied: lane == .copy,
                    name: "the photo")
            } ?? nil
        if let reason = gainMap?.reason {
            notes.append("the gain map is left out, so the result is not HDR: \(reason)")
        }
        notes += metadataNotes(of: beside, output, lane)
        let motionVideo = motionVideo(
            video, beside, output, metadataMax(in: lane).xmp, isCopied: lane == .copy)
        if let reason = motionVideo?.reason {
            notes.append("the video of the motion photo is left out: \(reason)")
        }
        var clip: MotionClip?
        if lane != .copy, motionVideo?.reason == nil, case .clip(let planned) = video {
            clip = planned
            notes += planned.photo.plan.notes.map { "video: \($0)" }
        }
        let others = leftOut(beside, motionVideo, isCopied: lane == .copy)
        if room.rung != .usual { notes.append("held down to need less memory: \(room.rung.words)") }
        var estimate = RenderEstimate(
            of: Shape(
                photo: photo ?? header, edited: header, passes: passes, lane: lane, size: size,
                output: output, room: room)
        ).with(
            beside?.map, gainMap, as: output.format,
            decoding: MemoryEstimate.decoderBytes(of: photo ?? header),
            isOfColours: GainMapEditing.colourRuns(of: passes) != nil)
        if let clip { estimate = clip.added(to: estimate) }
        try limits.check(.spool, estimate.spoolBytes, of: "The render")
        return Planned(
            plan: RenderPlan(
                lane: lane, orientation: header.orientation, resultSize: size,
                passes: passes.map(\.told), output: output, threads: room.threads,
                rung: room.rung, estimate: estimate, gainMap: gainMap,
                motionVideo: motionVideo, leftOut: others.isEmpty ? nil : others, notes: notes),
            passes: passes, room: room, hasClip: clip != nil)
    }

    /// Whether a photo's planes can take the steps: filters of colours alone and turns, or filters and a vignette at the end,
    /// for a photo that is not turned. A JPEG without filters has lanes that lose nothing.
    static func editsPlanes(_ steps: [Pass], of header: PhotoHeader) -> Bool {
        guard !steps.contains(where: \.changesAlpha) else { return false }
        if steps.allSatisfy({ $0.isPlaceless || $0.isGeometry }) {
            return header.format != .jpeg || steps.contains(where: \.isPlaceless)
        }
        return header.orientation == 1 && endInVignette(steps)
    }

    /// Whether steps are filters of colours alone and a vignette at the end.
    static func endInVignette(_ steps: [Pass]) -> Bool {
        guard let last = steps.last, steps.dropLast().allSatisfy(\.isPlaceless),
            case .pixels(let pixels) = last, pixels.count == 1
        else { return false }
        return pixels[0].working is any RadialGain
    }

    /// How passes lay the photo as it is stored, when their geometry does no more than that.
    static func turn(of passes: [Pass]) -> Orientation? {
        let steps = geometry(of: passes)?.steps ?? []
        guard let step = steps.first else { return .upright }
        if steps.count == 1, case .turn(let turn) = step.kind { return turn }
        return nil
    }

    /// Whether a step makes a photo transparent in part that is not.
    ///
    /// A last row or column that is covered in part makes no HEIC transparent: alpha is a second picture there, which costs as much as
    /// the first, and no phone's photo has one.
    private static func makeAlpha(_ steps: [Pass], in format: Recipe.Format?) -> Bool {
        steps.contains { step in
            switch step {
            case .geometry(let geometry):
                !(format == .heic ? geometry.withoutPartialEdges : geometry).edges.isEmpty
            case .pixels: step.changesAlpha
            case .neighbourhood(_, let working): working.edge == .transparent
            }
        }
    }
}
