import Codecs
import Edits
import Filters
import RenderProtocol

/// A rendition with every choice made.
struct PlannedRendition {
    /// Its number among the request's outputs.
    let index: Int
    private let name: String?
    let rendition: Rendition
    let placement: Fit.Placement
    let output: OutputPlan
    /// The shown pixels as a part of the picture that it is made from.
    let reduction: Reduction
    /// Planes of its rows of light: 3, or 4 with alpha.
    let planes: Int

    /// Plans a rendition of a picture.
    ///
    /// - Parameters:
    ///   - picture: the size of the edited picture.
    ///   - hasAlpha: whether the edited picture may be partly transparent.
    /// - Throws: `tooManyPixels` for a rendition beyond the limits or those of its format, and `invalidValue` for a choice that the format does
    ///   not have.
    init(
        _ rendition: Rendition, index: Int, name: String? = nil, of picture: PixelSize,
        hasAlpha: Bool, header: PhotoHeader, limits: RenderLimits
    ) throws(Failure) {
        self.index = index
        self.name = name
        self.rendition = rendition
        let path = Rendition.path(name)
        placement = rendition.fit.placement(of: picture)
        guard placement.size.pixels <= limits.pixelsMax else {
            throw Failure(
                .tooManyPixels,
                "\(path).box makes \(placement.size) of a photo of \(picture) pixels; render.pixels allows "
                    + "\(limits.pixelsMax) pixels. Make its box smaller, or raise --render-pixels.")
        }
        try limits.check(
            .side, max(placement.size.width, placement.size.height), of: path)
        let isClear = placement.hasCanvas && rendition.output.background == nil
        output = try Planner.output(
            rendition.output, for: header, size: placement.size, hasAlpha: hasAlpha || isClear,
            at: path)
        reduction = Reduction(placement)
        planes = hasAlpha || output.keepsAlpha ? 4 : 3
    }

    /// Its path in errors.
    var path: String { Rendition.path(name) }

    /// Returns a failure whose message begins with the rendition's path.
    func named(_ failure: Failure) -> Failure { failure.at(path) }

    /// The layout of the codes that are encoded.
    var codes: PixelProgram.Layout {
        .init(
            sample: output.bitDepth == .eight ? .encoded8 : .encoded16,
            bands: output.keepsAlpha ? 4 : 3)
    }

    /// Whether its codes are kept until all rows are there: its encoder needs the whole picture, or it is encoded more than once.
    var isKept: Bool { rendition.target != nil || !output.takesRows }

    /// Bytes of its codes.
    var codeBytes: Int { placement.size.pixels * codes.pixelBytes }
}

extension OutputPlan {
    /// Whether the encoder takes rows; see ``rowEncoder(_:_:like:to:)``.
    var takesRows: Bool {
        switch format {
        case .jpeg, .tiff, .heic: true
        case .png: !progressive && compression != .small
        case .webp, .avif, .jxl, .mov, .mp4: false
        }
    }
}

extension Reduction {
    /// The reduction to the shown pixels of a placed picture. Beside the edges of a part that was cut out, the pixels around it are read.
    init(_ placement: Fit.Placement) {
        func axis(_ start: Int, _ length: Int, _ scaled: Int, _ cut: Int, _ count: Int)
            -> ReductionAxis
        {
            let step = Double(length) / Double(scaled)
            // One division, so that the offset of an unscaled part is a whole number.
            let offset = Double(start) + Double(cut * length) / Double(scaled)
            return ReductionAxis(count: count, step: step, offset: offset)
        }
        let (part, scaled, shown) = (placement.part, placement.scaled, placement.shown)
        self.init(
            columns: axis(part.left, part.width, scaled.width, shown.left, shown.width),
            rows: axis(part.top, part.height, scaled.height, shown.top, shown.height))
    }
}

/// All renditions of a request, and the picture that they are made from.
struct RenditionPlan {
    /// The picture: the full render, or one that is only decoded and edited for them.
    let source: Photo
    /// Whether ``source`` is rendered for them alone.
    let isAlone: Bool
    let renditions: [PlannedRendition]
    /// Those that cannot be made, and are not required, by their numbers among the outputs.
    let missed: [(index: Int, failure: Failure)]
    /// Kept codes stay in memory up to this many bytes together; more go to the spool.
    let keptBytesMax: Int

    /// Codes of renditions that wait for their encoder stay in memory up to this many bytes.
    static let keptBytesMax = 96 << 20
    /// Codes of renditions that are encoded more than once, likewise.
    static let keptForTargetBytesMax = 24 << 20

    /// Plans the renditions among a request's outputs; nil if it has none.
    ///
    /// - Parameters:
    ///   - full: returns the plan of the full picture, for the bytes that all may need and those that its renditions need of these.
    ///   - isWritten: whether the full picture is an output.
    init?(
        _ request: PhotoRequest, _ opened: OpenedPhoto, isWritten: Bool,
        full: (_ memoryMax: Int?, _ renditionBytes: Int) throws(Failure) -> Photo
    ) throws(Failure) {
        let asked = request.outputs.enumerated().compactMap { index, output in
            output.rendition.map { (index, output.name, $0) }
        }
        guard !asked.isEmpty else { return nil }
        // The lanes that move bytes have no pixels.
        func source(
            _ memoryMax: Int?, besides bytes: Int = 0
        ) throws(Failure) -> (Photo, isOwn: Bool) {
            let photo = try full(memoryMax, bytes)
            guard photo.isMovie || photo.plan.lane.keepsFile || photo.plan.lane == .lossless else {
                return (photo, false)
            }
            return (
                try Photo(
                    opened, copy: .whole, memoryMax: memoryMax, renditionBytes: bytes,
                    threads: request.threads, feedsRenditions: true), true
            )
        }
        let (usual, _) = try source(nil)
        var planned: [PlannedRendition] = []
        var missed: [(index: Int, failure: Failure)] = []
        for (index, name, rendition) in asked {
            do throws(Failure) {
                if rendition.output.hdr != .drop, opened.companions.map != nil {
                    throw Failure(
                        .hdrNotKept,
                        "\(Rendition.path(name)).hdr is \"\(rendition.output.hdr.rawValue)\", and renditions have no gain map yet. "
                            + "Leave hdr out.")
                }
                planned.append(
                    try PlannedRendition(
                        rendition, index: index, name: name, of: usual.plan.resultSize,
                        hasAlpha: usual.rows.hasAlpha, header: opened.header,
                        limits: opened.limits))
            } catch {
                let failure = error.at(Rendition.path(name))
                guard !rendition.isRequired else { throw failure }
                missed.append((index, failure))
            }
        }
        (renditions, self.missed) = (planned, missed)
        let pixels = planned.reduce(0) { $0 + $1.placement.size.pixels }
        guard pixels <= Self.pixelsFactor * opened.limits.pixelsMax else {
            throw Failure(
                .tooManyPixels,
                "The renditions have \(pixels) pixels together; twice render.pixels, \(Self.pixelsFactor * opened.limits.pixelsMax), "
                    + "are allowed. Send some of them in a second job in the mode renditions.")
        }
        var (room, needs) = (Self.keptBytesMax, RenderEstimate.nothing)
        for most in [Self.keptBytesMax, 0] {
            (room, needs) = (most, Self.needs(planned, of: usual, keptBytesMax: most))
            guard let memoryMax = request.memoryMax else { break }
            if usual.plan.estimate.memoryBytes + needs.memoryBytes <= memoryMax { break }
        }
        keptBytesMax = room
        let (photo, isOwn) = try source(request.memoryMax, besides: needs.memoryBytes)
        let largest = planned.map(\.placement.size.pixels).max() ?? 0
        (self.source, isAlone) = (photo.adding(needs, largest: largest), isOwn || !isWritten)
    }

    /// The pixels of all renditions together, relative to those of a render.
    static let pixelsFactor = 2

    /// Whether these renditions' codes are spooled.
    static func isSpooled(_ renditions: [PlannedRendition], keptBytesMax: Int) -> Bool {
        let kept = renditions.filter(\.isKept)
        let target = kept.filter { $0.rendition.target != nil }
        return kept.reduce(0) { $0 + $1.codeBytes } > keptBytesMax
            || target.reduce(0) { $0 + $1.codeBytes } > min(keptBytesMax, keptForTargetBytesMax)
    }

    /// Returns what the renditions need: the rows of the tree, of each rendition and of the encoders that take rows; kept codes; and the largest
    /// of the encoders that have whole pictures, which run one after another.
    private static func needs(
        _ renditions: [PlannedRendition], of photo: Photo, keptBytesMax: Int
    ) -> RenderEstimate {
        let size = photo.plan.resultSize
        let format = RowFormat(
            width: size.width, height: size.height, planes: photo.rows.hasAlpha ? 4 : 3)
        var bytes = LightTree.bytes(format, renditions.map(\.reduction))
        var (spool, largest, seconds) = (0, 0, treeSeconds * Double(size.pixels) / 1e6)
        let isSpooled = isSpooled(renditions, keptBytesMax: keptBytesMax)
        for rendition in renditions {
            bytes += RenditionRows.bytes(of: rendition)
            bytes += MarkPainter.bytes(
                of: rendition.rendition.marks, in: rendition.placement.size)
            let encoder = MemoryEstimate.encoderBytes(
                rendition.output, rendition.placement.size,
                pixelBytes: rendition.codes.pixelBytes)
            if rendition.isKept {
                largest = max(largest, encoder)
                let kept = KeptPicture.bytes(of: rendition, isSpooled: isSpooled)
                bytes += kept.memory
                spool += kept.spool
            } else {
                bytes += encoder
            }
            let tries = rendition.rendition.target == nil ? 1 : triesExpected
            seconds +=
                tries * TimeEstimate.seconds(encoding: rendition.output, rendition.placement.size)
        }
        return RenderEstimate(
            memoryBytes: bytes + largest, spoolBytes: spool, cpuSeconds: seconds)
    }

    /// Seconds for a megapixel of the source: light, halves, and the first reductions.
    private static let treeSeconds = 0.012
    /// The encodes of a rendition with a target that are expected.
    private static let triesExpected = 3.0
}
