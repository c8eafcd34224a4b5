import Codecs
import Edits
import Files
import Filters
import RenderProtocol

/// Makes the renditions of a request of the rows of one picture, which are also those of the full output's encoder.
///
/// `@unchecked Sendable` is safe because one thread at a time hands it rows: that of the planes, of libvips' sink, or the one that holds the
/// lock of a picture that is made by rows.
final class RenditionFan: @unchecked Sendable {
    let plan: RenditionPlan
    private let outputs: [OpenFile]
    private let spool: SpoolSpace?
    private let marks: (PlannedRendition) throws(Failure) -> (any RowMarks)?
    private var tree: LightTree?
    private var program: PixelProgram?
    private var makers: [RenditionMaker] = []

    /// - Parameters:
    ///   - outputs: the files of the request, by number.
    ///   - marks: returns what is drawn over a rendition.
    init(
        _ plan: RenditionPlan, into outputs: [OpenFile], spool: SpoolSpace?,
        marks: @escaping (PlannedRendition) throws(Failure) -> (any RowMarks)? = {
            _ throws(Failure) in nil
        }
    ) {
        (self.plan, self.outputs, self.spool, self.marks) = (plan, outputs, spool, marks)
    }

    /// Prepares for the rows of the picture.
    ///
    /// - Parameters:
    ///   - header: the original's header, with its metadata.
    ///   - layout: of the codes in which the rows come.
    ///   - colour: the meaning of these codes.
    func begin(
        _ photo: Photo, _ header: Image, _ layout: PixelProgram.Layout, _ colour: PhotoColour
    ) throws(Failure) {
        let size = photo.plan.resultSize
        let planes = layout.hasAlpha ? 4 : 3
        var tree = LightTree(RowFormat(width: size.width, height: size.height, planes: planes))
        let isSpooled = RenditionPlan.isSpooled(
            plan.renditions, keptBytesMax: plan.keptBytesMax)
        for rendition in plan.renditions {
            do throws(Failure) {
                let maker = try RenditionMaker(
                    rendition, of: photo, header, planes: planes,
                    spool: isSpooled ? spool : nil, marks: marks(rendition),
                    to: outputs[rendition.index])
                makers.append(maker)
                tree.add(rendition.reduction, into: maker.rows)
            } catch {
                guard !rendition.rendition.isRequired else { throw rendition.named(error) }
                makers.append(RenditionMaker(rendition, failed: error))
            }
        }
        self.tree = tree
        program = PixelProgram(
            source: layout, filters: [], target: .init(sample: .planes, bands: planes),
            height: size.height, colour: colour)
    }

    /// The first level of the tree, for rows that are made in light. Call ``begin(_:_:_:_:)`` before.
    var root: LightLevel {
        guard let tree else { preconditionFailure("renditions get rows before they are prepared") }
        return tree.root
    }

    /// Takes the next row of codes.
    func add(_ codes: UnsafeMutableRawPointer) throws(Failure) {
        let room = root.room
        program?.run(
            codes, at: (0, 0), count: root.format.width, into: UnsafeMutableRawPointer(room.start),
            stride: room.stride)
        try root.take()
    }

    /// The failure of a row that was taken while libvips asked for it.
    private(set) var failure: Failure?

    /// Takes the next row of codes while libvips asks for it.
    ///
    /// - Returns: whether to go on; ``failure`` has the reason if not.
    fileprivate func takes(_ codes: UnsafeMutableRawPointer) -> Bool {
        do throws(Failure) {
            try add(codes)
            return true
        } catch {
            failure = error
            return false
        }
    }

    /// Ends all files, after the last row: first those whose encoders took rows, then the others one after another.
    ///
    /// - Parameter report: receives each rendition that is made, and each that is missing and may be.
    func finish(
        report: (RenderReply.Progress) throws(Failure) -> Void
    ) throws(Failure) {
        tree = nil
        for (index, failure) in plan.missed { try report(.missed(index, failure)) }
        for maker in makers.filter({ !$0.plan.isKept }) + makers.filter(\.plan.isKept) {
            let (index, rendition) = (maker.plan.index, maker.plan.rendition)
            do throws(Failure) {
                try report(.made(index, try maker.finish()))
            } catch {
                let failure = maker.plan.named(error)
                guard !rendition.isRequired else { throw failure }
                try report(.missed(index, failure))
            }
            maker.free()
        }
        makers = []
    }
}

/// One rendition while it is made.
private final class RenditionMaker {
    let plan: PlannedRendition
    private var parts: Parts?
    private let failure: Failure?

    private struct Parts {
        let rows: RenditionRows
        /// The codes, for an encoder that needs all of them.
        let kept: KeptPicture?
        let header: Image
        let metadata: ResultMetadata
        let target: OpenFile
    }

    /// A rendition that cannot be made.
    init(_ plan: PlannedRendition, failed failure: Failure) {
        (self.plan, self.failure) = (plan, failure)
    }

    init(
        _ plan: PlannedRendition, of photo: Photo, _ header: Image, planes: Int,
        spool: SpoolSpace?, marks: (any RowMarks)?, to target: OpenFile
    ) throws(Failure) {
        self.plan = plan
        failure = nil
        let colour = OutputColour(named: plan.output.colorSpace)
        let metadata = ResultMetadata(
            of: header, in: photo.file, facts: photo.facts(of: plan),
            strip: plan.output.strip, profile: colour.profile, writing: plan.rendition.output)
        let encoder: any RowEncoder
        var kept: KeptPicture?
        if plan.isKept {
            let picture = try KeptPicture(
                plan.codes, plan.placement.size, spool: spool)
            (encoder, kept) = (picture, picture)
        } else if let rows = try plan.output.rowEncoder(
            plan.shape(like: header), metadata, like: header, to: target)
        {
            encoder = rows
        } else {
            throw Failure(
                .internalError, "a \(plan.output.format.rawValue) is not written by rows.")
        }
        parts = Parts(
            rows: RenditionRows(
                plan, planes: planes, colour: colour.colour, marks: marks, to: encoder),
            kept: kept, header: header, metadata: metadata, target: target)
    }

    var rows: RenditionRows {
        guard let parts else { preconditionFailure("a rendition that failed gets rows") }
        return parts.rows
    }

    /// Releases memory, before the next rendition is encoded.
    func free() { parts = nil }

    func finish() throws(Failure) -> RenditionResult {
        guard let parts else {
            throw failure ?? Failure(.internalError, "a rendition is ended twice.")
        }
        try parts.rows.finish()
        guard let kept = parts.kept else { return result(plan.placement.size, plan.output.quality) }
        var encoder = KeptEncoder(plan.output, parts.metadata, parts.header, to: parts.target)
        guard let target = plan.rendition.target else {
            try encoder.encode(kept, quality: plan.output.quality)
            return result(kept.size, plan.output.quality)
        }
        let fitted = try encoder.fit(
            kept, to: target, OutputColour(named: plan.output.colorSpace).colour)
        return result(fitted.size, fitted.quality, encodes: encoder.encodes)
    }

    private func result(_ size: PixelSize, _ quality: Double, encodes: Int = 1) -> RenditionResult {
        RenditionResult(
            size: size, quality: plan.output.format.isLossy ? quality : nil, encodes: encodes,
            hash: parts?.rows.hashes)
    }
}

extension PlannedRendition {
    fileprivate func shape(like header: Image) -> EncodedShape {
        EncodedShape(placement.size, codes, resolution: header.resolution)
    }
}

extension OutputColour {
    /// The colour of a rendition, which is never that of the source.
    init(named space: Recipe.ColorSpace) {
        switch space {
        case .source, .srgb: self = .sRGB
        case .displayP3: self = .displayP3
        }
    }
}

extension Image {
    /// Returns the same picture, whose rows become renditions, too, when they are asked for.
    ///
    /// - Parameter codes: makes the codes of the returned picture of rows of light; nil for rows that are codes.
    func feeding(_ fan: RenditionFan, codes: PixelProgram?) throws(VipsError) -> Image {
        let picture =
            codes?.target.picture(width: width, height: height)
            ?? RegionPicture(
                width: width, height: height, bands: bands, format: format,
                interpretation: interpretation)
        return try computingRows(
            picture,
            FanRows(
                fan, codes, width: width, rowBytes: width * bytesPerPixel, rows: height))
    }

    /// Computes all rows for renditions alone.
    ///
    /// - Throws: `VipsError`, or the failure of a rendition.
    func stream(into fan: RenditionFan) throws {
        try streamRows { rows throws(Failure) in
            for index in 0..<rows.area.height { try fan.add(rows.row(index)) }
        }
    }
}

/// Unchanged rows, or the codes of rows of light, that are also made into renditions.
private final class FanRows: RowMaker {
    var reader: RowReader? {
        didSet { strips.reader = reader }
    }
    private let fan: RenditionFan
    private let codes: PixelProgram?
    private let width, rowBytes: Int
    private var strips: PhotoStrips

    init(_ fan: RenditionFan, _ codes: PixelProgram?, width: Int, rowBytes: Int, rows: Int) {
        (self.fan, self.codes) = (fan, codes)
        (self.width, self.rowBytes) = (width, rowBytes)
        strips = PhotoStrips(rows: rows)
    }

    func makeRow(into row: UnsafeMutableRawPointer) -> Bool {
        guard let pixels = strips.next().pixels else { return false }
        if let codes {
            codes.run(pixels, at: (0, 0), count: width, into: row)
        } else {
            row.copyMemory(from: pixels, byteCount: rowBytes)
        }
        return fan.takes(pixels)
    }
}
