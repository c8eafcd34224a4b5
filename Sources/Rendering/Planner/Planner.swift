import Edits
import Filters
import PhotoFiles
import RenderProtocol

/// Decides how a photo is rendered: recipe and header in, plan out. The only I/O is reading resources.
enum Planner {
    /// A planned render: the published plan, and the data to carry it out.
    struct Planned: Sendable {
        let plan: RenderPlan
        let passes: [Pass]
        /// The memory settings of the plan.
        let room: MemoryRoom
        /// Whether a video is written after the photo: not if the whole file is copied.
        var hasClip = false

        /// Returns the storage for pixels that are needed in any order.
        func spoolStorage(_ space: SpoolSpace?) -> SpoolStorage {
            SpoolStorage(space: space, memoryBytesMax: room.keptBytesMax)
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
    ///   - recipe: already in pixels of the edited picture.
    ///   - header: the header of the edited picture: the photo, or a small copy.
    ///   - photo: the header of the photo that is decoded for it, if that has another size.
    ///   - room: the settings that determine the memory.
    ///   - planes: returns the chroma sampling of the result if the photo's planes are edited and turned, or nil if they cannot be.
    ///   - losslessObstacle: names the obstacle to a lossless crop and turn of the stored photo; nil if it is no JPEG.
    ///   - companions: the other contents of the photo's file; nil if they do not matter, as for previews.
    ///   - video: the planned video of a motion photo; nil without one.
    ///   - resources: the files that the recipe names.
    /// - Throws: `exceedsLimit`, `hdrNotKept`, `invalidValue` or `tooManyPixels` if a picture exceeds the limits or the output
    ///   format does not support the request, and errors of filters for invalid parameters.
    static func plan(
        _ recipe: Recipe, for header: PhotoHeader, of photo: PhotoHeader? = nil,
        limits: RenderLimits = RenderLimits(), room: MemoryRoom = MemoryRoom(),
        planes: ((Orientation) -> Recipe.Chroma?)? = nil,
        losslessObstacle: ((Geometry?) -> String?)? = nil,
        companions: PhotoCompanions? = nil, video: MotionClip.Planned? = nil, resources: Resources
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
        // Copying the photo's bytes does not make a smaller copy.
        if photo == nil, passes.allSatisfy(\.isLossless) {
            let (lossless, note) = losslessLane(
                passes, recipe, output, for: header, obstacle: losslessObstacle,
                mayCopy: (companions.map { $0.mayBeCopied(recipe.output.hdr) } ?? true)
                    && mayCopy(video, recipe.output.movie))
            lane = lossless ?? lane
            notes += note.map { [$0] } ?? []
        }
        let gainMap =
            try companions.map { companions throws(Failure) in
                try Self.gainMap(
                    of: recipe, companions, passes, as: output.format, isCopied: lane == .copy,
                    name: "the photo")
            } ?? nil
        if let reason = gainMap?.reason {
            notes.append("the gain map is left out, so the result is not HDR: \(reason)")
        }
        notes += metadataNotes(of: companions, output, lane)
        let motionVideo = motionVideo(video, output, isCopied: lane == .copy)
        if let reason = motionVideo?.reason {
            notes.append("the video of the motion photo is left out: \(reason)")
        }
        var clip: MotionClip?
        if lane != .copy, motionVideo?.reason == nil, case .clip(let planned) = video {
            clip = planned
            notes += planned.photo.plan.notes.map { "video: \($0)" }
        }
        let others = leftOut(
            companions, motionVideo, output, lane,
            moves: positions(after: passes, of: header.storedSize, beginningWith: nil) != .same)
        if room.rung != .usual { notes.append("held down to need less memory: \(room.rung.text)") }
        var estimate = RenderEstimate(
            of: Shape(
                photo: photo ?? header, edited: header, passes: passes, lane: lane, size: size,
                output: output, room: room)
        ).with(
            companions?.map, gainMap, as: output.format,
            decoding: MemoryEstimate.decoderBytes(of: photo ?? header),
            isColourEdit: GainMapEditing.colourRuns(of: passes) != nil)
        if let clip { estimate = clip.added(to: estimate) }
        try limits.check(.spool, estimate.spoolBytes, of: "The render")
        return Planned(
            plan: RenderPlan(
                lane: lane, orientation: header.orientation, resultSize: size,
                passes: passes.map(\.reported), output: output, threads: room.threads,
                rung: room.rung, estimate: estimate, gainMap: gainMap,
                motionVideo: motionVideo, leftOut: others.isEmpty ? nil : others, notes: notes),
            passes: passes, room: room, hasClip: clip != nil)
    }

    /// Whether the steps can run on a photo's planes: colour filters and turns only, or colour filters and a final vignette, for a
    /// photo that is not turned. A JPEG without filters has lossless lanes.
    static func editsPlanes(_ steps: [Pass], of header: PhotoHeader) -> Bool {
        guard !steps.contains(where: \.changesAlpha) else { return false }
        if steps.allSatisfy({ $0.isPositionIndependent || $0.isGeometry }) {
            return header.format != .jpeg || steps.contains(where: \.isPositionIndependent)
        }
        return header.orientation == 1 && endInVignette(steps)
    }

    /// Whether steps are colour filters followed by a vignette.
    static func endInVignette(_ steps: [Pass]) -> Bool {
        guard let last = steps.last, steps.dropLast().allSatisfy(\.isPositionIndependent),
            case .pixels(let pixels) = last, pixels.count == 1
        else { return false }
        return pixels[0].working is any RadialGain
    }

    /// Returns the turn of the stored photo by the passes, if their geometry is only a turn.
    static func turn(of passes: [Pass]) -> Orientation? {
        let steps = geometry(of: passes)?.steps ?? []
        guard let step = steps.first else { return .upright }
        if steps.count == 1, case .turn(let turn) = step.kind { return turn }
        return nil
    }

    /// Whether a step makes an opaque photo partly transparent.
    ///
    /// A last row or column that is partly covered does not make a HEIC transparent: its alpha is a second picture, which costs as
    /// much as the first, and no phone's photo has one.
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
