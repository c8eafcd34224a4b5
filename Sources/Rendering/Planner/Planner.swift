import Codecs
import Edits
import Filters
import PhotoFiles
import RenderProtocol

/// Decides how a photo is rendered: recipe and header in, plan out. The only I/O is reading resources.
enum Planner {
    /// A planned render: the published plan, and the data to carry it out.
    struct Planned: Sendable {
        var plan: RenderPlan
        let passes: [Pass]
        let room: MemoryRoom
        /// Whether a video is written after the photo: not if the whole file is copied.
        var hasClip = false
        /// The layout in which rows come to the encoder if they are light; nil for the codes that it takes.
        var light: PixelProgram.Layout?

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
    ///   - feedsRenditions: whether renditions are made of the rows: then they keep what the output cannot hold.
    ///   - resources: the files that the recipe names.
    ///   - writesInPlace: whether metadata can be written into a copy of the file.
    ///   - metadataNotes: notes about the metadata that are written.
    /// - Throws: `exceedsLimit`, `hdrNotKept`, `invalidValue` or `tooManyPixels` if a picture exceeds the limits or the output
    ///   format does not support the request, and errors of filters for invalid parameters.
    static func plan(
        _ recipe: Recipe, for header: PhotoHeader, of photo: PhotoHeader? = nil,
        limits: RenderLimits = RenderLimits(), room: MemoryRoom = MemoryRoom(),
        planes: ((Orientation) -> Recipe.Chroma?)? = nil,
        losslessObstacle: ((Geometry?) -> String?)? = nil,
        companions: PhotoCompanions? = nil, video: MotionClip.Planned? = nil,
        feedsRenditions: Bool = false, resources: Resources, writesInPlace: Bool = false,
        metadataNotes: [String] = []
    ) throws(Failure) -> Planned {
        var (steps, size) = try steps(
            of: recipe, on: header.uprightSize, limits: limits, resources)
        let hasAlpha = header.hasAlpha || makeAlpha(steps, in: recipe.output.format)
        var output = try output(recipe.output, for: header, size: size, hasAlpha: hasAlpha)
        let light =
            feedsRenditions ? Self.light(for: output, of: header, hasAlpha: hasAlpha) : nil
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
                    && mayCopy(video, recipe.output.movie), writesInPlace: writesInPlace)
            lane = lossless ?? lane
            notes += note.map { [$0] } ?? []
        }
        let gainMap =
            try companions.map { companions throws(Failure) in
                try Self.gainMap(
                    of: recipe, companions, passes, as: output.format, isCopied: lane.keepsFile,
                    name: "the photo")
            } ?? nil
        if let reason = gainMap?.reason {
            notes.append("the gain map is left out, so the result is not HDR: \(reason)")
        }
        notes += Self.metadataNotes(of: companions, output, lane) + metadataNotes
        let motionVideo = motionVideo(video, output, isCopied: lane.keepsFile)
        if let reason = motionVideo?.reason {
            notes.append("the video of the motion photo is left out: \(reason)")
        }
        var clip: MotionClip?
        if !lane.keepsFile, motionVideo?.reason == nil, case .clip(let planned) = video {
            clip = planned
            notes += (planned.photo.plan.notes + [planned.note].compactMap(\.self)).map {
                "video: \($0)"
            }
        }
        let others = leftOut(
            companions, motionVideo, output, lane,
            moves: positions(after: passes, of: header.storedSize, beginningWith: nil) != .same)
        if room.rung != .usual { notes.append("held down to need less memory: \(room.rung.text)") }
        var estimate = RenderEstimate(
            of: Shape(
                photo: photo ?? header, edited: header, passes: passes, lane: lane, size: size,
                output: output, room: room, light: lane == .planes ? nil : light)
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
            passes: passes, room: room, hasClip: clip != nil,
            light: lane == .planes ? nil : light)
    }

    /// Returns the layout of light for renditions of a picture whose output has fewer bits, no alpha, or another colour space than the
    /// picture; nil where the output's own codes hold all of it.
    private static func light(
        for output: OutputPlan, of header: PhotoHeader, hasAlpha: Bool
    ) -> PixelProgram.Layout? {
        let losesBits = header.bitsPerSample > 8 && output.bitDepth == .eight
        let losesAlpha = hasAlpha && !output.keepsAlpha
        guard losesBits || losesAlpha || output.colorSpace != .source else { return nil }
        return .init(sample: .straight, bands: hasAlpha ? 4 : 3)
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

extension Planner {
    private static let kept: [PhotoFormat: Recipe.Format] = [.png: .png, .tiff: .tiff]

    /// Decides each choice that the recipe leaves open, by the original.
    ///
    /// - Parameters:
    ///   - size: the size of the result.
    ///   - hasAlpha: whether the result may be partly transparent.
    ///   - path: the object that has the settings.
    /// - Throws: `invalidValue` for a choice that the format does not support, `tooManyPixels` if it cannot hold the picture.
    static func output(
        _ asked: Recipe.Output, for header: PhotoHeader, size: PixelSize, hasAlpha: Bool,
        at path: String = "edit.output"
    ) throws(Failure) -> OutputPlan {
        let format = asked.format ?? kept[header.format] ?? .jpeg
        guard !format.isMovie else {
            throw Failure(
                .invalidValue,
                "\(path).format is \(format.rawValue), but the asset is a photo, and a photo cannot become a movie. Use jpeg, or leave "
                    + "it out.")
        }
        if let most = format.sideMax, max(size.width, size.height) > most {
            throw Failure(
                .tooManyPixels,
                "The result would be \(size) pixels; the sides of a \(format.rawValue) are at most "
                    + "\(most). Ask for png as \(path).format.")
        }
        try asked.check(for: format, at: path)
        let isDeep = header.bitsPerSample > 8
        let depth = asked.bitDepth ?? (isDeep ? format.deepBitDepth : .eight)
        let chroma = asked.chroma ?? chroma(of: header, as: format, asked.quality)
        return OutputPlan(
            format: format, quality: asked.quality, chroma: chroma,
            progressive: asked.progressive, bitDepth: depth,
            compression: asked.compression ?? compression(of: header, as: format),
            keepsAlpha: hasAlpha && format.hasAlpha,
            background: asked.background ?? .white, colorSpace: asked.colorSpace,
            strip: asked.strip, written: asked.writtenNames)
    }

    /// Keeps a TIFF uncompressed: such files are meant to be read fast, or by programs without decompression.
    private static func compression(
        of header: PhotoHeader, as format: Recipe.Format
    ) -> Recipe.Compression? {
        guard !format.compressions.isEmpty else { return nil }
        return format == .tiff && header.isUncompressed ? .uncompressed : .fast
    }

    /// The quality from which chroma has full resolution if the original's sampling is unknown; below it, the result is 4:2:0, as
    /// in libvips and other encoders. The sampling never falls below the original's, except in HEIC, which is always 4:2:0: phones
    /// write no other sampling, and do not decode all others.
    private static let fullChromaQuality = 0.9

    private static func chroma(
        of header: PhotoHeader, as format: Recipe.Format, _ quality: Double
    ) -> Recipe.Chroma {
        let isHalf = quality < fullChromaQuality || format == .heic
        let known = header.chroma ?? (isHalf ? .half : .full)
        let wanted: Recipe.Chroma = known == .half ? .half : .full
        return format.chromas.contains(wanted) ? wanted : format.chromas[0]
    }

    /// Rearranges steps into the fewest and cheapest passes with the same result.
    ///
    /// - Parameter keepsAlpha: whether the result can be partly transparent.
    static func passes(of steps: [Pass], keepsAlpha: Bool) -> [Pass] {
        var passes: [Pass] = []
        for step in steps { add(step, to: &passes) }
        passes = passes.flatMap { pass -> [Pass] in
            guard case .geometry(let geometry) = pass else { return [pass] }
            return parts(of: keepsAlpha ? geometry : geometry.withoutPartialEdges)
        }
        hastenCrops(in: &passes)
        delayTurns(in: &passes)
        let fused: [Pass] = passes.reduce(into: []) { fused, pass in
            if case .pixels(let more) = pass, case .pixels(let pixels)? = fused.last {
                fused[fused.count - 1] = .pixels(pixels + more)
            } else {
                fused.append(pass)
            }
        }
        return fused.map(joined)
    }

    /// Appends a step. A geometry is combined with the preceding one. A geometry that only moves whole pixels is placed before
    /// filters that do not depend on the position, so that cropped pixels are never computed.
    private static func add(_ step: Pass, to passes: inout [Pass]) {
        guard case .geometry(let geometry) = step, let last = passes.last else {
            passes.append(step)
            return
        }
        if case .geometry(let before) = last {
            passes[passes.count - 1] = .geometry(before.then(geometry))
        } else if geometry.isLossless, last.isPositionIndependent {
            passes.removeLast()
            add(step, to: &passes)
            passes.append(last)
        } else {
            passes.append(step)
        }
    }

    /// Splits a geometry into a crop to the visible part, a resampling, and a turn, as far as they are needed.
    private static func parts(of geometry: Geometry) -> [Pass] {
        geometry.steps.flatMap { step -> [Pass] in
            guard !step.isLossless else { return [.geometry(step)] }
            let (crop, rest) = step.cutting
            return (crop.map { [.geometry($0)] } ?? []) + [.geometry(rest)]
        }
    }

    /// Moves crops before filters that do not depend on the position, and before turns, so that cropped pixels are neither computed
    /// nor kept.
    private static func hastenCrops(in passes: inout [Pass]) {
        for index in passes.indices {
            guard case .geometry(let first) = passes[index], case .crop = first.kind else {
                continue
            }
            var (crop, position) = (first, index)
            while position > 0 {
                if passes[position - 1].isPositionIndependent {
                    passes.swapAt(position - 1, position)
                } else if case .geometry(let before) = passes[position - 1],
                    case .turn = before.kind
                {
                    let swapped = before.then(crop).steps
                    guard swapped.count == 2 else { break }
                    crop = swapped[0]
                    passes.replaceSubrange(
                        (position - 1)...position, with: swapped.map(Pass.geometry))
                } else {
                    break
                }
                position -= 1
            }
        }
    }

    /// Moves turns after filters that do not depend on the position, if the turns then end the chain or can be combined with a
    /// following geometry. Pixels then stream, and pixels that must be kept until the turn are already final.
    private static func delayTurns(in passes: inout [Pass]) {
        var index = 0
        while index < passes.count {
            defer { index += 1 }
            guard case .geometry(let turn) = passes[index], case .turn = turn.kind else { continue }
            let rest = passes[(index + 1)...]
            let end = rest.firstIndex { !$0.isPositionIndependent } ?? passes.count
            guard end > index + 1 else { continue }
            if end == passes.count {
                passes.append(passes.remove(at: index))
                return
            }
            guard case .geometry(let next) = passes[end] else { continue }
            passes.replaceSubrange(end...end, with: parts(of: turn.then(next)))
            passes.remove(at: index)
            index -= 1
        }
    }
}

/// The settings that determine how much memory a render needs, besides the photo and the edit.
struct MemoryRoom: Sendable, Equatable {
    var rung = MemoryRung.usual
    /// Threads that compute pixels.
    var threads = 1
    /// Rows of the tiles in which pixels are computed.
    var tileHeight = 32
    /// Bytes of pixels needed in any order that are kept in memory; more go to a spool file.
    var keptBytesMax = Photo.memorySpoolBytesMax

    /// Returns the settings from the usual ones downward. Each needs less memory than the one before for some renders.
    ///
    /// - Parameter usual: the settings with which the process was started.
    static func ladder(from usual: MemoryRoom) -> [MemoryRoom] {
        var rooms = [usual]
        var room = usual
        func add(_ rung: MemoryRung, _ change: (inout MemoryRoom) -> Void) {
            let before = room
            change(&room)
            guard room != before else { return }
            room.rung = rung
            rooms.append(room)
        }
        add(.oneThread) { $0.threads = 1 }
        add(.lowTiles) { $0.tileHeight = min($0.tileHeight, tileHeightMin) }
        add(.spooled) { $0.keptBytesMax = 0 }
        return rooms
    }

    /// With lower tiles, libvips requests rows in such small groups that time grows more than memory shrinks.
    private static let tileHeightMin = 16

    static var ofProcess: MemoryRoom {
        MemoryRoom(threads: VipsLibrary.threads, tileHeight: VipsLibrary.tileHeight)
    }

    /// Applies the settings to libvips, until others are applied.
    func apply() {
        if threads != VipsLibrary.threads { VipsLibrary.threads = threads }
        if tileHeight != VipsLibrary.tileHeight { VipsLibrary.tileHeight = tileHeight }
    }
}

extension Planner {
    /// Returns the first plan of the ladder whose estimate fits.
    ///
    /// - Parameters:
    ///   - memoryMax: bytes that the render may need, or nil for no bound.
    ///   - renditions: bytes that its renditions need of these.
    ///   - plan: returns the plan for one rung's settings.
    /// - Throws: `exceedsMemoryBudget`, and errors of `plan`.
    static func plan(
        within memoryMax: Int?, besides renditions: Int = 0, from usual: MemoryRoom,
        _ plan: (MemoryRoom) throws(Failure) -> Planned
    ) throws(Failure) -> Planned {
        guard let memoryMax else { return try plan(usual) }
        var least = Int.max
        for room in MemoryRoom.ladder(from: usual) {
            let planned = try plan(room)
            let needed = planned.plan.estimate.memoryBytes + renditions
            if needed <= memoryMax { return planned }
            least = min(least, needed)
        }
        throw Failure(
            .exceedsMemoryBudget,
            "The render needs about \(megabytes(least)) MB of memory, even in the way that needs least, and "
                + "one render may have \(megabytes(memoryMax)) MB. "
                + (renditions == 0
                    ? "Give the worker more memory (--memory), or send a smaller photo."
                    : "Its renditions need \(megabytes(renditions)) MB of these: ask for fewer or smaller ones, or for some of "
                        + "them by a second job in the mode renditions, or give the worker more memory (--memory)."),
            neededBytes: least)
    }

    private static func megabytes(_ bytes: Int) -> Int { (bytes + 999_999) / 1_000_000 }
}
